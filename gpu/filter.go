package gpu

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
	"github.com/boxsum/boxsum/threshold"
)

// FilterPixel is what images to filter on a device hold.
type FilterPixel interface{ uint8 | uint16 }

// Box is [filter.Box] of images on their device: the mean of the window round every
// pixel, in the same bits. Of the options, the border and the context count here.
//
//	soft, err := gpu.Box(images, filter.Radius(7), nil)
//
// Windows have at most 65535 pixels a side, and 2^24 in all: where windows are clipped,
// what the image has of them.
func Box[P FilterPixel](src *Image[P], w filter.Window, opt *filter.Options) (*Image[P], error) {
	return likeImage(src, func(dst *Image[P]) error { return BoxInto(dst, src, w, opt) })
}

// BoxInto is [Box] into images of the same size on the same device, which may not be src.
// It returns when the work is queued.
func BoxInto[P FilterPixel](dst, src *Image[P], w filter.Window, opt *filter.Options) error {
	return filtered{kind: method.BoxFilter, first: dst.inner()}.run(src.inner(), w, opt)
}

// MeanStdDev is [filter.MeanStdDev] of images on their device, in the same bits: the mean
// of the window round every pixel, and the standard deviation. OpenCL devices need float64
// for it. Windows of uint16 have at most 65535 pixels.
func MeanStdDev[P FilterPixel](src *Image[P], w filter.Window, opt *filter.Options) (mean, dev *Image[float32], err error) {
	mean, err = likeImage(src, func(mean *Image[float32]) error {
		dev, err = likeImage(src, func(dev *Image[float32]) error { return MeanStdDevInto(mean, dev, src, w, opt) })
		return err
	})
	return mean, dev, err
}

// MeanStdDevInto is [MeanStdDev] into images of the same size on the same device, of which
// one may be nil. It returns when the work is queued.
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

// Binarize is [threshold.Binarize] of images of one channel on their device: 0, black, for
// pixels that are no more than their threshold, and 255 for others, each as on the CPU. The
// method is Sauvola. OpenCL devices need float64 for it. Of the options, the context
// counts here.
//
//	bin, err := gpu.Binarize(pages, threshold.New(threshold.Sauvola, 75), nil)
func Binarize[P FilterPixel](src *Image[P], r threshold.Rule, opt *threshold.Options) (*Image[uint8], error) {
	return likeImage(src, func(dst *Image[uint8]) error { return BinarizeInto(dst, src, r, opt) })
}

// BinarizeInto is [Binarize] into images of the same size on the same device, which may not
// be src. It returns when the work is queued.
func BinarizeInto[P FilterPixel](dst *Image[uint8], src *Image[P], r threshold.Rule, opt *threshold.Options) error {
	f := filtered{kind: method.SauvolaFilter, first: dst.inner(), k: r.K, r: r.R}
	if r.Method != threshold.Sauvola {
		return fmt.Errorf("gpu: %w: thresholds of %v: devices have sauvola, package threshold has all", boxsum.ErrTypes, r.Method)
	}
	if f.k-f.k != 0 || f.r-f.r != 0 || f.r < 0 || r.White-r.White != 0 || r.White < 0 {
		return fmt.Errorf("gpu: %w: K is %v, R %v, White %v: use numbers, R and White of 0 or more", boxsum.ErrInvalid, r.K, r.R, r.White)
	}
	if a := src.inner(); a.Device != nil && a.Channels != 1 {
		return fmt.Errorf("gpu: %w: an image with %d channels: thresholds are for gray images, see boxsum.Gray", boxsum.ErrInvalid, a.Channels)
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

// likeImage is new images of the size of others, filled.
func likeImage[D, P boxsum.Pixel](src *Image[P], fill func(*Image[D]) error) (*Image[D], error) {
	return filled(nil, func() (*Image[D], error) {
		a := src.inner()
		if a.Device == nil {
			return nil, errNoImage
		}
		return NewImage[D](&Device{inner: a.Device}, a.Width, a.Height, a.Channels, a.Count)
	}, fill)
}

// filtered is images to make of the windows of others.
type filtered struct {
	kind          method.FilterKind
	first, second *devmem.Array // second may be nil
	noMean        bool          // first is second
	k, r          float64       // of Sauvola
}

// run checks everything and queues the work.
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
	if m.Shape, err = shapeOf(src.Element, w, opt); err != nil {
		return err
	}
	for _, a := range all {
		if a.Device != src.Device || a.Width != src.Width || a.Height != src.Height || a.Channels != src.Channels || a.Count != src.Count {
			return fmt.Errorf("gpu: %w: %s cannot take what is made from %s: both must have one size and be on one device", boxsum.ErrInvalid, a, src)
		}
	}
	if opt != nil && opt.Context != nil && opt.Context.Err() != nil {
		return fmt.Errorf("gpu: %w", opt.Context.Err())
	}
	if err := m.Fits(src.Element, max(src.Width, 1), max(src.Height, 1)); err != nil {
		return err
	}
	return using(src, func() error {
		for i, a := range all {
			if err := a.Open(); err != nil {
				return err
			}
			if a.Overlaps(src) || i > 0 && a.Overlaps(all[0]) {
				return fmt.Errorf("gpu: %w: a result lies in the memory of its image or of another result: give it memory of its own", boxsum.ErrOverlap)
			}
		}
		if src.Width == 0 || src.Height == 0 {
			return nil
		}
		job := method.Of(f.first, f.second, src, 0)
		if opt != nil {
			job.Context = opt.Context
		}
		return method.Run(m, job, filterWay)
	})
}

// filterWay is which kernels filters use: tests change it.
var filterWay = method.Auto

// shapeOf is a window with the border of the options, as package filter has it.
func shapeOf(pixel pairs.Type, w filter.Window, opt *filter.Options) (s window.Shape, err error) {
	const most = 1<<30 - 1
	if w.Width <= 0 || w.Height <= 0 || w.Width > most || w.Height > most {
		return s, fmt.Errorf("gpu: %w: a window of %d×%d: use 1 to %d pixels a side", boxsum.ErrInvalid, w.Width, w.Height, most)
	}
	s.Left, s.Up = w.Width/2-w.Shift.X, w.Height/2-w.Shift.Y
	s.Right, s.Down = w.Width-1-s.Left, w.Height-1-s.Up
	if s.Left < 0 || s.Right < 0 || s.Up < 0 || s.Down < 0 {
		return s, fmt.Errorf("gpu: %w: a window of %d×%d that is shifted by %v lacks its own pixel: shift it by less", boxsum.ErrInvalid, w.Width, w.Height, w.Shift)
	}
	if opt == nil {
		return s, nil
	}
	s.Border = window.Border(opt.Border)
	if err := s.Border.Check(); err != nil {
		return s, fmt.Errorf("gpu: %w", err)
	}
	if s.Border == window.Constant {
		if s.Value = opt.Value; !(s.Value >= 0 && s.Value < float64(uint64(1)<<(8*pixel.Bytes()))) || s.Value != float64(int64(s.Value)) {
			return s, fmt.Errorf("gpu: %w: a border of %v: it must be a value that pixels of %v can have", boxsum.ErrInvalid, opt.Value, pixel)
		}
	}
	return s, nil
}
