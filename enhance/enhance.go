// Package enhance brings out detail: it equalizes the contrast of an image locally.
//
//	clear, err := enhance.CLAHE(img, &enhance.Options{Clip: 2})
//
// [CLAHE] is contrast-limited adaptive histogram equalization: the image is cut into tiles, each tile gets the table
// that equalizes its histogram, and every pixel is mapped by the four tables of the tiles around it, weighted
// by their distance. Bins above a limit are cut and what they lose is distributed over all bins, so that noise in
// flat parts is not amplified beyond it. Results are those of OpenCV's createCLAHE, to the bit, at every level and with
// any number of workers.
package enhance

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/enhance"
	"github.com/boxsum/boxsum/internal/raster"
)

// Pixel is the constraint for the pixels of images to equalize.
type Pixel interface{ uint8 | uint16 }

// Options configures CLAHE. Nil and the zero value select OpenCV's defaults.
type Options struct {
	// Across and Down are the numbers of tiles along the sides of the image; 0 means 8. If they do not divide it, the
	// image is extended by its mirror image.
	Across, Down int

	// Clip is the limit of a bin as a multiple of the mean of all bins: the most by which contrast is amplified. 0 means
	// 40, which is hardly a limit; 2 to 4 are usual. A negative number means none.
	Clip float64

	// Color equalizes the brightness of images with three or four channels, that of a pixel's brightest channel, and
	// scales the first three channels with it. Without Color, channels are equalized one by one.
	Color bool

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level is the best available
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // called with the fraction done, see [boxsum.Options]
}

// CLAHE equalizes an image. See [Options.Color] for color pictures.
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

// CLAHEInto is like [CLAHE] but writes to dst, which has the same size and may be img itself. After an error, dst may be
// incomplete.
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
		j.Options.Workers, j.Options.Level, j.Options.Context, j.Options.Progress = o.Workers, o.Level.String(), o.Context, o.Progress
	}
	return j
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}
