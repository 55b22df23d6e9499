package gpu

import (
	"cmp"
	"context"

	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/gpu/internal/method"
	core "github.com/boxsum/boxsum/internal/denoise"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// NonLocalMeans removes the noise of every image of a batch on its device. Results are
// bit-identical to those of [denoise.NonLocalMeans]. Patches have up to 65 pixels a side.
// It uses only Strength, Patch, Search, Absolute and Context of opt.
func NonLocalMeans[P FilterPixel](src *Image[P], opt *denoise.Options) (*Image[P], error) {
	return likeImage(src, func(dst *Image[P]) error { return NonLocalMeansInto(dst, src, opt) })
}

// NonLocalMeansInto is like [NonLocalMeans] but writes the result to dst, which
// must have the same size and device as src and must not be src. It returns when
// the work is queued.
func NonLocalMeansInto[P FilterPixel](dst, src *Image[P], opt *denoise.Options) error {
	a, to := src.inner(), dst.inner()
	if a.Device == nil || to.Device == nil {
		return errNoImage
	}
	j := core.Job{Strength: core.DefaultStrength, Patch: core.DefaultPatch, Search: core.DefaultSearch}
	j.Frames = []raster.Array{{Type: a.Element, Extent: raster.PlaneExtent(a.Width, a.Height, a.Channels, 0)}}
	var ctx context.Context
	if opt != nil {
		j.Strength, j.Patch, j.Search = cmp.Or(opt.Strength, j.Strength), cmp.Or(opt.Patch, j.Patch), cmp.Or(opt.Search, j.Search)
		j.Absolute, ctx = opt.Absolute, opt.Context
	}
	d, err := j.OnDevice()
	if err != nil {
		return err
	}
	m := nonLocalMeans(&d)
	if err := m.Fits(); err != nil {
		return err
	}
	return queueInto(to, a, ctx, func(job method.Job) error { return method.Run(m, job, method.Portable) })
}

// nonLocalMeans returns the method of a job.
func nonLocalMeans(d *device.Denoise) *method.NLM {
	return &method.NLM{Frames: len(d.Frames), Index: d.Index, Patch: d.Patch, Search: d.Search, Absolute: d.Absolute, Table: d.Table, Shift: d.Shift}
}

// Denoise denoises one of several frames.
func (r runner) Denoise(job *device.Denoise) error {
	m := nonLocalMeans(job)
	if err := m.Fits(); err != nil {
		return err
	}
	b := &banded{
		method: m, way: method.Portable, src: &job.Frames[job.Index], frames: job.Frames, results: []*raster.Array{&job.Dst},
		above: m.Margin(), below: m.Margin(), options: &job.Options,
	}
	return r.device.share(job.Dst.Height, b.parts(), &job.Options, b.rows)
}
