package quality

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/quality"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// SSIM returns the structural similarity of two images, which must have the same size and number of channels. It is 1
// if the images are equal, and lower the more they differ.
func SSIM[P Pixel](a, b boxsum.Image[P], opt *Options) (float64, error) {
	return score(images(quality.SSIM, &a, &b, opt))
}

// SSIMMap is like [SSIM] but also returns a map: an image with the similarity of the window around every pixel.
func SSIMMap[D Float, P Pixel](a, b boxsum.Image[P], opt *Options) (boxsum.Image[D], float64, error) {
	return newMap[D](images(quality.SSIM, &a, &b, opt))
}

// SSIMInto is like [SSIMMap] but writes the map to dst, which must have the size and the channels of the images.
func SSIMInto[D Float, P Pixel](dst boxsum.Image[D], a, b boxsum.Image[P], opt *Options) (float64, error) {
	return scoreInto(&dst)(images(quality.SSIM, &a, &b, opt))
}

// VolumeSSIM is like [SSIM] but compares volumes, with windows that extend along all
// three axes.
func VolumeSSIM[P Pixel](a, b volume.Volume[P], opt *Options) (float64, error) {
	return score(volumes(quality.SSIM, &a, &b, opt))
}

// VolumeSSIMInto is like [VolumeSSIM] but also writes the similarity of the window around every voxel to dst, which
// must have the size and the channels of the volumes.
func VolumeSSIMInto[D Float, P Pixel](dst volume.Volume[D], a, b volume.Volume[P], opt *Options) (float64, error) {
	return intoVolume(&dst)(volumes(quality.SSIM, &a, &b, opt))
}

// LNCC returns the mean local normalized cross-correlation of two images, which must have the same size and number of
// channels. By default, correlations are squared. The result is 1 if every window of one image differs from the same
// window of the other only in brightness and contrast.
func LNCC[P Pixel](a, b boxsum.Image[P], opt *Options) (float64, error) {
	return score(images(quality.LNCC, &a, &b, opt))
}

// LNCCMap is like [LNCC] but also returns a map: an image with the correlation of the window around every pixel.
func LNCCMap[D Float, P Pixel](a, b boxsum.Image[P], opt *Options) (boxsum.Image[D], float64, error) {
	return newMap[D](images(quality.LNCC, &a, &b, opt))
}

// LNCCInto is like [LNCCMap] but writes the map to dst, which must have the size and the channels
// of the images.
func LNCCInto[D Float, P Pixel](dst boxsum.Image[D], a, b boxsum.Image[P], opt *Options) (float64, error) {
	return scoreInto(&dst)(images(quality.LNCC, &a, &b, opt))
}

// VolumeLNCC is like [LNCC] but compares volumes, with windows that extend along all
// three axes.
func VolumeLNCC[P Pixel](a, b volume.Volume[P], opt *Options) (float64, error) {
	return score(volumes(quality.LNCC, &a, &b, opt))
}

// VolumeLNCCInto is like [VolumeLNCC] but also writes the correlation of the window around every voxel to dst, which
// must have the size and the channels of the volumes.
func VolumeLNCCInto[D Float, P Pixel](dst volume.Volume[D], a, b volume.Volume[P], opt *Options) (float64, error) {
	return intoVolume(&dst)(volumes(quality.LNCC, &a, &b, opt))
}

// MSSSIM returns the multi-scale structural similarity of two images of the same size, with the weights of Wang,
// Simoncelli and Bovik. It halves the images four times and multiplies the mean contrast and structure at each of the
// five scales with the mean brightness at the last. A negative mean counts as 0.
//
// Windows have Gaussian weights with a standard deviation of 1.5 and population variances, and those that reach beyond
// an image are excluded; Window, Sigma and Population must be zero. Each side must have at least 161 pixels. If a side
// is odd, its last row or column is repeated before it is halved, as in TensorFlow. With several channels, the result
// is the mean over the channels.
func MSSSIM[P Pixel](a, b boxsum.Image[P], opt *Options) (float64, error) {
	j, err := images(quality.SSIM, &a, &b, opt)
	if err != nil {
		return 0, err
	}
	if j.Size != 0 || j.Sigma != 0 || j.Population {
		return 0, raster.Invalid("window is %d, sigma is %v and population is %v, want 0, 0 and false (MS-SSIM has its own window)", j.Size, j.Sigma, j.Population)
	}
	return quality.MultiScale(j)
}

// MSE returns the mean squared error between two images of the same size: the mean of (a − b)² over all pixels and
// channels. It ignores the options that concern windows.
func MSE[P Pixel](a, b boxsum.Image[P], opt *Options) (float64, error) {
	j, err := images(quality.SSIM, &a, &b, opt)
	if err != nil {
		return 0, err
	}
	return quality.SquaredError(j)
}

// PSNR returns the peak signal-to-noise ratio of two images of the same size in decibels: 10·log(R²/MSE), where R is
// the data range. It is +Inf if the images are equal.
func PSNR[P Pixel](a, b boxsum.Image[P], opt *Options) (float64, error) {
	j, err := images(quality.SSIM, &a, &b, opt)
	if err != nil {
		return 0, err
	}
	return quality.PSNR(j)
}

// score checks and runs a job.
func score(j quality.Job, err error) (float64, error) {
	if err == nil {
		err = j.Check()
	}
	if err != nil {
		return 0, err
	}
	return j.Run()
}

// newMap checks and runs a job with a new map.
func newMap[D Float](j quality.Job, err error) (m boxsum.Image[D], s float64, _ error) {
	if err == nil {
		err = j.Check()
	}
	if err != nil {
		return m, 0, err
	}
	if m, err = boxsum.NewImage[D](j.A.Width, j.A.Height, j.A.Channels); err != nil {
		return m, 0, err
	}
	setImage(&j.Map, &m)
	if s, err = j.Run(); err != nil {
		return boxsum.Image[D]{}, 0, err
	}
	return m, s, nil
}

// scoreInto returns a function that checks and runs a job with a map.
func scoreInto[D Float](dst *boxsum.Image[D]) func(j quality.Job, err error) (float64, error) {
	return func(j quality.Job, err error) (float64, error) {
		setImage(&j.Map, dst)
		return score(j, err)
	}
}

func intoVolume[D Float](dst *volume.Volume[D]) func(j quality.Job, err error) (float64, error) {
	return func(j quality.Job, err error) (float64, error) {
		setVolume(&j.Map, dst)
		return score(j, err)
	}
}
