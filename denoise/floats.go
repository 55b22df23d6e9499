package denoise

import (
	"cmp"
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/denoise"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// Float is the constraint for images and volumes of floats.
type Float interface{ float32 | float64 }

// FloatOptions configures non-local means of floats. Nil and the zero value select scikit-image's defaults, except for the position of patches.
type FloatOptions struct {
	// Strength is how much two neighborhoods may differ and still be averaged, in units of pixel values (h in scikit-image). Use about the
	// standard deviation of the noise, or 0.8 times that if Noise is set. 0 means 0.1.
	Strength float64

	// Patch is the side of the square or cubic neighborhoods that are compared, and Search the side of the area in which similar ones are
	// sought, both in pixels: twice scikit-image's patch_distance and one. Even sides are rounded up to odd ones. 0 means 7 and 23. The running
	// time grows with the number of pixels in Search, but hardly with Patch.
	Patch, Search int

	// Noise is the standard deviation of the noise, by which patches are expected to differ: this much is subtracted from their distances.
	Noise float64

	// Shifted leaves the first row, column and slice out of patches, as scikit-image does, so that they are not centered. The results are
	// then those of scikit-image's denoise_nl_means.
	Shifted bool

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never cancels
	Progress func(done float64) // receives the fraction done, see [boxsum.Options]
}

// FloatNonLocalMeans returns an image of floats with its noise removed. Weights of patches are exp(-d), within 4%, where d is the mean
// squared difference of their pixels in units of the squared strength, and 0 where d exceeds 5. Channels are compared and averaged together.
// Pixels must be finite.
func FloatNonLocalMeans[P Float](img boxsum.Image[P], opt *FloatOptions) (boxsum.Image[P], error) {
	j := floatJob(opt)
	setImage(&j.Src, &img)
	if err := j.Check(); err != nil {
		return boxsum.Image[P]{}, err
	}
	dst, err := boxsum.NewImage[P](img.Width, img.Height, j.Src.Channels)
	if err != nil {
		return dst, err
	}
	setImage(&j.Dst, &dst)
	return raster.OrZero(dst, j.Run())
}

// FloatNonLocalMeansInto is like [FloatNonLocalMeans] but writes to dst, which has the same size and may be img itself. If it returns an
// error, dst may be incomplete.
func FloatNonLocalMeansInto[P Float](dst, img boxsum.Image[P], opt *FloatOptions) error {
	j := floatJob(opt)
	setImage(&j.Src, &img)
	if err := j.Check(); err != nil {
		return err
	}
	setImage(&j.Dst, &dst)
	return j.Run()
}

// VolumeNonLocalMeans is like [FloatNonLocalMeans] for volumes: patches and the area that is searched extend along all three axes.
func VolumeNonLocalMeans[P Float](v volume.Volume[P], opt *FloatOptions) (volume.Volume[P], error) {
	j := floatJob(opt)
	j.Solid = true
	setVolume(&j.Src, &v)
	if err := j.Check(); err != nil {
		return volume.Volume[P]{}, err
	}
	dst, err := volume.New[P](v.Width, v.Height, v.Depth, j.Src.Channels)
	if err != nil {
		return dst, err
	}
	setVolume(&j.Dst, &dst)
	return raster.OrZero(dst, j.Run())
}

// VolumeNonLocalMeansInto is like [VolumeNonLocalMeans] but writes to dst, which has the same size and may be v itself. If it returns an
// error, dst may be incomplete.
func VolumeNonLocalMeansInto[P Float](dst, v volume.Volume[P], opt *FloatOptions) error {
	j := floatJob(opt)
	j.Solid = true
	setVolume(&j.Src, &v)
	if err := j.Check(); err != nil {
		return err
	}
	setVolume(&j.Dst, &dst)
	return j.Run()
}

// floatJob returns a job with options and without an image.
func floatJob(opt *FloatOptions) *denoise.FloatJob {
	if opt == nil {
		opt = new(FloatOptions)
	}
	j := &denoise.FloatJob{
		Strength: cmp.Or(opt.Strength, denoise.DefaultFloatStrength), Patch: cmp.Or(opt.Patch, denoise.DefaultPatch),
		Search: cmp.Or(opt.Search, denoise.DefaultFloatSearch), Noise: opt.Noise, Shifted: opt.Shifted,
	}
	j.Options.Workers, j.Options.Level, j.Options.Context, j.Options.Progress = opt.Workers, opt.Level.String(), opt.Context, opt.Progress
	return j
}

// setVolume sets a to the voxels of a volume, unchecked.
func setVolume[P boxsum.Pixel](a *raster.Array, v *volume.Volume[P]) {
	raster.SetVolume(a, v.Pix, v.Width, v.Height, v.Depth, v.Channels, v.Stride, v.SliceStride)
}
