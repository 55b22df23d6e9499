package threshold

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/thresholds"
)

// Binarize returns an image that is 0 (black) where a pixel of img does not exceed its
// threshold, and 255 elsewhere.
func Binarize[P filter.Pixel](img boxsum.Image[P], r Rule, opt *Options) (boxsum.Image[uint8], error) {
	j := thresholds.Job{Form: thresholds.AsBytes}
	setJob(&j, &img, &r, opt)
	dst, err := checkNew[uint8](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// BinarizeInto is like [Binarize] but writes the result to dst, which must have the size of
// img, and may be img itself if its pixels are uint8. Repeated calls with images of the
// same type and size do not allocate.
func BinarizeInto[P filter.Pixel](dst boxsum.Image[uint8], img boxsum.Image[P], r Rule, opt *Options) error {
	j := thresholds.Job{Form: thresholds.AsBytes}
	setJob(&j, &img, &r, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}

// BinarizeBits is like [Binarize] but returns one bit per pixel; 1 is black.
func BinarizeBits[P filter.Pixel](img boxsum.Image[P], r Rule, opt *Options) (dst Bitmap, err error) {
	j := thresholds.Job{Form: thresholds.AsBits}
	setJob(&j, &img, &r, opt)
	if err = j.Check(); err != nil {
		return dst, err
	}
	if dst, err = NewBitmap(img.Width, img.Height); err == nil {
		err = fillBits(&j, &dst)
	}
	if err != nil {
		return Bitmap{}, err
	}
	return dst, nil
}

// BinarizeBitsInto is like [BinarizeBits] but writes the result to dst, which must have the
// size of img and share no memory with it. It clears the bits after the last pixel of each
// row.
func BinarizeBitsInto[P filter.Pixel](dst Bitmap, img boxsum.Image[P], r Rule, opt *Options) error {
	j := thresholds.Job{Form: thresholds.AsBits}
	setJob(&j, &img, &r, opt)
	if err := j.Check(); err != nil {
		return err
	}
	return fillBits(&j, &dst)
}

// BinarizeImage is like [Binarize] but accepts an [image.Image], whose color it
// converts as [boxsum.Gray] does. The result has the bounds of img.
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
// map. For [Su], the threshold is -1 where a window has too few high-contrast pixels, which
// makes the pixel white. For [Bradley], thresholds are 0 if the default window is smaller
// than one pixel.
//
//	m, err := threshold.Map[float32](img, threshold.New(threshold.Sauvola, 25), nil)
func Map[D filter.Float, P filter.Pixel](img boxsum.Image[P], r Rule, opt *Options) (boxsum.Image[D], error) {
	j := thresholds.Job{Form: thresholds.AsMap}
	setJob(&j, &img, &r, opt)
	dst, err := checkNew[D](&j)
	if err != nil {
		return dst, err
	}
	return raster.OrZero(dst, j.Run())
}

// MapInto is like [Map] but writes the result to dst, which must have the same size and may
// be img itself if the types match.
func MapInto[D filter.Float, P filter.Pixel](dst boxsum.Image[D], img boxsum.Image[P], r Rule, opt *Options) error {
	j := thresholds.Job{Form: thresholds.AsMap}
	setJob(&j, &img, &r, opt)
	if err := checkInto(&j, &dst); err != nil {
		return err
	}
	return j.Run()
}

// setJob sets the source, the rule and the options of a job.
func setJob[P filter.Pixel](j *thresholds.Job, img *boxsum.Image[P], r *Rule, opt *Options) {
	setImage(&j.Src, img)
	r.set(&j.Rule)
	if opt != nil {
		opt.set(&j.Options)
	}
}

// setImage sets a to the pixels of an image, unchecked.
func setImage[P boxsum.Pixel](a *raster.Array, img *boxsum.Image[P]) {
	raster.SetPlane(a, img.Pix, img.Width, img.Height, img.Channels, img.Stride)
}

// checkInto checks a job, and points it to the image for its result.
func checkInto[D boxsum.Pixel](j *thresholds.Job, dst *boxsum.Image[D]) error {
	err := j.Check()
	setImage(&j.Dst, dst)
	return err
}

// checkNew checks a job, and allocates the image for its result.
func checkNew[D boxsum.Pixel](j *thresholds.Job) (dst boxsum.Image[D], err error) {
	if err = j.Check(); err != nil {
		return dst, err
	}
	dst, err = boxsum.NewImage[D](j.Src.Width, j.Src.Height, 1)
	setImage(&j.Dst, &dst)
	return dst, err
}

// fillBits runs a checked job, with the result in dst.
func fillBits(j *thresholds.Job, dst *Bitmap) (err error) {
	j.Bits = dst.Width
	if j.Dst, err = dst.array(); err != nil {
		return err
	}
	return j.Run()
}
