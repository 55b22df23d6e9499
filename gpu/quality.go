package gpu

import (
	"cmp"
	"context"
	"errors"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/device"
	core "github.com/boxsum/boxsum/internal/quality"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/quality"
)

// SSIM returns the structural similarity of each image of a and the image of b with the same index,
// bit-identical to [quality.SSIM]. Both batches must be on the same device, which must support
// float64, and have the same number and size of images. SSIM waits for the device. It uses only
// Window, Population, DataRange, K1, K2 and Context of opt, and returns an error if Sigma or Valid
// is set.
func SSIM[P FilterPixel](a, b *Image[P], opt *quality.Options) ([]float64, error) {
	var scores []float64
	err := compare(nil, a.inner(), b.inner(), opt, func(s *method.SSIM, job method.Job, windows int) error {
		totals := make([]float64, job.Count*job.Channels)
		if err := s.Totals(job, totals); err != nil {
			return err
		}
		for i := range job.Count {
			sum := 0.0
			for _, total := range totals[i*job.Channels:][:job.Channels] {
				sum += total / float64(windows)
			}
			scores = append(scores, sum/float64(job.Channels))
		}
		return nil
	})
	return scores, err
}

// SSIMMap is like [SSIM] but returns, for every pixel, the structural similarity of the windows
// around it, as in the map of [quality.SSIMMap].
func SSIMMap[D quality.Float, P FilterPixel](a, b *Image[P], opt *quality.Options) (*Image[D], error) {
	return likeImage(a, func(dst *Image[D]) error { return SSIMMapInto(dst, a, b, opt) })
}

// SSIMMapInto is like [SSIMMap] but writes the result to dst, which must have the
// same size and device as the images. It returns when the work is queued.
func SSIMMapInto[D quality.Float, P FilterPixel](dst *Image[D], a, b *Image[P], opt *quality.Options) error {
	to := dst.inner()
	if to.Device == nil {
		return errNoImage
	}
	return compare(to, a.inner(), b.inner(), opt, func(*method.SSIM, method.Job, int) error { return nil })
}

// compare checks everything, queues the work and calls then. dst may be nil.
func compare(dst, a, b *devmem.Array, opt *quality.Options, then func(s *method.SSIM, job method.Job, windows int) error) error {
	if a.Device == nil || b.Device == nil {
		return errNoImage
	}
	j := core.Job{K1: core.DefaultK1, K2: core.DefaultK2, A: raster.Array{Type: a.Element, Extent: raster.PlaneExtent(a.Width, a.Height, a.Channels, 0)}}
	var ctx context.Context
	if opt != nil {
		if opt.Valid.SkipNaN || opt.Valid.Mask.Pix != nil {
			return raster.Unsupported("masks are not supported on a device (use the CPU)")
		}
		j.Size, j.Sigma, j.Population, j.Range, ctx = opt.Window, opt.Sigma, opt.Population, opt.DataRange, opt.Context
		j.K1, j.K2 = cmp.Or(opt.K1, j.K1), cmp.Or(opt.K2, j.K2)
	}
	if a.Width == 0 || a.Height == 0 {
		return raster.Invalid("the images are %s, want at least one pixel", a)
	}
	d, err := j.OnDevice()
	if err != nil {
		return err
	}
	if err := checkLike("second image", b, a); err != nil {
		return err
	}
	if dst != nil {
		if err := checkLike("destination", dst, a); err != nil {
			return err
		}
	}
	if ctx != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return using(a, func() error {
		if err := b.CheckOpen(); err != nil {
			return err
		}
		job := method.Of(a, nil, a, 0)
		job.Sum = 0
		if dst != nil {
			if err := dst.CheckOpen(); err != nil {
				return err
			}
			if dst.Overlaps(a) || dst.Overlaps(b) {
				return raster.Overlapping("the destination shares memory with an image")
			}
			job.Sum, job.Out = dst.Element, dst.At
		}
		s := ssimOf(&d, b.At, a.Height, 0, a.Height)
		if err := s.Queue(job); err != nil {
			return err
		}
		return then(s, job, j.Windows())
	})
}

// ssimOf returns the comparison of rows [from, to) of images of the given height.
func ssimOf(d *device.SSIM, other devmem.Batch, height, from, to int) *method.SSIM {
	return &method.SSIM{Other: other, Height: height, From: from, To: to, Size: d.Size, C1: d.C1, C2: d.C2, Factor: d.Factor}
}

// SSIM compares two images.
func (r runner) SSIM(job *device.SSIM) error {
	blocks := devmem.CeilDiv(job.A.Height, core.BlockRows)
	parts := job.A.Height / max(shareRows, 2*job.Size)
	return r.device.share(blocks, parts, &job.Options, func(d *Device, from, to int) error {
		for n := to - from; from < to; {
			if ctx := job.Options.Context; ctx != nil && ctx.Err() != nil {
				return ctx.Err()
			}
			n = min(n, to-from)
			err := compareRows(d.mem(), job, from*core.BlockRows, min((from+n)*core.BlockRows, job.A.Height))
			if errors.Is(err, boxsum.ErrMemory) && n > 1 {
				n = (n + 1) / 2
				continue
			}
			if err != nil {
				return err
			}
			from += n
		}
		return nil
	})
}

// compareRows compares the windows of rows [from, to) on one device, which must have room for them.
func compareRows(d *devmem.Device, job *device.SSIM, from, to int) (err error) {
	height := job.A.Height
	first, end := max(0, from-job.Size), min(height, to+job.Size)
	rowsOfBoth := []raster.Array{job.A, job.B}
	for i := range rowsOfBoth {
		a := &rowsOfBoth[i]
		a.Data, a.Height = a.From(first*a.Stride), end-first
	}
	both, err := uploadImages(d, rowsOfBoth)
	if err != nil {
		return err
	}
	defer func() { err = driver.FirstError(err, both.Close()) }()
	on := method.Of(both, nil, both, 0)
	on.Count, on.Sum = 1, 0
	var made devmem.Array
	if job.Map.Type != 0 {
		made = arrayOf(&job.Map)
		made.Height = to - from
		if made, err = d.Make(made); err != nil {
			return err
		}
		defer func() { err = driver.FirstError(err, made.Close()) }()
		on.Sum, on.Out = made.Element, made.At
		on.Out.Offset -= int64(from) * on.Out.Stride
	}
	other := both.At
	other.Offset += other.Distance
	for _, b := range []*devmem.Batch{&on.In, &other} { // row 0 of the whole image
		b.Offset -= int64(first) * b.Stride
	}
	sums := make([]float64, devmem.CeilDiv(job.A.Width, core.BlockColumns)*devmem.CeilDiv(to-from, core.BlockRows)*job.A.Channels)
	err = using(both, func() error {
		s := ssimOf(job, other, height, from, to)
		if err := s.Queue(on); err != nil {
			return err
		}
		if err := s.Sums(on, sums); err != nil || job.Map.Type == 0 {
			return err
		}
		return made.CopyOut(0, rowsOf(&job.Map).From(from))
	})
	if err != nil {
		return err
	}
	part, all := len(sums)/job.A.Channels, len(job.Sums)/job.A.Channels
	for c := range job.A.Channels {
		copy(job.Sums[c*all+from/core.BlockRows*devmem.CeilDiv(job.A.Width, core.BlockColumns):], sums[c*part:][:part])
	}
	return nil
}
