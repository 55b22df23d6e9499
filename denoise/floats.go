package denoise

import (
	"cmp"
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/denoise"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// Float is a constraint that permits float32 and float64.
type Float interface{ float32 | float64 }

// FloatOptions configures non-local means of floats. Nil and the zero value select scikit-image's
// defaults, except that patches are centered; see Shifted.
type FloatOptions struct {
	// Strength is how much two neighborhoods may differ and still be averaged, in units of pixel
	// values (h in scikit-image). About the standard deviation of the noise is a good value, or 0.8
	// times that if Noise is set. 0 means 0.1.
	Strength float64

	// Patch is the side of the square or cubic neighborhoods that are compared, and Search the side of
	// the area in which similar ones are sought, both in pixels. In terms of scikit-image, Patch is
	// patch_size and Search is 2·patch_distance+1. Even sides are rounded up to odd ones. Patch is 7
	// by default, and Search 23. The running time grows with the number of pixels in Search, but
	// hardly with Patch.
	Patch, Search int

	// Noise is the standard deviation of the noise. The difference that it is expected to cause
	// between equal patches is subtracted from their distance.
	Noise float64

	// Shifted leaves the first row, column and slice out of patches, as scikit-image does, so that
	// they are not centered. The results are then those of scikit-image's denoise_nl_means.
	Shifted bool

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// FloatNonLocalMeans returns an image of floats with its noise removed. The weight of a patch is
// exp(-d) within 4%, where d is the mean squared difference of its pixels divided by the squared
// strength; if d exceeds 5, the weight is 0. Channels are compared and averaged together. Pixels
// must be finite.
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

// FloatNonLocalMeansInto is like [FloatNonLocalMeans] but writes the result to dst, which must have
// the same size and may be img itself. If it returns an error, the contents of dst are undefined.
func FloatNonLocalMeansInto[P Float](dst, img boxsum.Image[P], opt *FloatOptions) error {
	j := floatJob(opt)
	setImage(&j.Src, &img)
	if err := j.Check(); err != nil {
		return err
	}
	setImage(&j.Dst, &dst)
	return j.Run()
}

// VolumeNonLocalMeans is like [FloatNonLocalMeans] but denoises a volume: the patches and the area
// that is searched for similar ones extend along all three axes.
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

// VolumeNonLocalMeansInto is like [VolumeNonLocalMeans] but writes the result to dst, which must
// have the same size and may be v itself. If it returns an error, the contents of dst are
// undefined.
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
