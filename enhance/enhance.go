// Package enhance brings out detail in images by equalizing their contrast locally.
//
//	clear, err := enhance.CLAHE(img, &enhance.Options{Clip: 2})
//
// [CLAHE] is contrast-limited adaptive histogram equalization. It divides the image into tiles and computes, for each
// tile, the mapping of pixel values that equalizes its histogram. Each pixel is then mapped by a weighted mean of the
// mappings of the four tiles around it. Histogram bins above a limit are clipped, and the excess is distributed over all
// bins, so that noise in flat areas is not amplified beyond the limit. Results are bit-identical to those of OpenCV's
// createCLAHE, at every level and with any number of workers.
package enhance

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/enhance"
	"github.com/boxsum/boxsum/internal/raster"
)

// Pixel is a constraint that permits the pixel types of images to equalize.
type Pixel interface{ uint8 | uint16 }

// Options configures CLAHE. Nil and the zero value select OpenCV's defaults.
type Options struct {
	// Across and Down are the numbers of tiles along the width and the height of the image; 0 means 8.
	// If the image cannot be divided evenly, it is extended by mirroring.
	Across, Down int

	// Clip limits the bins of a histogram to a multiple of their mean, and thereby the amplification
	// of contrast. Usual values are 2 to 4. 0 means 40, which is hardly a limit; a negative number
	// means no limit.
	Clip float64

	// Color equalizes the brightness of images with three or four channels: the largest of the first three channels is
	// equalized, and all three are scaled by the same factor. Otherwise each channel is equalized separately.
	Color bool

	On boxsum.Device // device to use, which needs memory for a whole image; nil selects the processor

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// CLAHE returns img with its contrast equalized locally. [Options.Color] determines how color
// images are treated.
func CLAHE[P Pixel](img boxsum.Image[P], opt *Options) (boxsum.Image[P], error) {
	j := jobOf(&img, opt)
	if err := j.Check(); err != nil {
		return boxsum.Image[P]{}, err
	}
	dst, err := boxsum.NewImage[P](img.Width, img.Height, img.Channels)
	if err != nil {
		return dst, err
	}
	setImage(&j.Dst, &dst)
	return raster.OrZero(dst, j.Run())
}

// CLAHEInto is like [CLAHE] but writes the result to dst, which must have the same size and may be
// img itself. If it returns an error, the contents of dst are undefined.
func CLAHEInto[P Pixel](dst, img boxsum.Image[P], opt *Options) error {
	j := jobOf(&img, opt)
	if err := j.Check(); err != nil {
		return err
	}
	setImage(&j.Dst, &dst)
	return j.Run()
}

// jobOf returns a job for an image.
func jobOf[P Pixel](img *boxsum.Image[P], opt *Options) *enhance.Job {
	j := &enhance.Job{Clip: enhance.DefaultClip}
	setImage(&j.Src, img)
	if o := opt; o != nil {
		j.Across, j.Down, j.Color = o.Across, o.Down, o.Color
		if o.Clip != 0 {
			j.Clip = o.Clip
		}
		j.Options.On, j.Options.Workers, j.Options.Level, j.Options.Context, j.Options.Progress = o.On, o.Workers, o.Level.String(), o.Context, o.Progress
	}
	return j
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}
