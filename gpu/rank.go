package gpu

import (
	"context"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/device"
	core "github.com/boxsum/boxsum/internal/rank"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
	"github.com/boxsum/boxsum/rank"
)

// Rank returns a statistic of the window around every pixel of images on a device,
// bit-identical to [rank.Filter]. The statistic must be [rank.Mean] or, for uint8 images,
// [rank.Percentile], [rank.Minimum], [rank.Maximum] or [rank.Equalize]. For percentiles,
// OpenCL devices must support float64. Rank uses only Fraction and Context of opt.
func Rank[P FilterPixel](src *Image[P], s rank.Statistic, w filter.Window, opt *rank.Options) (*Image[P], error) {
	return likeImage(src, func(dst *Image[P]) error { return RankInto(dst, src, s, w, opt) })
}

// RankInto is like [Rank] but writes the result to dst, which must have the same
// size and device as src and must not be src. It returns when the work is queued.
func RankInto[P FilterPixel](dst, src *Image[P], s rank.Statistic, w filter.Window, opt *rank.Options) error {
	a, to := src.inner(), dst.inner()
	if a.Device == nil || to.Device == nil {
		return errNoImage
	}
	j := core.Job{Kind: core.Kind(s), Width: w.Width, Height: w.Height, ShiftX: w.Shift.X, ShiftY: w.Shift.Y}
	j.Src = raster.Array{Type: a.Element, Extent: raster.PlaneExtent(a.Width, a.Height, a.Channels, 0)}
	var ctx context.Context
	if opt != nil {
		if opt.Mask.Pix != nil {
			return raster.Invalid("masks and footprints are not supported on a device (use the CPU)")
		}
		j.Footprint, j.Fraction, ctx = opt.Footprint, opt.Fraction, opt.Context
	}
	d, err := j.OnDevice()
	if err != nil {
		return err
	}
	m := rankOf(&d)
	if err := m.Fits(a.Element, max(a.Width, 1), max(a.Height, 1)); err != nil {
		return err
	}
	return queueInto(to, a, ctx, func(job method.Job) error { return method.Run(m, job, method.Portable) })
}

// rankOf returns the method of a job.
func rankOf(d *device.Rank) *method.Rank {
	return &method.Rank{Statistic: d.Statistic, Shape: window.OfDevice(d.Window), Fraction: d.Fraction}
}

// Rank computes a statistic of the windows around the pixels of an image.
func (r runner) Rank(job *device.Rank) error {
	m := rankOf(job)
	if err := m.Fits(job.Src.Type, max(job.Src.Width, 1), max(job.Src.Height, 1)); err != nil {
		return err
	}
	b := &banded{
		method: m, way: method.Portable, src: &job.Src, results: []*raster.Array{&job.Dst}, above: m.Shape.Up, below: m.Shape.Down, options: &job.Options,
	}
	return r.device.share(job.Src.Height, b.parts(), &job.Options, b.rows)
}
