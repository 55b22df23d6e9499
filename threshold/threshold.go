package threshold

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Binarize makes 0, black, of pixels that are no more than their threshold, and 255 of
// others.
func Binarize[P filter.Pixel](img boxsum.Image[P], r Rule, opt *Options) (dst boxsum.Image[uint8], err error) {
	var t task
	if err = t.check(pixels(&img), &r, opt); err != nil {
		return dst, err
	}
	if dst, err = boxsum.NewImage[uint8](img.Width, img.Height, 1); err != nil {
		return dst, err
	}
	if err = t.to(asBytes, pixels(&dst)); err == nil {
		err = t.run()
	}
	if err != nil {
		return boxsum.Image[uint8]{}, err
	}
	return dst, nil
}

// BinarizeInto is [Binarize] into an image of the same size, which may be img itself. It
// allocates nothing once an image of that type and size has been done.
func BinarizeInto[P filter.Pixel](dst boxsum.Image[uint8], img boxsum.Image[P], r Rule, opt *Options) error {
	var t task
	if err := t.check(pixels(&img), &r, opt); err != nil {
		return err
	}
	if err := t.to(asBytes, pixels(&dst)); err != nil {
		return err
	}
	return t.run()
}

// BinarizeBits is [Binarize] to one bit a pixel, of which 1 is black.
func BinarizeBits[P filter.Pixel](img boxsum.Image[P], r Rule, opt *Options) (dst Bitmap, err error) {
	var t task
	if err = t.check(pixels(&img), &r, opt); err != nil {
		return dst, err
	}
	if dst, err = NewBitmap(img.Width, img.Height); err != nil {
		return dst, err
	}
	if err = BinarizeBitsInto(dst, img, r, opt); err != nil {
		return Bitmap{}, err
	}
	return dst, nil
}

// BinarizeBitsInto is [BinarizeBits] into a bitmap of the same size. Bits after the last
// pixel of a row become 0.
func BinarizeBitsInto[P filter.Pixel](dst Bitmap, img boxsum.Image[P], r Rule, opt *Options) error {
	var t task
	if err := t.check(pixels(&img), &r, opt); err != nil {
		return err
	}
	t.dst.form = asBits
	var err error
	if t.dst.Pixels, err = dst.checked(); err != nil {
		return err
	}
	if dst.Width != img.Width || dst.Height != img.Height {
		return grid.Invalid("a bitmap of %d×%d cannot take what is made from an image of %d×%d", dst.Width, dst.Height, img.Width, img.Height)
	}
	if err = grid.Overlap(dst.Bits, img.Pix); err != nil {
		return err
	}
	return t.run()
}

// BinarizeImage is [Binarize] of an image of package image. Colour becomes gray as in
// [boxsum.Gray]. Pixels of the result count from the bounds of the image on.
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

// Map is the threshold of every pixel: what is above it is white. [ISauvola] has none. Su
// has -1 where all pixels are white, and Bradley 0 where there is no window.
//
//	m, err := threshold.Map[float32](img, threshold.New(threshold.Sauvola, 25), nil)
func Map[D filter.Float, P filter.Pixel](img boxsum.Image[P], r Rule, opt *Options) (dst boxsum.Image[D], err error) {
	var t task
	if err = t.check(pixels(&img), &r, opt); err != nil {
		return dst, err
	}
	if dst, err = boxsum.NewImage[D](img.Width, img.Height, 1); err != nil {
		return dst, err
	}
	if err = MapInto(dst, img, r, opt); err != nil {
		return boxsum.Image[D]{}, err
	}
	return dst, nil
}

// MapInto is [Map] into an image of the same size, which may be img itself where it is
// of the same type.
func MapInto[D filter.Float, P filter.Pixel](dst boxsum.Image[D], img boxsum.Image[P], r Rule, opt *Options) error {
	var t task
	if err := t.check(pixels(&img), &r, opt); err != nil {
		return err
	}
	if r.Method == ISauvola {
		return grid.Invalid("isauvola has no threshold of every pixel: take the map of sauvola")
	}
	form := asDoubles
	if pairs.TypeOf[D]() == pairs.F32 {
		form = asSingles
	}
	if err := t.to(form, pixels(&dst)); err != nil {
		return err
	}
	return t.run()
}
