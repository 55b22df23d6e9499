package match

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/matching"
	"github.com/boxsum/boxsum/internal/raster"
)

// Match returns an image of scores, one for every position of template in img. It has
// img.Width−template.Width+1 by img.Height−template.Height+1 pixels and one channel. Both
// images must have the same number of channels, one to four, and scores are computed over
// all channels. Match returns an error if the template does not fit in the image, or if all
// of its pixels are equal and m is undefined for such a template.
func Match[P Pixel](img, template boxsum.Image[P], m Method, opt *Options) (scores boxsum.Image[float32], err error) {
	j := matching.Job{Method: matching.Method(m)}
	setJob(&j, &img, &template, opt)
	if err = j.Check(); err != nil {
		return scores, err
	}
	width, height := j.Size()
	if scores, err = boxsum.NewImage[float32](width, height, 1); err != nil {
		return scores, err
	}
	setImage(&j.Scores, &scores)
	if err = j.Run(); err != nil {
		return boxsum.Image[float32]{}, err
	}
	return scores, nil
}

// MatchInto is like [Match] but writes the scores to scores, which must have the size that
// Match would return. Repeated calls with images of the same size do not allocate, provided
// that the Fourier transforms need less than 32 MiB.
func MatchInto[P Pixel](scores boxsum.Image[float32], img, template boxsum.Image[P], m Method, opt *Options) error {
	j := matching.Job{Method: matching.Method(m)}
	setJob(&j, &img, &template, opt)
	if err := j.Check(); err != nil {
		return err
	}
	setImage(&j.Scores, &scores)
	return j.Run()
}

// setJob sets the image, the template and the options of a job.
func setJob[P Pixel](j *matching.Job, img, template *boxsum.Image[P], opt *Options) {
	setImage(&j.Src, img)
	setImage(&j.Template, template)
	if opt != nil {
		opt.set(j)
	}
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}
