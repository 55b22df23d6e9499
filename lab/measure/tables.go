package measure

import (
	"errors"
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// newWork returns a work without tables, for images of which all but the first are for a device.
func newWork(images []raster.Array) *Work {
	return &Work{Pixels: images[0].Data, images: len(images)}
}

// tableWork returns the work of a kind of table of images, and of their squares unless square is 0. A
// volume is a single image.
func tableWork(kind engine.Kind, sum, square raster.Type, images ...raster.Array) (*Work, error) {
	w, e := newWork(images), images[0].Extent
	e.Stride, e.SliceStride = 0, 0
	job := device.StageJob{Kind: kind, Images: images}
	var err error
	if job.Sums, err = raster.NewTable(sum, e); err == nil && square != 0 {
		job.Squares, err = raster.NewTable(square, e)
	}
	if err != nil {
		return nil, err
	}
	w.Tables = []Table{newTable(kind, &job.Sums, images)}
	if square != 0 {
		w.Tables = append(w.Tables, squareTable(&job.Squares, images))
	}
	w.Run = func(opt Options) error { return integrate(&job, &opt) }
	w.stage = func(s device.Stager, opt *gpu.Options) (device.Stage, error) {
		on := job
		if opt != nil {
			on.Offset, on.Plain, on.Kernels = opt.Offset, opt.Plain, int(opt.Kernels)
		}
		on.Plain = on.Plain || square != 0 // time only the tables, without examining pixels for an offset
		return s.Stage(&on)
	}
	return w, nil
}

// integrate makes tables with options of package boxsum. The gaps between rows belong to the tables.
func integrate(tables *device.StageJob, opt *Options) error {
	job := engine.Job{Kind: tables.Kind, Src: tables.Images[0], Offset: opt.Offset, Plain: opt.Plain, Options: engineOptions(opt)}
	job.Sums.Array, job.Sums.Whole = tables.Sums, true
	if tables.Squares.Type != 0 {
		job.Squares.Array, job.Squares.Whole = tables.Squares, true
	}
	if err := job.Check(); err != nil {
		return err
	}
	return job.Run()
}

func engineOptions(opt *Options) engine.Options {
	return engine.Options{On: opt.On, Workers: opt.Workers, Level: opt.Level.String(), Context: opt.Context}
}

// newTable wraps the table of images.
func newTable(kind engine.Kind, t *raster.Array, images []raster.Array) Table {
	of, slices := comparisons[t.Type], 1
	compare, equal := of.upright, of.equal
	switch kind {
	case engine.Tilted:
		compare = of.tilted
		equal = func(r io.Reader, t *raster.Array, _ bool) error { return of.equal(r, t, false) }
	case engine.Volume:
		compare, equal, slices = of.volume, of.equalVolume, t.Depth+1
	}
	return Table{
		memory: t.Data, output: entries(t, slices),
		verify: func(i int) error { return compare(t, &images[i]) },
		equal:  func(r io.Reader, inclusive bool) error { return equal(r, t, inclusive) },
	}
}

// squareTable wraps the table of squares in uint64, which OpenCV keeps in float64.
func squareTable(t *raster.Array, images []raster.Array) Table {
	return Table{
		memory: t.Data, output: entries(t, 1),
		verify: func(i int) error { return verifySquares(t, &images[i]) },
		equal:  func(r io.Reader, inclusive bool) error { return equal[float64](r, viewOf[uint64](t, 0, inclusive)) },
	}
}

// entries returns as much memory as the entries of a table of some slices need.
func entries(t *raster.Array, slices int) []byte {
	return t.Data[:(t.Width+1)*(t.Height+1)*slices*t.Channels*t.Type.Bytes()]
}

// rotatedWorks holds the works by sum type.
var rotatedWorks = [raster.NumTypes]func(rot rotated.Rotation, images ...raster.Array) (*Work, error){
	raster.U32: rotatedWork[uint32],
	raster.U64: rotatedWork[uint64],
	raster.I64: rotatedWork[int64],
	raster.F32: rotatedWork[float32],
	raster.F64: rotatedWork[float64],
}

func rotatedWork[S boxsum.Sum](rot rotated.Rotation, images ...raster.Array) (*Work, error) {
	w, src := newWork(images), &images[0]
	t, err := rotated.NewTable[S](src.Width, src.Height, src.Channels, rot)
	if err != nil {
		return nil, err
	}
	w.Tables = []Table{rotatedTable(t, rot, images)}
	w.Run = func(opt Options) error { return engine.IntegrateInto(t, *src, engineOptions(&opt)) }
	w.stage = func(s device.Stager, opt *gpu.Options) (device.Stage, error) {
		job := &device.Rotated{Src: *src, Sum: raster.TypeOf[S](), A: t.Rotation().A, B: t.Rotation().B, Dst: engine.PlanesOf(t)}
		kernels := gpu.AutoKernels
		if opt != nil {
			kernels = opt.Kernels
		}
		return s.StageRotated(job, images, int(kernels))
	}
	return w, nil
}

// rotatedTable wraps a rotated table.
func rotatedTable[S boxsum.Sum](t *rotated.Table[S], rot rotated.Rotation, images []raster.Array) Table {
	src := &images[0]
	channels := src.Channels
	// The limits write as many bytes to memory of their own, because that of a rotated table is private.
	output := make([]byte, rotatedCells(rot, Size{Width: src.Width, Height: src.Height})*int64(channels)*int64(raster.SizeOf[S]()))
	planes := engine.PlanesOf(t)
	spoil := func() {
		for _, entries := range [][]byte{planes.Corners.Data, planes.Empty.Data, planes.Rows, planes.Columns} {
			for i := range entries {
				entries[i] = byte(i%251 + 1)
			}
		}
	}
	spoil()
	verify := func(i int) error {
		defer spoil() // for the next time
		return verifyRotated(t, &images[i])
	}
	return Table{nil, output, verify, func(io.Reader, bool) error { return errors.New("no other library makes rotated tables") }}
}

// voxelsOf returns the volume of an image of all slices, stacked vertically.
func voxelsOf(img raster.Array, size Size) raster.Array {
	img.Extent = raster.VolumeExtent(img.Width, size.Height, size.Depth, img.Channels, img.Stride, img.Stride*size.Height)
	return img
}

func histogramWork(bins histogram.Bins, images ...raster.Array) (*Work, *histogram.Table[uint32], error) {
	w, img := newWork(images), bytesImage(&images[0])
	t, err := histogram.NewTable[uint32](img.Width, img.Height, img.Channels, bins)
	if err != nil {
		return nil, nil, err
	}
	counts := countsOf(t)
	memory := raster.Bytes(t.Counts)
	w.Tables = []Table{{memory, memory[:counts.Width*counts.Height*counts.Channels*4],
		func(i int) error { return verifyHistogram(counts, bytesImage(&images[i])) },
		func(r io.Reader, _ bool) error { return equal[uint32](r, counts) }}}
	w.Run = func(opt Options) error {
		o := histogram.Options{Workers: opt.Workers, Level: opt.Level, Context: opt.Context}
		return histogram.IntegrateInto(t, img, &o)
	}
	return w, t, nil
}

// countsOf returns the counts of a histogram as a table with one channel per bin.
func countsOf(t *histogram.Table[uint32]) boxsum.View[uint32] {
	n := t.Channels * t.Bins.N
	return boxsum.View[uint32]{Sums: t.Counts, Stride: (t.Width + 1) * n, Width: t.Width + 1, Height: t.Height + 1, Channels: n}
}

// bytesImage returns an array of bytes as an image.
func bytesImage(a *raster.Array) boxsum.Image[uint8] {
	return boxsum.Image[uint8]{Pix: a.Data, Stride: a.Stride, Width: a.Width, Height: a.Height, Channels: a.Channels}
}
