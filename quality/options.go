package quality

import (
	"cmp"
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/quality"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// Pixel is a constraint that permits the pixel types of images to compare.
type Pixel interface {
	uint8 | uint16 | float32 | float64
}

// Float is a constraint that permits the types of the values in maps.
type Float interface{ float32 | float64 }

// Options configures comparisons. Nil and the zero value select scikit-image's defaults and the best settings for the
// machine.
type Options struct {
	// Window is the side of the window in pixels, an odd number. 0 means 7 for SSIM and 9 for LNCC. For SSIM, the images
	// must be at least as large as the window.
	Window int

	// Sigma, if it is not zero, weights the pixels of a window by a Gaussian with this standard deviation. The window
	// then extends to 3.5 standard deviations, so that 1.5 means 11 pixels a side, and Window must be zero.
	Sigma float64

	// Population divides variances by the number of pixels in a window, as Wang et al. do, instead of
	// by that number minus one.
	Population bool

	// DataRange is the difference between the greatest and the smallest possible pixel. 0 means 255
	// for uint8 and 65535 for uint16; floats have no default.
	DataRange float64

	// K1 and K2 are the constants of SSIM; 0 means 0.01 and 0.03.
	K1, K2 float64

	// Signed makes LNCC return the correlation, -1 to 1, instead of its square.
	Signed bool

	// Valid excludes pixels; see [boxsum.Valid]. A mask applies to both images. MS-SSIM does not
	// support it, and volumes only support SkipNaN.
	Valid boxsum.Valid

	// On is the device to use; nil selects the processor. See [boxsum.Options.On]. Devices support
	// SSIM and its map, for images of uint8 and uint16 without Sigma and Valid.
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// set sets the options of a job.
func (o *Options) set(j *quality.Job) error {
	j.K1, j.K2 = quality.DefaultK1, quality.DefaultK2
	if o == nil {
		return nil
	}
	if o.Sigma != 0 && o.Window != 0 {
		return raster.Invalid("window is %d and sigma is %v, want one of them (sigma determines its own window)", o.Window, o.Sigma)
	}
	to := &j.Options
	to.On, to.Workers, to.Level, to.Context, to.Progress = o.On, o.Workers, o.Level.String(), o.Context, o.Progress
	j.Size, j.Sigma, j.Population, j.Range, j.Signed = o.Window, o.Sigma, o.Population, o.DataRange, o.Signed
	j.K1, j.K2 = cmp.Or(o.K1, j.K1), cmp.Or(o.K2, j.K2)
	j.SkipNaN = o.Valid.SkipNaN
	if m := &o.Valid.Mask; m.Width != 0 || m.Height != 0 || m.Pix != nil {
		setImage(&j.Mask, m)
	}
	return nil
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}

// setVolume sets a to the voxels of a volume, unchecked.
func setVolume[P boxsum.Pixel](a *raster.Array, v *volume.Volume[P]) {
	raster.SetVolume(a, v.Pix, v.Width, v.Height, v.Depth, v.Channels, v.Stride, v.SliceStride)
}

// images returns a job for two images.
func images[P Pixel](kind quality.Kind, a, b *boxsum.Image[P], opt *Options) (j quality.Job, err error) {
	j.Kind = kind
	setImage(&j.A, a)
	setImage(&j.B, b)
	return j, opt.set(&j)
}

// volumes returns a job for two volumes.
func volumes[P Pixel](kind quality.Kind, a, b *volume.Volume[P], opt *Options) (j quality.Job, err error) {
	j.Kind = kind
	j.Solid = true
	setVolume(&j.A, a)
	setVolume(&j.B, b)
	if err = opt.set(&j); err == nil && j.Mask.Type != 0 {
		err = raster.Invalid("masks are not supported for volumes")
	}
	return j, err
}
