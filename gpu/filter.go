package gpu

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
	"github.com/boxsum/boxsum/threshold"
)

// FilterPixel is a constraint that permits the pixel types of images to filter on a
// device.
type FilterPixel interface{ uint8 | uint16 }

// Box returns the mean of the window around every pixel of images on a device,
// bit-identical to [filter.Box]:
//
//	soft, err := gpu.Box(images, filter.Radius(7), nil)
//
// Windows must have at most 65535 pixels a side and 2^24 pixels in total. With the
// border [filter.Clip], only the part of a window inside the image counts toward these
// limits. Box uses only Border, Value and Context of opt.
func Box[P FilterPixel](src *Image[P], w filter.Window, opt *filter.Options) (*Image[P], error) {
	return likeImage(src, func(dst *Image[P]) error { return BoxInto(dst, src, w, opt) })
}

// BoxInto is like [Box] but writes the result to dst, which must have the same size
// and device as src and must not be src. It returns when the work is queued.
func BoxInto[P FilterPixel](dst, src *Image[P], w filter.Window, opt *filter.Options) error {
	return filtered{kind: method.BoxFilter, first: dst.inner()}.run(src.inner(), w, opt)
}

// MeanStdDev returns the mean and the standard deviation of the window around every
// pixel of images on a device, bit-identical to [filter.MeanStdDev]. The limits of
// [Box] apply, and windows of uint16 images must have at most 65535 pixels in total.
// OpenCL devices must support float64. MeanStdDev uses only Border, Value and Context
// of opt.
func MeanStdDev[P FilterPixel](src *Image[P], w filter.Window, opt *filter.Options) (mean, dev *Image[float32], err error) {
	mean, err = likeImage(src, func(mean *Image[float32]) error {
		dev, err = likeImage(src, func(dev *Image[float32]) error { return MeanStdDevInto(mean, dev, src, w, opt) })
		return err
	})
	return mean, dev, err
}

// MeanStdDevInto is like [MeanStdDev] but writes the results to mean and dev, which
// must have the same size and device as src. Either of them may be nil if it is not
// wanted. It returns when the work is queued.
func MeanStdDevInto[P FilterPixel](mean, dev *Image[float32], src *Image[P], w filter.Window, opt *filter.Options) error {
	f := filtered{kind: method.StatsFilter, first: mean.inner(), second: dev.inner()}
	if mean == nil && dev != nil {
		f.first, f.noMean = f.second, true
	}
	if dev == nil {
		f.second = nil
	}
	return f.run(src.inner(), w, opt)
}

// Binarize compares every pixel of images of one channel on a device with Sauvola's
// threshold. The result is 0 (black) where a pixel does not exceed its threshold and
// 255 elsewhere, the same as that of [threshold.Binarize]. Other methods are not
// supported. Binarize uses only Context of opt. OpenCL devices must support float64.
//
//	bin, err := gpu.Binarize(pages, threshold.New(threshold.Sauvola, 75), nil)
func Binarize[P FilterPixel](src *Image[P], r threshold.Rule, opt *threshold.Options) (*Image[uint8], error) {
	return likeImage(src, func(dst *Image[uint8]) error { return BinarizeInto(dst, src, r, opt) })
}

// BinarizeInto is like [Binarize] but writes the result to dst, which must have the
// same size and device as src and must not be src. It returns when the work is
// queued.
func BinarizeInto[P FilterPixel](dst *Image[uint8], src *Image[P], r threshold.Rule, opt *threshold.Options) error {
	f := filtered{kind: method.SauvolaFilter, first: dst.inner(), k: r.K, r: r.R}
	if r.Method != threshold.Sauvola {
		return raster.Unsupported("method is %v, want sauvola on a device (use the CPU for others)", r.Method)
	}
	if f.k-f.k != 0 || f.r-f.r != 0 || f.r < 0 || r.White-r.White != 0 || r.White < 0 {
		return raster.Invalid("K is %v, R is %v and White is %v, want finite numbers, R and White 0 or more", r.K, r.R, r.White)
	}
	if a := src.inner(); a.Device != nil && a.Channels != 1 {
		return raster.Invalid("image has %d channels, want 1 (convert it to gray)", a.Channels)
	}
	if f.r == 0 {
		white := r.White
		if white == 0 {
			white = float64(^P(0))
		}
		f.r = white * 128 / 255
	}
	o := &filter.Options{Border: r.Border, Value: r.Value}
	if opt != nil {
		o.Context = opt.Context
	}
	return f.run(src.inner(), r.Window, o)
}

// likeImage allocates images of the same size as src and calls fill.
func likeImage[D, P boxsum.Pixel](src *Image[P], fill func(*Image[D]) error) (*Image[D], error) {
	return filled(nil, func() (*Image[D], error) {
		a := src.inner()
		if a.Device == nil {
			return nil, errNoImage
		}
		return NewImage[D](&Device{inner: a.Device}, a.Width, a.Height, a.Channels, a.Count)
	}, fill)
}

// queueInto checks that images can be computed from others of the same size, and queues the work.
func queueInto(dst, src *devmem.Array, ctx context.Context, queue func(method.Job) error) error {
	if err := checkLike("destination", dst, src); err != nil {
		return err
	}
	if ctx != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return using(src, func() error {
		if err := dst.CheckOpen(); err != nil {
			return err
		}
		if dst.Overlaps(src) {
			return raster.Overlapping("the destination shares memory with its image")
		}
		if src.Width == 0 || src.Height == 0 {
			return nil
		}
		job := method.Of(dst, nil, src, 0)
		job.Context = ctx
		return queue(job)
	})
}

// filtered describes images to compute from windows.
type filtered struct {
	kind          method.FilterKind
	first, second *devmem.Array // second may be nil
	noMean        bool          // the result is second alone
	k, r          float64       // Sauvola's parameters
}

// run validates everything and queues the work.
func (f filtered) run(src *devmem.Array, w filter.Window, opt *filter.Options) error {
	all := []*devmem.Array{f.first}
	if f.second != nil && !f.noMean {
		all = append(all, f.second)
	}
	for _, a := range append(all, src) {
		if a.Device == nil {
			return errNoImage
		}
	}
	m := &method.Filter{Kind: f.kind, NoMean: f.noMean, K: f.k, InverseR: 1 / f.r}
	var err error
	var o filter.Options
	if opt != nil {
		o = *opt
	}
	if m.Shape, err = window.ShapeOf(w.Width, w.Height, w.Shift, window.Border(o.Border), o.Value, src.Element); err != nil {
		return err
	}
	for _, a := range all {
		if err := checkLike("destination", a, src); err != nil {
			return err
		}
	}
	if o.Context != nil && o.Context.Err() != nil {
		return o.Context.Err()
	}
	if err := m.Fits(src.Element, max(src.Width, 1), max(src.Height, 1)); err != nil {
		return err
	}
	return using(src, func() error {
		for i, a := range all {
			if err := a.CheckOpen(); err != nil {
				return err
			}
			if a.Overlaps(src) || i > 0 && a.Overlaps(all[0]) {
				return raster.Overlapping("the destination shares memory with its image or another result")
			}
		}
		if src.Width == 0 || src.Height == 0 {
			return nil
		}
		job := method.Of(f.first, f.second, src, 0)
		job.Context = o.Context
		return method.Run(m, job, filterWay)
	})
}

// filterWay selects the kernels for filters. Tests change it.
var filterWay = method.Auto
