package cli

import (
	"context"
	"image"
	"iter"
	"runtime"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/tilted"
)

// plane is the job of an image.
type plane[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	set     tableSet
	src     boxsum.Image[P]
	opt     *boxsum.Options            // of streams
	sum     *boxsum.Table[S]           // nil if it is streamed
	squared *boxsum.SquaredTable[S, Q] // nil unless asked for; has sum in it
	tilted  *tilted.Table[S]           // nil unless asked for
	all     population[P]
}

// newPlane takes memory for the tables, or plans to stream them.
func newPlane[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](src boxsum.Image[P], want tableChoice) (*plane[P, S, Q], error) {
	j := planPlane[P, S, Q](src, want)
	if err := j.set.fit(0, want.stream); err != nil || j.set.streams {
		return j, err
	}
	var err error
	if want.tilted {
		if j.tilted, err = tilted.NewTable[S](src.Width, src.Height, src.Channels); err != nil {
			return nil, err
		}
	}
	if !want.squares {
		j.sum, err = boxsum.NewTable[S](src.Width, src.Height, src.Channels)
	} else if j.squared, err = boxsum.NewSquaredTable[S, Q](src.Width, src.Height, src.Channels); err == nil {
		j.sum = j.squared.Sum
	}
	return j, err
}

// planPlane is the job without its tables.
func planPlane[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](src boxsum.Image[P], want tableChoice) *plane[P, S, Q] {
	e := extent{Width: src.Width, Height: src.Height, Channels: src.Channels}
	j := &plane[P, S, Q]{set: newTableSet[P, S, Q](e, want), src: src}
	j.all = population[P]{channels: src.Channels, rows: boxRows(src, image.Rect(0, 0, src.Width, src.Height), 0)}
	addLayer(&j.set, "sum", j.set.shape(), func() iter.Seq[[]S] { return imgio.ViewRows(j.sum.Exclusive()) }, func() (parts[S], error) {
		stream, err := boxsum.NewStream[S, P](j.set.Width, j.set.Channels, j.opt)
		return pushRows(src, stream.Push), err
	})
	if want.squares {
		addLayer(&j.set, "squares", j.set.shape(), func() iter.Seq[[]Q] { return imgio.ViewRows(j.squared.Squares.Exclusive()) }, func() (parts[Q], error) {
			stream, err := boxsum.NewSquaredStream[S, Q, P](j.set.Width, j.set.Channels, j.opt)
			return pushRows(src, func(row []P) ([]Q, error) {
				_, squares, err := stream.Push(row)
				return squares, err
			}), err
		})
	}
	if want.tilted {
		addLayer(&j.set, "tilted", j.set.shape(), func() iter.Seq[[]S] { return imgio.ViewRows(j.tilted.View()) }, func() (parts[S], error) {
			stream, err := tilted.NewStream[S, P](j.set.Width, j.set.Channels, plainOptions(j.opt))
			return pushRows(src, stream.Push), err
		})
	}
	return j
}

func (j *plane[P, S, Q]) workers(opt *boxsum.Options) int {
	if j.set.streams {
		return 1
	}
	return j.set.work(opt).Plan().Workers
}

func (j *plane[P, S, Q]) load(_ context.Context, report func(bytes int64)) error {
	if j.set.streams {
		return nil
	}
	var read P
	for y := range j.src.Height {
		row := j.src.Row(y)
		touchPages(row, func(p *P) { read += *p })
		report(int64(len(row)) * sizeOf[P]())
	}
	runtime.KeepAlive(read)
	clearPages(j.sum.Sums)
	if j.squared != nil {
		clearPages(j.squared.Squares.Sums)
	}
	if j.tilted != nil {
		clearPages(j.tilted.Sums)
	}
	return nil
}

func (j *plane[P, S, Q]) integrate(d *gpu.Device, opt *boxsum.Options) (err error) {
	j.opt = opt
	if j.set.streams {
		return nil // that is for when it is written
	}
	if j.tilted != nil {
		if launch.GPU && d != nil {
			err = gpu.IntegrateTiltedHostInto(d, j.tilted, j.src, nil)
		} else {
			err = tilted.IntegrateInto(j.tilted, j.src, plainOptions(part(opt, 0, 0.5)))
			opt = part(opt, 0.5, 1)
		}
	}
	switch {
	case err != nil:
		return err
	case launch.GPU && d != nil && j.squared != nil:
		return gpu.IntegrateSquaresHostInto(d, j.squared, j.src, &gpu.Options{Plain: opt.Plain})
	case launch.GPU && d != nil:
		return gpu.IntegrateHostInto(d, j.sum, j.src, nil)
	case j.squared != nil:
		return boxsum.IntegrateSquaresInto(j.squared, j.src, opt)
	}
	return boxsum.IntegrateInto(j.sum, j.src, opt)
}

func (j *plane[P, S, Q]) clip(b box) image.Rectangle {
	return b.rectangle().Intersect(image.Rect(0, 0, j.set.Width, j.set.Height))
}

func (j *plane[P, S, Q]) area(b box) int64 {
	clipped := j.clip(b)
	return int64(clipped.Dx()) * int64(clipped.Dy())
}

func (j *plane[P, S, Q]) stats(b box, channel int) stats {
	clipped, n := j.clip(b), int(j.area(b))
	return j.all.describe(sample[P]{
		n: n, sum: j.sum.SumChannel(clipped, channel), mean: j.squared.Mean(clipped, channel),
		std: j.squared.StdDev(clipped, channel), noise: squareNoise(j.squared.Squares.At(clipped.Max.X, clipped.Max.Y, channel), n, clipped.Max.X, clipped.Max.Y),
		pixels: boxRows(j.src, clipped, channel),
	})
}

func (j *plane[P, S, Q]) picture() image.Image { return imgio.HeatMap(j.sum.Exclusive()) }

// pushRows is the rows of a table as those of the image are pushed.
//
//go:noinline
func pushRows[T boxsum.Sum, P boxsum.Pixel](src boxsum.Image[P], push func([]P) ([]T, error)) parts[T] {
	return func(y int) (boxsum.View[T], error) {
		row, err := push(src.Row(y))
		return boxsum.View[T]{Sums: row, Stride: len(row), Width: src.Width + 1, Height: 1, Channels: src.Channels}, err
	}
}
