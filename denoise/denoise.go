// Package denoise removes noise from images by non-local means: every pixel becomes a weighted mean of the pixels whose
// neighborhoods look like its own. Edges and repeated textures are preserved.
//
//	clean, err := denoise.NonLocalMeans(img, &denoise.Options{Strength: 10})
//
// Results are bit-identical to those of OpenCV's fastNlMeansDenoising and fastNlMeansDenoisingMulti, at every level and with
// any number of workers. [FloatNonLocalMeans] and [VolumeNonLocalMeans] denoise floats as scikit-image does.
package denoise

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/denoise"
	"github.com/boxsum/boxsum/internal/raster"
)

// Pixel is a constraint that permits the pixel types of images to denoise.
type Pixel interface{ uint8 | uint16 }

// Options configures non-local means. Nil and the zero value select OpenCV's defaults.
type Options struct {
	// Strength is how much two neighborhoods may differ and still be averaged, in units of pixel
	// values (h in OpenCV). About the standard deviation of the noise is a good value. Larger values
	// remove more noise, but also more detail. 0 means 3.
	Strength float64

	// Patch is the side of the square neighborhoods that are compared, and Search the side of the
	// square in which similar ones are sought, both in pixels. Even sides are rounded up to odd ones.
	// Patch is 7 by default, and Search 21. The running time grows with the area of Search, but hardly
	// with that of Patch.
	Patch, Search int

	// Absolute compares neighborhoods by absolute instead of squared differences, so that single outliers count less. 16-bit
	// pixels always use absolute differences.
	Absolute bool

	On boxsum.Device // device to use, for patches of up to 65 pixels a side; nil selects the processor

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// NonLocalMeans returns img with its noise removed: every pixel becomes a weighted mean of the pixels whose
// neighborhoods look like its own. img must have one to four channels, which are compared and averaged together.
func NonLocalMeans[P Pixel](img boxsum.Image[P], opt *Options) (boxsum.Image[P], error) {
	return FramesNonLocalMeans([]boxsum.Image[P]{img}, 0, opt)
}

// NonLocalMeansInto is like [NonLocalMeans] but writes the result to dst, which must have the same
// size and may be img itself. If it returns an error, the contents of dst are undefined.
func NonLocalMeansInto[P Pixel](dst, img boxsum.Image[P], opt *Options) error {
	return FramesNonLocalMeansInto(dst, []boxsum.Image[P]{img}, 0, opt)
}

// FramesNonLocalMeans removes the noise of one frame of a film, frames[index], and returns the result. It looks for
// similar neighborhoods in all frames, around the same position. All frames must have the same size and the same number
// of channels, one to four.
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

// FramesNonLocalMeansInto is like [FramesNonLocalMeans] but writes the result to dst, which must have the size of the
// frames and may be frames[index] itself. If it returns an error, the contents of dst are undefined.
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
		j.Options.On, j.Options.Workers, j.Options.Level, j.Options.Context, j.Options.Progress = o.On, o.Workers, o.Level.String(), o.Context, o.Progress
	}
	return j
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}
