package cli

import (
	"cmp"
	"context"
	"image"
	"iter"
	"runtime"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/anytable"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// newSolid takes memory for the tables of a volume, or plans to stream them.
func newSolid(p pair, stack *imgio.Stack, want tableChoice) (*tableJob, error) {
	j := planSolid(p, stack, want)
	voxels := 0.0
	if stack.Whole == nil {
		voxels = j.values() * float64(j.pixelBytes)
	}
	return j, j.take(voxels, want)
}

// planSolid is the job of a volume without its tables.
func planSolid(p pair, stack *imgio.Stack, want tableChoice) *tableJob {
	e := extentOf(stack.First)
	e.Depth = stack.Depth
	t := &solidTables{types: p}
	j := &tableJob{tableSet: newTableSet(p, e, want), tables: t, ctx: context.Background()}
	v := &voxels{pixelRows: pixelRows{pixel: p.pixel, extent: e}, job: j, stack: stack}
	j.all.pixelReader = v
	j.fill = func(d *gpu.Device, opt *boxsum.Options) error {
		all, err := pixels.Image(v.src)
		if err != nil {
			return err
		}
		return t.fill(anytable.Volume(all, e.Height, e.Depth), d, opt)
	}
	add := func(name string, sum raster.Type, table func() any) {
		squares := raster.Type(0)
		if name == "squares" {
			squares = sum
		}
		j.layers = append(j.layers, layer{
			name: name, sum: sum, shape: j.shape(),
			entries: func() iter.Seq[raster.Array] { return slicesOf(table(), e.Depth+1) },
			stream: func() (parts, error) {
				job := streamJob(engine.Volume, p.sum, squares, j.opt)
				job.Src = raster.Array{Type: p.pixel, Extent: raster.VolumeExtent(e.Width, e.Height, 0, e.Channels, 0, 0)}
				slices, err := engine.NewSlices(&job)
				return func(z int) (raster.Array, error) {
					img, err := v.slice(z)
					if err != nil {
						return raster.Array{}, err
					}
					sums, others, err := slices.Push(pixels.Of(img))
					if squares != 0 {
						sums = others
					}
					sums.SetPlane(sums.Width+1, sums.Height+1, sums.Channels, sums.Stride) // the entries
					return sums, err
				}, err
			},
		})
	}
	add("sum", p.sum, func() any { return t.sums })
	if want.squares {
		add("squares", p.square, func() any { return t.squares })
	}
	return j
}

// voxels are the pixels of a volume, which come slice by slice. There is no image of them if they are
// streamed.
type voxels struct {
	pixelRows
	job   *tableJob
	stack *imgio.Stack
}

func (v *voxels) load(report func(bytes int64)) error {
	if v.stack.Whole == nil {
		return v.fill(report)
	}
	v.src = pixels.Of(v.stack.Whole)
	var read byte
	for y := range v.Height * v.Depth {
		read += readPages(v.src.Row(y))
	}
	runtime.KeepAlive(read)
	report(v.job.read())
	return nil
}

// fill copies the slices one after the other.
func (v *voxels) fill(report func(bytes int64)) error {
	all, err := raster.NewPixelArray(v.pixel, raster.PlaneExtent(v.Width, v.Height*v.Depth, v.Channels, 0))
	if err != nil {
		return err
	}
	for z := range v.Depth {
		img, err := v.slice(z)
		if err != nil {
			return err
		}
		slice := pixels.Of(img)
		for y := range v.Height {
			copy(all.Row(z*v.Height+y), slice.Row(y))
		}
		report(v.job.read() / int64(v.Depth))
	}
	v.src = all
	return nil
}

// slice reads one slice, or returns at once on Ctrl-C: the file may be far away.
func (v *voxels) slice(z int) (any, error) {
	img, err := await(v.job.ctx, func() (any, error) { return v.stack.Slice(z) })
	return img, cmp.Or(err, v.job.ctx.Err())
}

// solidTables are the tables of a volume. Squares are nil unless asked for.
type solidTables struct {
	types         pair
	sums, squares any // *volume.Table
	both          solidStatistics
}

// solidStatistics are those of boxes of a volume, a *volume.SquaredTable.
type solidStatistics interface {
	Mean(b volume.Box, channel int) float64
	StdDev(b volume.Box, channel int) float64
}

// fill makes the tables of a volume.
func (t *solidTables) fill(src any, d *gpu.Device, opt *boxsum.Options) error {
	switch {
	case t.squares != nil:
		return anytable.IntegrateVolumeSquares(t.both, src, onDevice(d, opt))
	}
	return anytable.IntegrateVolume(t.sums, src, onDevice(d, opt))
}

func (t *solidTables) allocate(e extent, want tableChoice) (err error) {
	if t.sums, err = anytable.NewVolume(t.types.sum, e.Width, e.Height, e.Depth, e.Channels); err == nil && want.squares {
		t.squares, err = anytable.NewVolume(t.types.square, e.Width, e.Height, e.Depth, e.Channels)
	}
	if err == nil {
		t.combine()
	}
	return err
}

// combine puts the tables together that statistics come from.
func (t *solidTables) combine() {
	switch sums := t.sums.(type) {
	case *volume.Table[uint32]:
		t.both = combinedSolid(sums, t)
	case *volume.Table[uint64]:
		t.both = combinedSolid(sums, t)
	case *volume.Table[int64]:
		t.both = combinedSolid(sums, t)
	case *volume.Table[float32]:
		t.both = combinedSolid(sums, t)
	case *volume.Table[float64]:
		t.both = combinedSolid(sums, t)
	}
}

func combinedSolid[S boxsum.Sum](sums *volume.Table[S], t *solidTables) solidStatistics {
	if t.types.square == raster.F64 {
		squares, _ := t.squares.(*volume.Table[float64])
		return &volume.SquaredTable[S, float64]{Sum: sums, Squares: squares}
	}
	squares, _ := t.squares.(*volume.Table[uint64])
	return &volume.SquaredTable[S, uint64]{Sum: sums, Squares: squares}
}

// sliceOf returns all entries of a slice of a table.
func sliceOf(table any, z int) raster.Array {
	switch t := table.(type) {
	case *volume.Table[uint32]:
		return viewArray(t.Slice(z))
	case *volume.Table[uint64]:
		return viewArray(t.Slice(z))
	case *volume.Table[int64]:
		return viewArray(t.Slice(z))
	case *volume.Table[float32]:
		return viewArray(t.Slice(z))
	case *volume.Table[float64]:
		return viewArray(t.Slice(z))
	}
	return raster.Array{}
}

// slicesOf is the first slices of a table that is there.
func slicesOf(table any, n int) iter.Seq[raster.Array] {
	return func(yield func(raster.Array) bool) {
		for z := range n {
			if !yield(sliceOf(table, z)) {
				return
			}
		}
	}
}

func (t *solidTables) clear(e extent) {
	for _, table := range []any{t.sums, t.squares} {
		for slice := range slicesOf(table, e.Depth+1) {
			clearPages(slice.Data)
		}
	}
}

func (t *solidTables) sum(b box, channel int) any {
	switch t := t.sums.(type) {
	case *volume.Table[uint32]:
		return t.SumChannel(b.block(), channel)
	case *volume.Table[uint64]:
		return t.SumChannel(b.block(), channel)
	case *volume.Table[int64]:
		return t.SumChannel(b.block(), channel)
	case *volume.Table[float32]:
		return t.SumChannel(b.block(), channel)
	case *volume.Table[float64]:
		return t.SumChannel(b.block(), channel)
	}
	return nil
}

func (t *solidTables) mean(b box, channel int) float64 {
	of := t.sums.(interface {
		Mean(b volume.Box, channel int) float64
	})
	return of.Mean(b.block(), channel)
}

func (t *solidTables) std(b box, channel int) float64 { return t.both.StdDev(b.block(), channel) }

func (t *solidTables) square(b box, channel int) float64 {
	if squares, ok := t.squares.(*volume.Table[float64]); ok {
		return squares.At(b[3], b[4], b[5], channel)
	}
	return 0 // integers do not round
}

func (t *solidTables) picture() image.Image { return nil } // volumes have no format for one
