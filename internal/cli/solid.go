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

// solid is the job of a volume.
type solid[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	set     tableSet
	stack   *imgio.Stack
	src     volume.Volume[P]           // without voxels if it is streamed
	ctx     context.Context            // ends the reading of slices
	opt     *boxsum.Options            // of streams
	sum     *volume.Table[S]           // nil if it is streamed
	squared *volume.SquaredTable[S, Q] // nil unless asked for; has sum in it
	all     population[P]
}

// newSolid takes memory for the tables, or plans to stream them.
func newSolid[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](stack *imgio.Stack, want tableChoice) (*solid[P, S, Q], error) {
	j := planSolid[P, S, Q](stack, want)
	voxels := 0.0
	if stack.Whole == nil {
		voxels = j.set.values() * float64(j.set.pixelBytes)
	}
	if err := j.set.fit(voxels, want.stream); err != nil || j.set.streams {
		return j, err
	}
	var err error
	if !want.squares {
		j.sum, err = volume.NewTable[S](j.set.Width, j.set.Height, j.set.Depth, j.set.Channels)
	} else if j.squared, err = volume.NewSquaredTable[S, Q](j.set.Width, j.set.Height, j.set.Depth, j.set.Channels); err == nil {
		j.sum = j.squared.Sum
	}
	return j, err
}

// planSolid is the job without its tables.
func planSolid[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](stack *imgio.Stack, want tableChoice) *solid[P, S, Q] {
	first := stack.First.(boxsum.Image[P])
	e := extent{first.Width, first.Height, stack.Depth, max(first.Channels, 1)}
	j := &solid[P, S, Q]{set: newTableSet[P, S, Q](e, want), stack: stack, ctx: context.Background()}
	j.src = volume.Volume[P]{Width: e.Width, Height: e.Height, Depth: e.Depth, Channels: e.Channels}
	j.all = population[P]{channels: e.Channels, rows: func(yield func([]P) bool) {
		j.blockRows(volume.NewBox(0, 0, 0, e.Width, e.Height, e.Depth), 0)(yield)
	}}
	addLayer(&j.set, "sum", j.set.shape(), func() iter.Seq[[]S] { return sliceRows(j.sum) }, func() (parts[S], error) {
		stream, err := volume.NewStream[S, P](j.set.Width, j.set.Height, j.set.Channels, j.opt)
		return pushSlices(j, stream.Push), err
	})
	if want.squares {
		addLayer(&j.set, "squares", j.set.shape(), func() iter.Seq[[]Q] { return sliceRows(j.squared.Squares) }, func() (parts[Q], error) {
			stream, err := volume.NewSquaredStream[S, Q, P](j.set.Width, j.set.Height, j.set.Channels, j.opt)
			return pushSlices(j, func(img boxsum.Image[P]) (boxsum.View[Q], error) {
				_, squares, err := stream.Push(img)
				return squares, err
			}), err
		})
	}
	return j
}

// blockRows is the rows of a box in all its slices, from a channel on.
func (j *solid[P, S, Q]) blockRows(b volume.Box, channel int) iter.Seq[[]P] {
	return func(yield func([]P) bool) {
		for z := b.Z0; z < b.Z1; z++ {
			for row := range boxRows(j.src.Slice(z), image.Rect(b.X0, b.Y0, b.X1, b.Y1), channel) {
				if !yield(row) {
					return
				}
			}
		}
	}
}

func (j *solid[P, S, Q]) workers(opt *boxsum.Options) int {
	depth := j.set.Depth
	if j.set.streams {
		depth = 1
	}
	return j.set.work(opt).PlanVolume(depth).Workers
}

func (j *solid[P, S, Q]) load(ctx context.Context, report func(bytes int64)) error {
	j.ctx = ctx
	if j.set.streams {
		return nil
	}
	if whole, ok := j.stack.Whole.(boxsum.Image[P]); ok {
		j.src.Pix = whole.Pix
		var read P
		touchPages(j.src.Pix, func(p *P) { read += *p })
		runtime.KeepAlive(read)
		report(j.set.read())
	} else if err := j.fill(report); err != nil {
		return err
	}
	clearPages(j.sum.Sums)
	if j.squared != nil {
		clearPages(j.squared.Squares.Sums)
	}
	return nil
}

// fill copies the slices one after the other.
func (j *solid[P, S, Q]) fill(report func(bytes int64)) error {
	all, err := volume.New[P](j.set.Width, j.set.Height, j.set.Depth, j.set.Channels)
	if err != nil {
		return err
	}
	for z := range all.Depth {
		img, err := j.slice(z)
		if err != nil {
			return err
		}
		to := all.Slice(z)
		for y := range to.Height {
			copy(to.Row(y), img.Row(y))
		}
		report(j.set.read() / int64(all.Depth))
	}
	j.src = all
	return nil
}

// slice reads one slice, or returns at once on Ctrl-C: the file may be far away.
func (j *solid[P, S, Q]) slice(z int) (boxsum.Image[P], error) {
	img, err := await(j.ctx, func() (any, error) { return j.stack.Slice(z) })
	if err = cmp.Or(err, j.ctx.Err()); err != nil {
		return boxsum.Image[P]{}, err
	}
	return img.(boxsum.Image[P]), nil
}

func (j *solid[P, S, Q]) integrate(d *gpu.Device, opt *boxsum.Options) error {
	j.opt = opt
	switch {
	case j.set.streams:
		return nil // that is for when it is written
	case launch.GPU && d != nil && j.squared != nil:
		return gpu.IntegrateVolumeSquaresHostInto(d, j.squared, j.src, &gpu.Options{Plain: opt.Plain})
	case launch.GPU && d != nil:
		return gpu.IntegrateVolumeHostInto(d, j.sum, j.src, nil)
	case j.squared != nil:
		return volume.IntegrateSquaresInto(j.squared, j.src, opt)
	}
	return volume.IntegrateInto(j.sum, j.src, opt)
}

func (j *solid[P, S, Q]) clip(b box) volume.Box {
	return b.block().Intersect(volume.NewBox(0, 0, 0, j.set.Width, j.set.Height, j.set.Depth))
}

func (j *solid[P, S, Q]) area(b box) int64 { return int64(j.clip(b).Voxels()) }

func (j *solid[P, S, Q]) stats(b box, channel int) stats {
	clipped, n := j.clip(b), int(j.area(b))
	return j.all.describe(sample[P]{
		n: n, sum: j.sum.SumChannel(clipped, channel), mean: j.squared.Mean(clipped, channel),
		std: j.squared.StdDev(clipped, channel), noise: squareNoise(j.squared.Squares.At(clipped.X1, clipped.Y1, clipped.Z1, channel), n, clipped.X1, clipped.Y1, clipped.Z1),
		pixels: j.blockRows(clipped, channel),
	})
}

func (j *solid[P, S, Q]) picture() image.Image { return nil } // volumes have no format for one

// pushSlices is the slices of a table as those of the volume are pushed.
func pushSlices[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square, T boxsum.Sum](j *solid[P, S, Q], push func(boxsum.Image[P]) (boxsum.View[T], error)) parts[T] {
	return func(z int) (boxsum.View[T], error) {
		img, err := j.slice(z)
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
