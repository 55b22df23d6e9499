package gpu

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/match"
)

// Match is like [match.Match] but searches images of one channel on a device. The template is
// on the host. It must have at most 66051 pixels and 257 pixels a side, and no mask; the time
// is proportional to its size. Sums are exact, and scores are rounded once or twice in float64
// and then to float32. They are within 1e-5 of those of package match, which uses Fourier
// transforms. Match uses only the context of opt. OpenCL devices must support float64.
//
//	scores, err := gpu.Match(images, template, match.ZNCC, nil)
func Match(src *Image[uint8], template boxsum.Image[uint8], m match.Method, opt *match.Options) (*Image[float32], error) {
	return filled(nil, func() (*Image[float32], error) {
		a := src.inner()
		if a.Device == nil {
			return nil, errNoImage
		}
		w, h := a.Width-template.Width+1, a.Height-template.Height+1
		return NewImage[float32](&Device{inner: a.Device}, max(w, 0), max(h, 0), 1, a.Count)
	}, func(scores *Image[float32]) error { return MatchInto(scores, src, template, m, opt) })
}

// MatchInto is like [Match] but writes the scores to scores, which must be on the device of src. It
// must hold as many images, each with one channel and (W−w+1)×(H−h+1) pixels for images of W×H and a
// template of w×h. MatchInto returns when the work is queued.
func MatchInto(scores *Image[float32], src *Image[uint8], template boxsum.Image[uint8], m match.Method, opt *match.Options) error {
	a, to := src.inner(), scores.inner()
	if a.Device == nil || to.Device == nil {
		return errNoImage
	}
	template, err := checkedImage(template)
	if err != nil {
		return err
	}
	var ctx context.Context
	if opt != nil {
		if ctx = opt.Context; opt.Mask.Pix != nil {
			return raster.Unsupported("masks are not supported on a device (use the CPU)")
		}
	}
	if m > match.SSD {
		return raster.Invalid("unknown %v, want ZNCC, NCC or SSD", m)
	}
	if err := holdsScores(to, a, template.Width, template.Height, template.Channels); err != nil {
		return err
	}
	if ctx != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	t, err := matchOf(template, m)
	if err != nil {
		return err
	}
	if t.Flat() {
		return raster.Invalid("all pixels of the template are equal, so %v is undefined (use another template, or ssd)", m)
	}
	return using(a, func() error {
		if err := to.CheckOpen(); err != nil {
			return err
		}
		if to.Overlaps(a) {
			return devmem.ErrOverlap
		}
		job := method.Of(to, nil, a, 0)
		job.Width, job.Height, job.Context = to.Width, to.Height, ctx
		return method.Run(t, job, method.Portable)
	})
}

// holdsScores returns an error if a template of w×h does not fit in images, or its scores do not fit
// in their destination.
func holdsScores(to, images *devmem.Array, w, h, channels int) error {
	switch {
	case images.Channels != 1 || channels != 1:
		return raster.Invalid("image has %d channels and template has %d, want 1 on a device", images.Channels, channels)
	case w == 0 || h == 0 || w > images.Width || h > images.Height:
		return raster.Invalid("template is %d×%d pixels, want at least 1×1 and at most the size of the image, %d×%d", w, h, images.Width, images.Height)
	case to.Device != images.Device || to.Width != images.Width-w+1 || to.Height != images.Height-h+1 || to.Channels != 1 || to.Count != images.Count:
		return raster.Invalid("destination is %s, want %d×%d with 1 channel for each of %s, on the same device", to, images.Width-w+1, images.Height-h+1, images)
	}
	return nil
}

// matchOf returns a template for devices.
func matchOf(template boxsum.Image[uint8], m match.Method) (*method.Match, error) {
	w, h := template.Width, template.Height
	if w*h > method.MatchPixels {
		return nil, raster.Invalid("template is %d×%d pixels, want at most %d in total on a device (use the CPU for larger templates)", w, h, method.MatchPixels)
	}
	pixels := make([]uint8, 0, w*h)
	for y := range h {
		pixels = append(pixels, template.Row(y)...)
	}
	return method.NewMatch(pixels, w, h, int(m)), nil
}
