package cli

import (
	"context"
	"errors"
	"fmt"
	"image"
	"iter"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/imgio"
)

// validFlags say which pixels are valid.
type validFlags struct {
	NaN  string `name:"nan" enum:"keep,skip" default:"keep" help:"What NaN is: keep takes it as a value, which spoils the boxes below it and to the right; skip leaves such pixels out."`
	Mask string `placeholder:"FILE" help:"Leave out pixels for which this image or .npy array of the same size is zero; one channel is for all."`
}

// pick reports whether some pixels may be left out.
func (f *validFlags) pick() bool { return f.NaN == "skip" || f.Mask != "" }

// check refuses what does not go with them: each is a flag that was given.
func (f *validFlags) check(others map[string]bool) error {
	if !f.pick() {
		return nil
	}
	if f.Mask == standard {
		return usage("--mask takes a file, and not standard input")
	}
	for _, other := range []string{"--volume", "--rotate and --rect", "--tilted", "--algorithm", "--table", "--on cuda and --on opencl"} {
		if others[other] {
			return usage("--nan skip and --mask are for upright tables of images on the CPU: leave out %s", other)
		}
	}
	return nil
}

// valid reads the mask.
func (f *validFlags) valid(sh *shell, how *pictureFlags) (*boxsum.Valid, error) {
	if !f.pick() {
		return nil, nil
	}
	valid := &boxsum.Valid{SkipNaN: f.NaN == "skip"}
	if f.Mask == "" {
		return valid, nil
	}
	picture, err := await(sh.ctx, func() (*imgio.Picture, error) { return sh.read(f.Mask, how) })
	if err != nil {
		return nil, fmt.Errorf("--mask: %w", err)
	}
	pair, err := pairNamed(picture.Image, "auto")
	if err != nil {
		return nil, fmt.Errorf("--mask: %w", err)
	}
	valid.Mask, err = pair.mask(picture.Image)
	return valid, errors.Join(err, picture.Close())
}

// maskOf is a mask with ones where an image is not zero.
func maskOf[P boxsum.Pixel](img boxsum.Image[P]) (boxsum.Image[uint8], error) {
	mask, err := boxsum.NewImage[uint8](img.Width, img.Height, img.Channels)
	for y := range mask.Height {
		to := mask.Row(y)
		for i, v := range img.Row(y) {
			if v != 0 {
				to[i] = 1
			}
		}
	}
	return mask, err
}

// validPlane is the job of the valid pixels of an image.
type validPlane[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square] struct {
	plane *plane[P, S, Q]
	valid boxsum.Valid
	table *boxsum.ValidTable[S, Q]
}

// newValidPlane takes memory for the tables.
func newValidPlane[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](src boxsum.Image[P], want tableChoice) (*validPlane[P, S, Q], error) {
	j := &validPlane[P, S, Q]{plane: planPlane[P, S, Q](src, want), valid: *want.valid}
	j.plane.set.name += "+counts"
	addLayer(&j.plane.set, "counts", j.plane.set.shape(), func() iter.Seq[[]uint32] { return imgio.ViewRows(j.table.Count.Exclusive()) }, nil)
	if err := j.plane.set.fit(0, false); err != nil {
		return nil, err
	}
	table := &boxsum.ValidTable[S, Q]{}
	var err error
	if table.Sum, err = boxsum.NewTable[S](src.Width, src.Height, src.Channels); err != nil {
		return nil, err
	}
	if table.Count, err = boxsum.NewTable[uint32](src.Width, src.Height, src.Channels); err != nil {
		return nil, err
	}
	if want.squares {
		if table.Squares, err = boxsum.NewTable[Q](src.Width, src.Height, src.Channels); err != nil {
			return nil, err
		}
		j.plane.squared = &boxsum.SquaredTable[S, Q]{Sum: table.Sum, Squares: table.Squares}
	}
	j.table, j.plane.sum = table, table.Sum
	return j, nil
}

func (j *validPlane[P, S, Q]) integrate(_ *gpu.Device, opt *boxsum.Options) error {
	return boxsum.IntegrateValidInto(j.table, j.plane.src, j.valid, opt)
}

func (j *validPlane[P, S, Q]) load(ctx context.Context, report func(bytes int64)) error {
	return j.plane.load(ctx, report)
}

func (j *validPlane[P, S, Q]) workers(opt *boxsum.Options) int { return j.plane.workers(opt) }
func (j *validPlane[P, S, Q]) area(b box) int64                { return j.plane.area(b) }
func (j *validPlane[P, S, Q]) picture() image.Image            { return j.plane.picture() }

func (j *validPlane[P, S, Q]) stats(b box, channel int) stats {
	clipped := j.plane.clip(b)
	n := j.table.Area(clipped, channel)
	area := int64(n)
	if n == 0 {
		return stats{sum: j.plane.sum.SumChannel(clipped, channel), mean: math.NaN(), std: math.NaN(), area: &area}
	}
	of := j.plane.all.describe(sample[P]{
		n: n, sum: j.plane.sum.SumChannel(clipped, channel), mean: j.table.Mean(clipped, channel),
		std: j.table.StdDev(clipped, channel), noise: squareNoise(j.table.Squares.At(clipped.Max.X, clipped.Max.Y, channel), n, clipped.Max.X, clipped.Max.Y),
		pixels: j.pixels(clipped, channel),
	})
	of.area = &area
	return of
}

// pixels is the valid ones of a box, one by one.
func (j *validPlane[P, S, Q]) pixels(box image.Rectangle, channel int) iter.Seq[[]P] {
	return func(yield func([]P) bool) {
		for y := box.Min.Y; y < box.Max.Y; y++ {
			row := j.plane.src.Row(y)
			for x := box.Min.X; x < box.Max.X; x++ {
				if i := x*j.plane.set.Channels + channel; j.table.Area(image.Rect(x, y, x+1, y+1), channel) == 1 && !yield(row[i:i+1]) {
					return
				}
			}
		}
	}
}

// areaOf is the area of a channel of the box: how many of its pixels are valid, where some
// may be left out.
func (a answer) areaOf(s stats) int64 {
	if s.area != nil {
		return *s.area
	}
	return a.area
}

// areaJSON is the area as JSON has it: as many numbers as there are channels where each
// has its own.
func (a answer) areaJSON() any {
	var areas []any
	for _, s := range a.channels {
		if s.area == nil {
			return a.area
		}
		areas = append(areas, *s.area)
	}
	return oneOrAll(areas)
}
