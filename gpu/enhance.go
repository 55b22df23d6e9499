package gpu

import (
	"context"

	"github.com/boxsum/boxsum/enhance"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/device"
	core "github.com/boxsum/boxsum/internal/enhance"
	"github.com/boxsum/boxsum/internal/raster"
)

// CLAHE is like [enhance.CLAHE] but works on images on a device: it equalizes the contrast of each channel
// of every image locally, bit-identical to package enhance. It uses only Across, Down, Clip and
// Context of opt; Color is not supported.
func CLAHE[P FilterPixel](src *Image[P], opt *enhance.Options) (*Image[P], error) {
	return likeImage(src, func(dst *Image[P]) error { return CLAHEInto(dst, src, opt) })
}

// CLAHEInto is like [CLAHE] but writes the result to dst, which must have the same size and device
// as src and must not be src. It returns when the work is queued.
func CLAHEInto[P FilterPixel](dst, src *Image[P], opt *enhance.Options) error {
	a, to := src.inner(), dst.inner()
	if a.Device == nil || to.Device == nil {
		return errNoImage
	}
	j := core.Job{Clip: core.DefaultClip, Src: raster.Array{Type: a.Element, Extent: raster.PlaneExtent(a.Width, a.Height, a.Channels, 0)}}
	var ctx context.Context
	if opt != nil {
		if opt.Color && a.Channels > 2 {
			return raster.Unsupported("colors are not supported for images on a device (use Options.On of package enhance)")
		}
		j.Across, j.Down, ctx = opt.Across, opt.Down, opt.Context
		if opt.Clip != 0 {
			j.Clip = opt.Clip
		}
	}
	d, err := j.OnDevice()
	if err != nil {
		return err
	}
	return queueInto(to, a, ctx, claheOf(&d).Queue)
}

// claheOf returns the work of a job.
func claheOf(d *device.CLAHE) *method.CLAHE {
	return &method.CLAHE{Across: d.Across, Down: d.Down, TileWidth: d.TileWidth, TileHeight: d.TileHeight, Shift: d.Shift, Limit: d.Limit}
}

// CLAHE equalizes the contrast of an image on one device, which must have room for it and the result.
func (r runner) CLAHE(job *device.CLAHE) error {
	if err := countable(&job.Src); err != nil {
		return err
	}
	return r.device.onOne(func(d *Device) (err error) {
		src, err := uploadImage(d.mem(), &job.Src)
		if err != nil {
			return err
		}
		defer func() { err = driver.FirstError(err, src.Close()) }()
		dst, err := d.mem().Make(arrayOf(&job.Dst))
		if err != nil {
			return err
		}
		defer func() { err = driver.FirstError(err, dst.Close()) }()
		err = using(src, func() error {
			if err := claheOf(job).Queue(method.Of(&dst, nil, src, 0)); err != nil {
				return err
			}
			return dst.CopyOut(0, rowsOf(&job.Dst))
		})
		if err == nil {
			reportDone(&job.Options)
		}
		return err
	})
}
