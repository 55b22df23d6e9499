package match

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// Match returns the score of every position of template in img, an image of
// img.Width-template.Width+1 by img.Height-template.Height+1 pixels. Both images must have
// the same number of channels, one to four. Sums run over all channels.
func Match[P Pixel](img, template boxsum.Image[P], m Method, opt *Options) (scores boxsum.Image[float32], err error) {
	j := job{method: m, src: arrayOf(&img), template: arrayOf(&template)}
	if err = j.check(opt); err != nil {
		return scores, err
	}
	if scores, err = boxsum.NewImage[float32](j.width, j.height, 1); err == nil {
		err = j.fill(arrayOf(&scores))
	}
	if err != nil {
		return boxsum.Image[float32]{}, err
	}
	return scores, nil
}

// MatchInto is like [Match] but writes to scores, which must have the right size. It
// allocates nothing after the first match of a size, provided that the transforms need less
// than 32 MiB.
func MatchInto[P Pixel](scores boxsum.Image[float32], img, template boxsum.Image[P], m Method, opt *Options) error {
	j := job{method: m, src: arrayOf(&img), template: arrayOf(&template)}
	if err := j.check(opt); err != nil {
		return err
	}
	return j.fill(arrayOf(&scores))
}

// arrayOf returns the pixels of an image, unchecked.
func arrayOf[P boxsum.Pixel](img *boxsum.Image[P]) raster.Array {
	return raster.ArrayOf(img.Pix, raster.PlaneExtent(img.Width, img.Height, img.Channels, img.Stride))
}
