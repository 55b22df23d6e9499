package filter

import (
	"image"
	"image/color"
	"reflect"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/filters"
)

// Functions for package image return *image.Gray and *image.Gray16 as such, *image.RGBA64
// and *image.NRGBA64 as *image.RGBA64, and all other types as *image.RGBA. Pixels are
// weighted by their alpha: components are premultiplied first. The result has the bounds of
// the image.

// BoxImage is like [Box] but blurs an image.Image. Colors are weighted by their alpha.
//
// The result has the bounds of img. It is an *image.Gray or *image.Gray16 if img is, an
// *image.RGBA64 for *image.RGBA64 and *image.NRGBA64, and an *image.RGBA otherwise. If img
// is nil or empty, the result is an empty *image.Gray.
func BoxImage(img image.Image, w Window, opt *Options) (image.Image, error) {
	return apply(img, func(dst, src boxsum.Image[uint8]) error { return BoxInto(dst, src, w, opt) },
		func(dst, src boxsum.Image[uint16]) error { return BoxInto(dst, src, w, opt) })
}

// GaussianImage is like [Gaussian] but blurs an image.Image. Colors are weighted by their
// alpha. The result has the bounds of img and the type that [BoxImage] returns.
func GaussianImage(img image.Image, sigma Sigma, opt *Options) (image.Image, error) {
	return apply(img, func(dst, src boxsum.Image[uint8]) error { return GaussianInto(dst, src, sigma, opt) },
		func(dst, src boxsum.Image[uint16]) error { return GaussianInto(dst, src, sigma, opt) })
}

// MedianImage is like [Median] but filters an image.Image, each of its components
// separately. The result has the bounds of img and the type that [BoxImage] returns.
func MedianImage(img image.Image, w Window, opt *Options) (image.Image, error) {
	return apply(img, func(dst, src boxsum.Image[uint8]) error { return MedianInto(dst, src, w, opt) },
		func(dst, src boxsum.Image[uint16]) error { return MedianInto(dst, src, w, opt) })
}

// GuidedImage is like [Guided] but filters an image.Image that is its own guide, which
// blurs it and preserves edges. A gray image is guided by its gray values, and any other
// image by its colors. The result has the bounds of img and the type that [BoxImage]
// returns.
func GuidedImage(img image.Image, w Window, epsilon float64, opt *Options) (image.Image, error) {
	return apply(img, func(dst, src boxsum.Image[uint8]) error {
		return guidedByColors(dst, src, w, epsilon, opt)
	}, func(dst, src boxsum.Image[uint16]) error {
		return guidedByColors(dst, src, w, epsilon, opt)
	})
}

func guidedByColors[P Pixel](dst, src boxsum.Image[P], w Window, epsilon float64, opt *Options) error {
	guide, err := guideOf(src)
	if err != nil {
		return err
	}
	if err = GuidedInto(dst, src, guide, w, epsilon, opt); err != nil || dst.Channels != 4 {
		return err
	}
	for y := range dst.Height { // premultiplied components must not exceed alpha, or undoing it would wrap
		for row := dst.Row(y); len(row) > 0; row = row[4:] {
			row[0], row[1], row[2] = min(row[0], row[3]), min(row[1], row[3]), min(row[2], row[3])
		}
	}
	return nil
}

// guideOf returns a copy of the colors of an image.
func guideOf[P Pixel](p boxsum.Image[P]) (boxsum.Image[P], error) {
	if p.Row(p.Height-1) == nil { // an invalid image, which filters reject
		return p, nil
	}
	c := min(3, p.Channels)
	guide, err := boxsum.NewImage[P](p.Width, p.Height, c)
	for y := range guide.Height {
		from, to := p.Row(y), guide.Row(y)
		for x := 0; x < len(to); x++ {
			to[x] = from[x/c*p.Channels+x%c]
		}
	}
	return guide, err
}

// DownsampleImage is like [Downsample] but reduces an image.Image. Colors are weighted by
// their alpha. The result has the type that [BoxImage] returns, and its bounds start where
// those of img do.
func DownsampleImage(img image.Image, factorX, factorY int, opt *Options) (image.Image, error) {
	if err := filters.CheckFactors(factorX, factorY); err != nil {
		return nil, err
	}
	if empty(img) {
		return apply(img, nil, nil)
	}
	at := img.Bounds().Min
	if deep(img) {
		src := pixels16(img)
		dst, err := Downsample(src, factorX, factorY, opt)
		if err != nil {
			return nil, err
		}
		return image16(dst, image.Rect(0, 0, dst.Width, dst.Height).Add(at)), nil
	}
	src := pixels8(img)
	dst, err := Downsample(src, factorX, factorY, opt)
	if err != nil {
		return nil, err
	}
	return image8(dst, image.Rect(0, 0, dst.Width, dst.Height).Add(at)), nil
}

// apply filters an image: in place in a copy if the pixels need conversion, and from the
// image's own memory otherwise.
func apply(img image.Image, eight func(dst, src boxsum.Image[uint8]) error, sixteen func(dst, src boxsum.Image[uint16]) error) (image.Image, error) {
	if empty(img) {
		return &image.Gray{}, nil
	}
	if deep(img) {
		p := pixels16(img)
		if err := sixteen(p, p); err != nil {
			return nil, err
		}
		return image16(p, img.Bounds()), nil
	}
	var src, dst boxsum.Image[uint8]
	switch img.(type) {
	case *image.Gray, *image.RGBA:
		var err error
		src = boxsum.Color(img)
		if dst, err = boxsum.NewImage[uint8](src.Width, src.Height, src.Channels); err != nil {
			return nil, err
		}
	default:
		src = pixels8(img)
		dst = src
	}
	if err := eight(dst, src); err != nil {
		return nil, err
	}
	return image8(dst, img.Bounds()), nil
}

// empty reports whether img is nil or has no pixels.
func empty(img image.Image) bool {
	v := reflect.ValueOf(img)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() || img.Bounds().Empty()
}

// deep reports whether an image has 16 bits per component.
func deep(img image.Image) bool {
	switch img.(type) {
	case *image.Gray16, *image.RGBA64, *image.NRGBA64:
		return true
	}
	switch img.ColorModel() {
	case color.Gray16Model, color.RGBA64Model, color.NRGBA64Model:
		return true
	}
	return false
}

// straight reports whether the components of an image, as returned by boxsum.Color, are not
// premultiplied by alpha yet.
func straight(img image.Image) bool {
	switch img.(type) {
	case *image.RGBA, *image.RGBA64, *image.Alpha, *image.Alpha16:
		return false
	}
	switch img.ColorModel() {
	case color.RGBAModel, color.RGBA64Model, color.AlphaModel, color.Alpha16Model:
		return false
	}
	return true
}

// pixels8 returns a copy of the pixels of an image.
func pixels8(img image.Image) boxsum.Image[uint8] {
	return own(boxsum.Color(img), straight(img), func(v, a uint8) uint8 { return uint8((uint32(v)*uint32(a) + 127) / 255) })
}

// pixels16 is like pixels8 with 16 bits.
func pixels16(img image.Image) boxsum.Image[uint16] {
	return own(boxsum.Color16(img), straight(img), func(v, a uint16) uint16 {
		return uint16((uint64(v)*uint64(a) + 32767) / 65535)
	})
}

func own[P Pixel](src boxsum.Image[P], straight bool, times func(v, a P) P) boxsum.Image[P] {
	n := src.Width * src.Channels
	dst := src
	if src.Row(src.Height-1) == nil { // an invalid image, which filters reject
		return src
	}
	dst.Pix, dst.Stride = make([]P, n*src.Height), n
	for y := range src.Height {
		to := dst.Pix[y*n:][:n]
		copy(to, src.Row(y))
		for i := 0; i < n && src.Channels == 4 && straight; i += 4 {
			p := to[i : i+4]
			p[0], p[1], p[2] = times(p[0], p[3]), times(p[1], p[3]), times(p[2], p[3])
		}
	}
	return dst
}

// image8 returns pixels as an image, which shares their memory if the layout allows.
func image8(p boxsum.Image[uint8], b image.Rectangle) image.Image {
	switch p.Channels {
	case 1:
		return &image.Gray{Pix: p.Pix, Stride: p.Stride, Rect: b}
	case 4:
		return &image.RGBA{Pix: p.Pix, Stride: p.Stride, Rect: b}
	}
	m := image.NewRGBA(b)
	for y := range p.Height {
		for x := range p.Width {
			from, to := p.Pix[y*p.Stride+3*x:][:3], m.Pix[y*m.Stride+4*x:][:4]
			to[0], to[1], to[2], to[3] = from[0], from[1], from[2], 255
		}
	}
	return m
}

func image16(p boxsum.Image[uint16], b image.Rectangle) image.Image {
	if p.Channels == 1 {
		m := image.NewGray16(b)
		for y := range p.Height {
			for x, v := range p.Row(y) {
				m.Pix[y*m.Stride+2*x], m.Pix[y*m.Stride+2*x+1] = uint8(v>>8), uint8(v)
			}
		}
		return m
	}
	m := image.NewRGBA64(b)
	for y := range p.Height {
		row := p.Row(y)
		for x := range p.Width {
			for c := range 4 {
				v := uint16(0xffff)
				if c < p.Channels {
					v = row[x*p.Channels+c]
				}
				i := y*m.Stride + 8*x + 2*c
				m.Pix[i], m.Pix[i+1] = uint8(v>>8), uint8(v)
			}
		}
	}
	return m
}
