package quality

import (
	"cmp"
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/quality"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// Pixel is the constraint for the pixels of images to compare.
type Pixel interface {
	uint8 | uint16 | float32 | float64
}

// Float is the constraint for maps.
type Float interface{ float32 | float64 }

// Options configures comparisons. Nil and the zero value select scikit-image's defaults, and the best for the machine.
type Options struct {
	// Window is the side of the window in pixels, an odd number: 7 by default for SSIM, 9 for LNCC. SSIM requires images
	// that are not smaller.
	Window int

	// Sigma, if it is not zero, weights the window by a Gaussian of this standard deviation, truncated at 3.5 of them:
	// 11 pixels for 1.5. Window must then be zero.
	Sigma float64

	// Population divides variances by the number of pixels, as Wang et al. do, not by one less.
	Population bool

	// DataRange is the difference between the greatest and the smallest possible pixel. The default is 255 for uint8 and
	// 65535 for uint16; floats have none.
	DataRange float64

	// K1 and K2 are the constants of SSIM; 0 means 0.01 and 0.03.
	K1, K2 float64

	// Signed makes LNCC return the correlation, -1 to 1, instead of its square.
	Signed bool

	// Valid excludes pixels, see [boxsum.Valid]. A mask applies to both images. MS-SSIM does not support it, and
	// volumes only support SkipNaN.
	Valid boxsum.Valid

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level is the best available
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // called with the fraction done, see [boxsum.Options]
}

// set sets the options of a job.
func (o *Options) set(j *quality.Job) error {
	j.K1, j.K2 = quality.DefaultK1, quality.DefaultK2
	if o == nil {
		return nil
	}
	if o.Sigma != 0 && o.Window != 0 {
		return raster.Invalid("Window is %d and Sigma is %v, want one of them: Sigma chooses its own window", o.Window, o.Sigma)
	}
	to := &j.Options
	to.Workers, to.Level, to.Context, to.Progress = o.Workers, o.Level.String(), o.Context, o.Progress
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
		err = raster.Invalid("Options.Valid.Mask is an image, want none for volumes")
	}
	return j, err
}
