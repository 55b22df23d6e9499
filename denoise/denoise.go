// Package denoise removes noise from images by non-local means: every pixel becomes the mean of pixels whose surroundings
// look like its own, so that edges and textures that repeat are preserved.
//
//	clean, err := denoise.NonLocalMeans(img, &denoise.Options{Strength: 10})
//
// Results are those of OpenCV's fastNlMeansDenoising and fastNlMeansDenoisingMulti, to the bit, at every level and with any
// number of workers.
package denoise

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/denoise"
	"github.com/boxsum/boxsum/internal/raster"
)

// Pixel is the constraint for the pixels of images to denoise.
type Pixel interface{ uint8 | uint16 }

// Options configures non-local means. Nil and the zero value select OpenCV's defaults.
type Options struct {
	// Strength is how much surroundings may differ, in the units of pixels: about the deviation of the noise. More
	// removes more noise, and detail. 0 means 3.
	Strength float64

	// Patch is the side of the surroundings that are compared, and Search the side of the area around a pixel in which others
	// are searched. Even sides count as the next odd number. 0 means 7 and 21. The time grows with the area of Search, and
	// hardly with that of Patch.
	Patch, Search int

	// Absolute compares pixels by the absolute values of their differences instead of the squares, so that single pixels
	// that differ much count less. Pixels of 16 bits are always compared so.
	Absolute bool

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level is the best available
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // called with the fraction done, see [boxsum.Options]
}

// NonLocalMeans denoises an image with up to four channels, which are compared and averaged together.
func NonLocalMeans[P Pixel](img boxsum.Image[P], opt *Options) (boxsum.Image[P], error) {
	return FramesNonLocalMeans([]boxsum.Image[P]{img}, 0, opt)
}

// NonLocalMeansInto is like [NonLocalMeans] but writes to dst, which has the same size and may be img itself. After an error,
// dst may be incomplete.
func NonLocalMeansInto[P Pixel](dst, img boxsum.Image[P], opt *Options) error {
	return FramesNonLocalMeansInto(dst, []boxsum.Image[P]{img}, 0, opt)
}

// FramesNonLocalMeans denoises one of several frames of a film, all of the same size. Similar surroundings are searched in all
// of them, at the same place.
func FramesNonLocalMeans[P Pixel](frames []boxsum.Image[P], index int, opt *Options) (boxsum.Image[P], error) {
	j := jobOf(frames, index, opt)
	if err := j.Check(); err != nil {
		return boxsum.Image[P]{}, err
	}
	dst, err := boxsum.NewImage[P](frames[index].Width, frames[index].Height, j.Src().Channels)
	if err != nil {
		return dst, err
	}
	setImage(&j.Dst, &dst)
	return raster.OrZero(dst, j.Run())
}

// FramesNonLocalMeansInto is like [FramesNonLocalMeans] but writes to dst, which may be the frame itself.
func FramesNonLocalMeansInto[P Pixel](dst boxsum.Image[P], frames []boxsum.Image[P], index int, opt *Options) error {
	j := jobOf(frames, index, opt)
	if err := j.Check(); err != nil {
		return err
	}
	setImage(&j.Dst, &dst)
	return j.Run()
}

// jobOf returns a job for frames.
func jobOf[P Pixel](frames []boxsum.Image[P], index int, opt *Options) *denoise.Job {
	j := &denoise.Job{Index: index, Strength: denoise.DefaultStrength, Patch: denoise.DefaultPatch, Search: denoise.DefaultSearch}
	j.Frames = make([]raster.Array, len(frames))
	for i := range frames {
		setImage(&j.Frames[i], &frames[i])
	}
	if o := opt; o != nil {
		if o.Strength != 0 {
			j.Strength = o.Strength
		}
		if o.Patch != 0 {
			j.Patch = o.Patch
		}
		if o.Search != 0 {
			j.Search = o.Search
		}
		j.Absolute = o.Absolute
		j.Options.Workers, j.Options.Level, j.Options.Context, j.Options.Progress = o.Workers, o.Level.String(), o.Context, o.Progress
	}
	return j
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}
