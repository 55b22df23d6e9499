package threshold

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/raster"
)

// Binarize returns an image that is 0 (black) where img does not exceed its threshold, and
// 255 elsewhere.
func Binarize[P filter.Pixel](img boxsum.Image[P], r Rule, opt *Options) (dst boxsum.Image[uint8], err error) {
	j := job{src: arrayOf(&img)}
	if err = j.check(&r, opt); err != nil {
		return dst, err
	}
	if dst, err = boxsum.NewImage[uint8](img.Width, img.Height, 1); err == nil {
		err = j.fill(asBytes, arrayOf(&dst))
	}
	if err != nil {
		return boxsum.Image[uint8]{}, err
	}
	return dst, nil
}

// BinarizeInto is like [Binarize] but writes to dst, which has the same size and may be img
// itself. It allocates nothing after the first image of a type and size.
func BinarizeInto[P filter.Pixel](dst boxsum.Image[uint8], img boxsum.Image[P], r Rule, opt *Options) error {
	j := job{src: arrayOf(&img)}
	if err := j.check(&r, opt); err != nil {
		return err
	}
	return j.fill(asBytes, arrayOf(&dst))
}

// BinarizeBits is like [Binarize] but returns one bit per pixel; 1 is black.
func BinarizeBits[P filter.Pixel](img boxsum.Image[P], r Rule, opt *Options) (dst Bitmap, err error) {
	j := job{src: arrayOf(&img)}
	if err = j.check(&r, opt); err != nil {
		return dst, err
	}
	if dst, err = NewBitmap(img.Width, img.Height); err == nil {
		err = j.fillBits(dst)
	}
	if err != nil {
		return Bitmap{}, err
	}
	return dst, nil
}

// BinarizeBitsInto is like [BinarizeBits] but writes to dst, which has the same size. It
// clears the bits after the last pixel of each row.
func BinarizeBitsInto[P filter.Pixel](dst Bitmap, img boxsum.Image[P], r Rule, opt *Options) error {
	j := job{src: arrayOf(&img)}
	if err := j.check(&r, opt); err != nil {
		return err
	}
	return j.fillBits(dst)
}

// BinarizeImage is like [Binarize] for an [image.Image]. Color is converted as by
// [boxsum.Gray]. The result has the bounds of img.
func BinarizeImage(img image.Image, r Rule, opt *Options) (*image.Gray, error) {
	gray := boxsum.Gray(img)
	dst, err := Binarize(gray, r, opt)
	if err != nil {
		return nil, err
	}
	bounds := image.Rectangle{}
	if gray.Width > 0 {
		bounds = img.Bounds()
	}
	return &image.Gray{Pix: dst.Pix, Stride: dst.Stride, Rect: bounds}, nil
}

// Map returns the threshold of every pixel; pixels above it are white. [ISauvola] has no
// map. The threshold of Su is -1 where a window has too few high-contrast pixels, which
// makes the pixel white. The threshold of Bradley is 0 if its default window is smaller
// than one pixel.
//
//	m, err := threshold.Map[float32](img, threshold.New(threshold.Sauvola, 25), nil)
func Map[D filter.Float, P filter.Pixel](img boxsum.Image[P], r Rule, opt *Options) (dst boxsum.Image[D], err error) {
	j := job{src: arrayOf(&img)}
	if err = j.checkMap(&r, opt); err != nil {
		return dst, err
	}
	if dst, err = boxsum.NewImage[D](img.Width, img.Height, 1); err == nil {
		err = j.fill(asMap, arrayOf(&dst))
	}
	if err != nil {
		return boxsum.Image[D]{}, err
	}
	return dst, nil
}

// MapInto is like [Map] but writes to dst, which has the same size and may be img itself if
// the types match.
func MapInto[D filter.Float, P filter.Pixel](dst boxsum.Image[D], img boxsum.Image[P], r Rule, opt *Options) error {
	j := job{src: arrayOf(&img)}
	if err := j.checkMap(&r, opt); err != nil {
		return err
	}
	return j.fill(asMap, arrayOf(&dst))
}

// checkMap checks the arguments of Map.
func (j *job) checkMap(r *Rule, opt *Options) error {
	if err := j.check(r, opt); err != nil {
		return err
	}
	if r.Method == ISauvola {
		return raster.Invalid("isauvola has no threshold for each pixel (use the map of sauvola)")
	}
	return nil
}
