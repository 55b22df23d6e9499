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
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/volume"
)

// newSolid takes memory for the tables of a volume, or plans to stream them.
func newSolid[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](stack *imgio.Stack, want tableChoice) (*tableJob, error) {
	j := planSolid[P, S, Q](stack, want)
	voxels := 0.0
	if stack.Whole == nil {
		voxels = j.values() * float64(j.pixelBytes)
	}
	return j, j.take(voxels, want)
}

// planSolid is the job of a volume without its tables.
func planSolid[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](stack *imgio.Stack, want tableChoice) *tableJob {
	first := stack.First.(boxsum.Image[P])
	e := extent{first.Width, first.Height, stack.Depth, max(first.Channels, 1)}
	t := new(solidTables[S, Q])
	j := &tableJob{tableSet: newTableSet[P, S, Q](e, want), tables: t, ctx: context.Background()}
	v := newVoxels[P](j, stack)
	j.fill = func(d *gpu.Device, opt *boxsum.Options) error { return fillSolid(t, v.src, d, opt) }
	t.addLayers(j, want, solidStreams[S, Q]{
		sums: func() (parts[S], error) {
			stream, err := volume.NewStream[S, P](e.Width, e.Height, e.Channels, j.opt)
			return pushSlices(v, stream.Push), err
		},
		squares: func() (parts[Q], error) {
			stream, err := volume.NewSquaredStream[S, Q, P](e.Width, e.Height, e.Channels, j.opt)
			return pushSlices(v, func(img boxsum.Image[P]) (boxsum.View[Q], error) {
				_, squares, err := stream.Push(img)
				return squares, err
			}), err
		},
	})
	return j
}

// fillSolid makes the tables of a volume.
func fillSolid[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *solidTables[S, Q], src volume.Volume[P], d *gpu.Device, opt *boxsum.Options) error {
	switch {
	case launch.GPU && d != nil && t.Squares != nil:
		return gpu.IntegrateVolumeSquaresHostInto(d, &t.SquaredTable, src, &gpu.Options{Plain: opt.Plain})
	case launch.GPU && d != nil:
		return gpu.IntegrateVolumeHostInto(d, t.Sum, src, nil)
	case t.Squares != nil:
		return volume.IntegrateSquaresInto(&t.SquaredTable, src, opt)
	}
	return volume.IntegrateInto(t.Sum, src, opt)
}

// voxels are the pixels of a volume, which come slice by slice.
type voxels[P boxsum.Pixel] struct {
	pixelRows[P]
	job   *tableJob
	stack *imgio.Stack
	src   volume.Volume[P] // without voxels if it is streamed
}

//go:noinline
func newVoxels[P boxsum.Pixel](j *tableJob, stack *imgio.Stack) *voxels[P] {
	v := &voxels[P]{job: j, stack: stack, src: volume.Volume[P]{Width: j.Width, Height: j.Height, Depth: j.Depth, Channels: j.Channels}}
	v.pixelRows = pixelRows[P]{j.Channels, j.Height * j.Depth, func(y int) []P { return v.src.Slice(y / j.Height).Row(y % j.Height) }}
	j.all.pixels = v
	return v
}

func (v *voxels[P]) load(report func(bytes int64)) error {
	whole, ok := v.stack.Whole.(boxsum.Image[P])
	if !ok {
		return v.fill(report)
	}
	v.src.Pix = whole.Pix
	var read P
	touchPages(v.src.Pix, func(p *P) { read += *p })
	runtime.KeepAlive(read)
	report(v.job.read())
	return nil
}

// fill copies the slices one after the other.
func (v *voxels[P]) fill(report func(bytes int64)) error {
	all, err := volume.New[P](v.src.Width, v.src.Height, v.src.Depth, v.src.Channels)
	if err != nil {
		return err
	}
	for z := range all.Depth {
		img, err := v.slice(z)
		if err != nil {
			return err
		}
		to := all.Slice(z)
		for y := range to.Height {
			copy(to.Row(y), img.Row(y))
		}
		report(v.job.read() / int64(all.Depth))
	}
	v.src = all
	return nil
}

// slice reads one slice, or returns at once on Ctrl-C: the file may be far away.
func (v *voxels[P]) slice(z int) (boxsum.Image[P], error) {
	img, err := await(v.job.ctx, func() (any, error) { return v.stack.Slice(z) })
	if err = cmp.Or(err, v.job.ctx.Err()); err != nil {
		return boxsum.Image[P]{}, err
	}
	return img.(boxsum.Image[P]), nil
}

// solidTables are the tables of a volume. Squares is nil unless asked for.
type solidTables[S boxsum.Sum, Q boxsum.Square] struct{ volume.SquaredTable[S, Q] }

// solidStreams begin such tables slice by slice.
type solidStreams[S boxsum.Sum, Q boxsum.Square] struct {
	sums    func() (parts[S], error)
	squares func() (parts[Q], error)
}

// addLayers is how they are written.
//
//go:noinline
func (t *solidTables[S, Q]) addLayers(j *tableJob, want tableChoice, streams solidStreams[S, Q]) {
	addLayer(&j.tableSet, "sum", j.shape(), func() iter.Seq[[]S] { return sliceRows(t.Sum) }, streams.sums)
	if want.squares {
		addLayer(&j.tableSet, "squares", j.shape(), func() iter.Seq[[]Q] { return sliceRows(t.Squares) }, streams.squares)
	}
}

func (t *solidTables[S, Q]) allocate(e extent, want tableChoice) (err error) {
	if t.Sum, err = volume.NewTable[S](e.Width, e.Height, e.Depth, e.Channels); err == nil && want.squares {
		t.Squares, err = volume.NewTable[Q](e.Width, e.Height, e.Depth, e.Channels)
	}
	return err
}

func (t *solidTables[S, Q]) clear() {
	clearPages(t.Sum.Sums)
	if t.Squares != nil {
		clearPages(t.Squares.Sums)
	}
}

func (t *solidTables[S, Q]) sum(b box, channel int) any { return t.Sum.SumChannel(b.block(), channel) }

func (t *solidTables[S, Q]) mean(b box, channel int) float64 { return t.Sum.Mean(b.block(), channel) }

func (t *solidTables[S, Q]) std(b box, channel int) float64 { return t.StdDev(b.block(), channel) }

func (t *solidTables[S, Q]) square(b box, channel int) float64 {
	return rounding(t.Squares.At(b[3], b[4], b[5], channel))
}

func (t *solidTables[S, Q]) picture() image.Image { return nil } // volumes have no format for one

// pushSlices is the slices of a table as those of the volume are pushed.
//
//go:noinline
func pushSlices[P boxsum.Pixel, T boxsum.Sum](v *voxels[P], push func(boxsum.Image[P]) (boxsum.View[T], error)) parts[T] {
	return func(z int) (boxsum.View[T], error) {
		img, err := v.slice(z)
		if err != nil {
			return boxsum.View[T]{}, err
		}
		return push(img)
	}
}

// sliceRows is the rows of a table that is there.
//
//go:noinline
func sliceRows[S boxsum.Sum](t *volume.Table[S]) iter.Seq[[]S] {
	return func(yield func([]S) bool) {
		for z := range t.Depth + 1 {
			for row := range imgio.ViewRows(t.Slice(z)) {
				if !yield(row) {
					return
				}
			}
		}
	}
}
