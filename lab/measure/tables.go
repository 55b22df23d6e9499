package measure

import (
	"errors"
	"io"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// works makes the works of one sum type on the CPU, for images of any pixel type.
type works struct {
	upright, tilted func(images ...any) (*Work, error)
	rotated         func(rot rotated.Rotation, images ...any) (*Work, error)
	volume          func(img any, size Size) (*Work, error)
}

func worksOf[S boxsum.Sum]() works {
	return works{
		upright: func(images ...any) (*Work, error) { return only(uprightWork[S](images...)) },
		tilted:  func(images ...any) (*Work, error) { return only(tiltedWork[S](images...)) },
		rotated: func(rot rotated.Rotation, images ...any) (*Work, error) { return only(rotatedWork[S](rot, images...)) },
		volume:  func(img any, size Size) (*Work, error) { return only(volumeWork[S](img, size)) },
	}
}

// onSums holds the works by sum type.
var onSums = [raster.NumTypes]works{
	raster.U32: worksOf[uint32](),
	raster.U64: worksOf[uint64](),
	raster.I64: worksOf[int64](),
	raster.F32: worksOf[float32](),
	raster.F64: worksOf[float64](),
}

// only drops the table of a work.
func only[T any](w *Work, _ T, err error) (*Work, error) { return w, err }

// newWork returns a work without tables, for images of which all but the first are for a device.
func newWork(images ...any) *Work {
	return &Work{Pixels: pixels.Of(images[0]).Data, images: len(images)}
}

// integrate makes a table with options of package boxsum. The gaps between rows belong to the table.
func integrate(kind engine.Kind, src, dst raster.Array, opt *Options) error {
	job := engine.Job{
		Kind: kind, Src: src, Offset: opt.Offset, Plain: opt.Plain, Options: engineOptions(opt),
	}
	job.Sums.Array, job.Sums.Whole = dst, true
	if err := job.Check(); err != nil {
		return err
	}
	return job.Run()
}

func engineOptions(opt *Options) engine.Options {
	return engine.Options{On: opt.On, Workers: opt.Workers, Level: opt.Level.String(), Context: opt.Context}
}

// Each of these functions returns the work of one kind of table, for images of any type, and the table.

func uprightWork[S boxsum.Sum](images ...any) (*Work, *boxsum.Table[S], error) {
	w, src := newWork(images...), pixels.Of(images[0])
	t, err := boxsum.NewTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, nil, err
	}
	dst := raster.ArrayOf(t.Sums, raster.PlaneExtent(t.Width, t.Height, t.Channels, t.Stride))
	w.Tables = []Table{uprightTable[S](t, images, false)}
	w.Run = func(opt Options) error { return integrate(engine.Upright, src, dst, &opt) }
	return w, t, nil
}

func squaredWork(images ...any) (*Work, *boxsum.SquaredTable[uint32, uint64], error) {
	w, img := newWork(images...), images[0].(boxsum.Image[uint8])
	both, err := boxsum.NewSquaredTable[uint32, uint64](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, nil, err
	}
	w.Tables = []Table{
		uprightTable[uint32](both.Sum, images, false),
		uprightTable[float64](both.Squares, images, true), // OpenCV keeps squares in float64
	}
	w.Run = func(opt Options) error { return boxsum.IntegrateSquaresInto(both, img, &opt) }
	return w, both, nil
}

// uprightTable wraps a table whose entries are of type D in peers.
func uprightTable[D, S boxsum.Sum](t *boxsum.Table[S], images []any, square bool) Table {
	verify := func(i int) error { return verifyImage(t.Exclusive(), images[i], square) }
	return newTable(t.Exclusive(), verify, func(r io.Reader, inclusive bool) error {
		if inclusive {
			return equal[D](r, t.Inclusive())
		}
		return equal[D](r, t.Exclusive())
	})
}

func tiltedWork[S boxsum.Sum](images ...any) (*Work, *tilted.Table[S], error) {
	w, src := newWork(images...), pixels.Of(images[0])
	t, err := tilted.NewTable[S](src.Width, src.Height, src.Channels)
	if err != nil {
		return nil, nil, err
	}
	dst := raster.ArrayOf(t.Sums, raster.PlaneExtent(t.Width, t.Height, t.Channels, t.Stride))
	w.Tables = []Table{tiltedTable(t, images)}
	w.Run = func(opt Options) error { return integrate(engine.Tilted, src, dst, &opt) }
	return w, t, nil
}

func tiltedTable[S boxsum.Sum](t *tilted.Table[S], images []any) Table {
	return newTable(t.View(), func(i int) error { return verifyTilted(t.View(), images[i]) },
		func(r io.Reader, _ bool) error { return equal[S](r, t.View()) })
}

func rotatedWork[S boxsum.Sum](rot rotated.Rotation, images ...any) (*Work, *rotated.Table[S], error) {
	w, src := newWork(images...), pixels.Of(images[0])
	t, err := rotated.NewTable[S](src.Width, src.Height, src.Channels, rot)
	if err != nil {
		return nil, nil, err
	}
	w.Tables = []Table{rotatedTable(t, rot, images)}
	w.Run = func(opt Options) error {
		return engine.IntegrateInto(t, src, engineOptions(&opt))
	}
	return w, t, nil
}

// rotatedTable wraps a rotated table.
func rotatedTable[S boxsum.Sum](t *rotated.Table[S], rot rotated.Rotation, images []any) Table {
	src := pixels.Of(images[0])
	channels := src.Channels
	// The limits write as many bytes to memory of their own, because that of a rotated table is private.
	output := make([]byte, rotatedCells(rot, Size{Width: src.Width, Height: src.Height})*int64(channels)*int64(unsafe.Sizeof(*new(S))))
	spoil := func() {
		t.Fill(func(dst []S, boxes []rotated.Box) {
			for i := range dst {
				box := boxes[i/channels]
				dst[i] = S(3*(box.C1-box.C0) + 5*box.R1 + 1)
			}
		})
	}
	spoil()
	verify := func(i int) error {
		defer spoil() // for the next time
		return verifyRotated(t, images[i])
	}
	return Table{nil, output, verify, func(io.Reader, bool) error { return errors.New("no other library makes rotated tables") }}
}

// volumeWork takes an image of all slices, stacked vertically.
func volumeWork[S boxsum.Sum](img any, size Size) (*Work, *volume.Table[S], error) {
	src := voxelsOf(img, size)
	t, err := volume.NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, nil, err
	}
	dst := raster.ArrayOf(t.Sums, raster.VolumeExtent(t.Width, t.Height, t.Depth, t.Channels, t.Stride, t.SliceStride))
	w := newWork(img)
	w.Tables = []Table{volumeTable(t, img)}
	w.Run = func(opt Options) error { return integrate(engine.Volume, src, dst, &opt) }
	return w, t, nil
}

// voxelsOf returns the volume of an image of all slices, stacked vertically.
func voxelsOf(img any, size Size) raster.Array {
	src := pixels.Of(img)
	src.Extent = raster.VolumeExtent(src.Width, size.Height, size.Depth, src.Channels, src.Stride, src.Stride*size.Height)
	return src
}

func volumeTable[S boxsum.Sum](t *volume.Table[S], img any) Table {
	// All slices, stacked vertically.
	entries := boxsum.View[S]{Sums: t.Sums, Stride: t.Stride, Width: t.Width + 1, Height: (t.Height + 1) * (t.Depth + 1), Channels: t.Channels}
	return newTable(entries, func(int) error { return verifyVolume(t, img) },
		func(r io.Reader, inclusive bool) error { return equalVolume(r, t, inclusive) })
}

func histogramWork(bins histogram.Bins, images ...any) (*Work, *histogram.Table[uint32], error) {
	w, img := newWork(images...), images[0].(boxsum.Image[uint8])
	t, err := histogram.NewTable[uint32](img.Width, img.Height, img.Channels, bins)
	if err != nil {
		return nil, nil, err
	}
	entries := countsOf(t)
	w.Tables = []Table{newTable(entries, func(i int) error { return verifyHistogram(entries, images[i].(boxsum.Image[uint8])) },
		func(r io.Reader, _ bool) error { return equal[uint32](r, entries) })}
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
