package histogram

import (
	"fmt"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// Integrate makes the integral histogram of an image:
//
//	table, err := histogram.Integrate(img, histogram.Bins{N: 32}, nil)
//
// Options are those of [boxsum.Integrate]; there is no Offset.
func Integrate[P boxsum.Pixel](img boxsum.Image[P], bins Bins, opt *boxsum.Options) (*Table[uint32], error) {
	t, err := tableFor[uint32](img, bins, opt)
	if err != nil {
		return nil, err
	}
	if err := IntegrateInto(t, img, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateInto makes the integral histogram of an image in dst, which must
// have the image's size. A range that dst leaves open is that of the first
// image's pixels. It allocates nothing once an image of the same type has been
// through dst.
func IntegrateInto[P boxsum.Pixel](dst *Table[uint32], img boxsum.Image[P], opt *boxsum.Options) error {
	return integrate(dst, img, nil, opt)
}

// IntegrateWeighted makes an integral histogram in which a pixel counts as much
// as the weight in its place, in all channels. Weights are an image of the same
// size with one channel; the pairs of their type and that of the sums are those
// of [boxsum.Integrate]:
//
//	table, err := histogram.IntegrateWeighted[float64](img, weights, histogram.Bins{N: 32}, nil)
func IntegrateWeighted[S boxsum.Sum, P, W boxsum.Pixel](img boxsum.Image[P], weights boxsum.Image[W], bins Bins, opt *boxsum.Options) (*Table[S], error) {
	if err := pairError[S, W](); err != nil {
		return nil, err
	}
	t, err := tableFor[S](img, bins, opt)
	if err != nil {
		return nil, err
	}
	if err := IntegrateWeightedInto(t, img, weights, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateWeightedInto is [IntegrateWeighted] into a table that is there.
func IntegrateWeightedInto[S boxsum.Sum, P, W boxsum.Pixel](dst *Table[S], img boxsum.Image[P], weights boxsum.Image[W], opt *boxsum.Options) error {
	if err := pairError[S, W](); err != nil {
		return err
	}
	weights, err := checked("weights", weights)
	if err != nil {
		return err
	}
	if weights.Width != img.Width || weights.Height != img.Height || weights.Channels != 1 {
		return fmt.Errorf("histogram: %w: weights of %d×%d with %d channels for an image of %d×%d: they take its size and one channel",
			boxsum.ErrInvalid, weights.Width, weights.Height, weights.Channels, img.Width, img.Height)
	}
	return integrate(dst, img, func(dst []S, x, y int) {
		for i, w := range weights.Pix[y*weights.Stride+x:][:len(dst)] {
			dst[i] = S(w)
		}
	}, opt)
}

func pairError[S boxsum.Sum, W boxsum.Pixel]() error {
	if kernel.Sums[W, S](kernel.Portable) == nil {
		return fmt.Errorf("histogram: %w: no sums of %T from weights of %T", boxsum.ErrTypes, *new(S), *new(W))
	}
	return nil
}

// tableFor allocates the table of an image once the rest is known to be right.
func tableFor[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], bins Bins, opt *boxsum.Options) (*Table[S], error) {
	if _, err := levelOf(opt); err != nil {
		return nil, err
	}
	img, err := checked("image", img)
	if err != nil {
		return nil, err
	}
	if bins, err = Over[P](bins); err != nil {
		return nil, err
	}
	return NewTable[S](img.Width, img.Height, img.Channels, bins)
}

// integrate makes a table with weights, or counts where there are none.
func integrate[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], img boxsum.Image[P], weigh func(dst []S, x, y int), opt *boxsum.Options) error {
	level, err := levelOf(opt)
	if err != nil {
		return err
	}
	if img, err = checked("image", img); err != nil {
		return err
	}
	if dst == nil {
		return fmt.Errorf("histogram: %w: no table", boxsum.ErrInvalid)
	}
	if dst.Width != img.Width || dst.Height != img.Height || dst.Channels != img.Channels {
		return fmt.Errorf("histogram: %w: a table for %d×%d with %d channels cannot take an image of %d×%d with %d",
			boxsum.ErrInvalid, dst.Width, dst.Height, dst.Channels, img.Width, img.Height, img.Channels)
	}
	if dst.Bins, err = Over[P](dst.Bins); err != nil {
		return err
	}
	if need := (img.Width + 1) * (img.Height + 1) * img.Channels * dst.Bins.N; len(dst.Counts) != need {
		return fmt.Errorf("histogram: %w: the table needs %d counts and has %d: use NewTable", boxsum.ErrInvalid, need, len(dst.Counts))
	}
	run, ok := dst.scratch.(*layer[P, S])
	if !ok || run.table != dst {
		run = &layer[P, S]{table: dst}
		run.engine.Layers = []engine.Layer{run}
		dst.scratch = run
	}
	grid, workers := run.prepare(img, weigh, level, opt)
	run.engine.Run(grid, workers)
	run.release()
	return nil
}

// levelOf checks the options and finds the level.
func levelOf(opt *boxsum.Options) (kernel.Level, error) {
	if opt == nil {
		return kernel.Best(), nil
	}
	if opt.Workers < 0 {
		return 0, fmt.Errorf("histogram: %w: %d workers", boxsum.ErrInvalid, opt.Workers)
	}
	if opt.Offset != 0 {
		return 0, fmt.Errorf("histogram: %w: histograms take no offset: move the range instead", boxsum.ErrTypes)
	}
	if opt.Level == boxsum.Auto {
		return kernel.Best(), nil
	}
	i := slices.Index(boxsum.Levels(), opt.Level)
	if i < 0 {
		return 0, fmt.Errorf("histogram: this machine has no %v: use one of %v", opt.Level, boxsum.Levels())
	}
	return kernel.Level(i), nil
}

// checked fills in the defaults of an image and says what is wrong with the
// rest.
func checked[P boxsum.Pixel](what string, img boxsum.Image[P]) (boxsum.Image[P], error) {
	if img.Channels == 0 {
		img.Channels = 1
	}
	if img.Width < 0 || img.Height < 0 || img.Channels < 0 || img.Stride < 0 {
		return img, fmt.Errorf("histogram: %w: %s of %d×%d with %d channels and stride %d: none may be negative",
			boxsum.ErrInvalid, what, img.Width, img.Height, img.Channels, img.Stride)
	}
	if img.Width > 0 && img.Height > 0 && img.Row(img.Height-1) == nil {
		return img, fmt.Errorf("histogram: %w: %d elements, rows %d apart, are too few for %s of %d×%d with %d channels",
			boxsum.ErrInvalid, len(img.Pix), img.Stride, what, img.Width, img.Height, img.Channels)
	}
	if img.Stride == 0 {
		img.Stride = img.Width * img.Channels
	}
	return img, nil
}
