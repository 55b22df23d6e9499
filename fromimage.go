package boxsum

import (
	"image"
	"image/color"
	"reflect"

	"github.com/boxsum/boxsum/internal/grid"
)

// Gray is the 8-bit grey version of an image.
//
// Images of type *image.Gray are used in place, and so is the Y plane of
// *image.YCbCr and *image.NYCbCrA: the result shares their memory. All others
// are converted into memory of its own.
//
// Colour becomes (9798·R + 19235·G + 3735·B + 16384) >> 15: the weights 0.299,
// 0.587 and 0.114 in 15-bit fixed point, rounded to nearest. They add up to 1,
// so grey stays as it is. Alpha is ignored and the components are weighed as
// the image stores them, which for *image.RGBA means premultiplied. 16-bit
// sources are weighed in 16 bits, and the high byte is kept.
//
// Pixels count from (0, 0), wherever the bounds of the image start: a box of a
// sub-image is box.Sub(img.Bounds().Min).
//
// A nil image and one with empty bounds give an empty Image. An image whose
// buffer is too short for its bounds gives one that fails to integrate with
// [ErrInvalid].
func Gray(img image.Image) Image[uint8] { return convert(img, true, raster.gray8) }

// Gray16 is the 16-bit grey version of an image, always in memory of its own.
// The components of 8-bit sources are first scaled by 257, so that 255 becomes
// 65535; the rest is as in [Gray].
func Gray16(img image.Image) Image[uint16] { return convert(img, true, raster.gray16) }

// Color is an image with its colour kept as interleaved 8-bit channels.
//
//   - *image.Gray and *image.Gray16: one channel.
//   - *image.YCbCr, *image.CMYK and *image.Paletted with an opaque palette:
//     three channels R, G, B.
//   - Everything else: four channels R, G, B, A. The components are those that
//     the image stores, premultiplied in *image.RGBA and straight in
//     *image.NRGBA.
//
// *image.Gray, *image.RGBA and *image.NRGBA are used in place: the result
// shares their memory. All others are converted into memory of its own; 16-bit
// components keep their high byte. Nil, empty and broken images are as in
// [Gray].
func Color(img image.Image) Image[uint8] { return convert(img, false, raster.color8) }

// Color16 is [Color] with 16 bits a channel, always in memory of its own. 8-bit
// components are scaled by 257.
func Color16(img image.Image) Image[uint16] { return convert(img, false, raster.color16) }

// convert brings an image into the common form and from there to its result. A
// palette is converted as an image of its own, which is then looked up.
func convert[P Pixel](img image.Image, grey bool, to func(raster) Image[P]) Image[P] {
	if isNil(img) || img.Bounds().Empty() {
		return Image[P]{}
	}
	if b := img.Bounds(); b.Dx() < 0 || b.Dy() < 0 || sizeError(b) != nil {
		return Image[P]{Width: b.Dx(), Height: b.Dy()}
	}
	if p, ok := img.(*image.Paletted); ok {
		return lookup(p, to(paletteRaster(p.Palette)))
	}
	return to(rasterOf(img, grey))
}

// sizeError is an error where these pixels, of whatever kind, are too many.
func sizeError(b image.Rectangle) error {
	e := grid.Plane(b.Dx(), b.Dy(), 8, 0)
	return e.Sized()
}

func isNil(img image.Image) bool {
	v := reflect.ValueOf(img)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// A raster is the form that Go's images have in common: interleaved components
// of one byte, or of two with the high one first. Its pix is nil where an
// image's buffer is too short for its bounds, or no memory could hold it.
type raster struct {
	pix           []uint8
	stride        int // bytes
	width, height int
	channels      int
	deep          bool // two bytes a component
}

// rasterOf is an image's own buffer where it has this form, and a converted
// copy otherwise. With grey set, the Y plane alone stands for YCbCr.
func rasterOf(img image.Image, grey bool) raster {
	b := img.Bounds()
	switch m := img.(type) {
	case *image.Gray:
		return window(m.Pix, m.PixOffset(b.Min.X, b.Min.Y), m.Stride, b, 1, false)
	case *image.Gray16:
		return window(m.Pix, m.PixOffset(b.Min.X, b.Min.Y), m.Stride, b, 1, true)
	case *image.RGBA:
		return window(m.Pix, m.PixOffset(b.Min.X, b.Min.Y), m.Stride, b, 4, false)
	case *image.NRGBA:
		return window(m.Pix, m.PixOffset(b.Min.X, b.Min.Y), m.Stride, b, 4, false)
	case *image.RGBA64:
		return window(m.Pix, m.PixOffset(b.Min.X, b.Min.Y), m.Stride, b, 4, true)
	case *image.NRGBA64:
		return window(m.Pix, m.PixOffset(b.Min.X, b.Min.Y), m.Stride, b, 4, true)
	case *image.CMYK:
		return cmykRaster(window(m.Pix, m.PixOffset(b.Min.X, b.Min.Y), m.Stride, b, 4, false))
	case *image.YCbCr:
		return ycbcrRaster(m, nil, grey)
	case *image.NYCbCrA:
		return ycbcrRaster(&m.YCbCr, m, grey)
	}
	return anyRaster(img)
}

// window is the part of a buffer that bounds of this size cover, start bytes
// into it.
func window(pix []uint8, start, stride int, b image.Rectangle, channels int, deep bool) raster {
	r := raster{stride: stride, width: b.Dx(), height: b.Dy(), channels: channels, deep: deep}
	row := r.rowBytes()
	if start < 0 || start > len(pix) || stride == 0 && r.height > 1 {
		return r
	}
	if e := grid.Plane(row, r.height, 1, stride); e.Pixels(len(pix)-start) == nil {
		end := start + (r.height-1)*stride + row
		r.pix = pix[start:end:end]
	}
	return r
}

func newRaster(width, height, channels int, deep bool) raster {
	r := raster{width: width, height: height, channels: channels, deep: deep}
	r.stride = r.rowBytes()
	if e := grid.Plane(width, height, r.stride/max(width, 1), 0); e.Sized() == nil {
		r.pix = make([]uint8, r.stride*height)
	}
	return r
}

func (r raster) rowBytes() int {
	if r.deep {
		return 2 * r.width * r.channels
	}
	return r.width * r.channels
}

func (r raster) row(y int) []uint8 { return r.pix[y*r.stride:][:r.rowBytes()] }

func cmykRaster(src raster) raster {
	dst := newRaster(src.width, src.height, 3, false)
	if src.pix == nil {
		dst.pix = nil
	}
	for y := range len(dst.pix) / max(dst.stride, 1) {
		d, s := dst.row(y), src.row(y)
		for ; len(s) >= 4; d, s = d[3:], s[4:] {
			d[0], d[1], d[2] = color.CMYKToRGB(s[0], s[1], s[2], s[3])
		}
	}
	return dst
}

// ycbcrRaster is the Y plane, or R, G, B with the alpha of a where there is one.
func ycbcrRaster(m *image.YCbCr, a *image.NYCbCrA, grey bool) raster {
	b := m.Rect
	luma := window(m.Y, m.YOffset(b.Min.X, b.Min.Y), m.YStride, b, 1, false)
	if grey {
		return luma
	}
	channels, alpha := 3, raster{}
	if a != nil {
		channels, alpha = 4, window(a.A, a.AOffset(b.Min.X, b.Min.Y), a.AStride, b, 1, false)
	}
	dst := newRaster(luma.width, luma.height, channels, false)
	first, last := m.COffset(b.Min.X, b.Min.Y), m.COffset(b.Max.X-1, b.Max.Y-1)
	if luma.pix == nil || channels == 4 && alpha.pix == nil || m.CStride < 0 || first < 0 || last >= min(len(m.Cb), len(m.Cr)) {
		dst.pix = nil
		return dst
	}
	across := 1 // pixels that share a chroma sample along a row
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		across = 2
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		across = 4
	}
	for y := range luma.height {
		d, s := dst.row(y), luma.row(y)
		chroma := m.COffset(b.Min.X, b.Min.Y+y) - b.Min.X/across
		for x, v := range s {
			i := chroma + (b.Min.X+x)/across
			p := d[x*channels:][:channels]
			p[0], p[1], p[2] = color.YCbCrToRGB(v, m.Cb[i], m.Cr[i])
			if channels == 4 {
				p[3] = alpha.pix[y*alpha.stride+x]
			}
		}
	}
	return dst
}

func anyRaster(img image.Image) raster {
	b := img.Bounds()
	dst := newRaster(b.Dx(), b.Dy(), 4, !shallowModel(img.ColorModel()))
	for y := range len(dst.pix) / dst.stride {
		row := dst.row(y)
		for x := range dst.width {
			c, _ := components(img.At(b.Min.X+x, b.Min.Y+y))
			row = dst.put(row, c)
		}
	}
	return dst
}

// paletteRaster is a palette as an image of 256×1. The indices that it lacks
// are black.
func paletteRaster(p color.Palette) raster {
	p = p[:min(len(p), 256)]
	channels, deep := 3, false
	for _, c := range p {
		v, shallow := components(c)
		deep = deep || !shallow
		if v[3] != 0xffff {
			channels = 4
		}
	}
	dst := newRaster(256, 1, channels, deep)
	row := dst.pix
	for _, c := range p {
		v, _ := components(c)
		row = dst.put(row, v)
	}
	return dst
}

func lookup[P Pixel](m *image.Paletted, table Image[P]) Image[P] {
	src := window(m.Pix, m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y), m.Stride, m.Rect, 1, false)
	n := table.Channels
	return rows(src, n, func(dst []P, src []uint8) {
		if n == 1 {
			for i, v := range src {
				dst[i] = table.Pix[v]
			}
			return
		}
		for i, v := range src {
			copy(dst[i*n:][:n], table.Pix[int(v)*n:])
		}
	})
}

// put writes one colour at the start of row and is the rest of it.
func (r raster) put(row []uint8, c [4]uint16) []uint8 {
	for i, v := range c[:r.channels] {
		if r.deep {
			row[2*i], row[2*i+1] = uint8(v>>8), uint8(v)
		} else {
			row[i] = uint8(v >> 8)
		}
	}
	if r.deep {
		return row[2*r.channels:]
	}
	return row[r.channels:]
}

// components is what a colour stores as R, G, B, A in 16 bits, and whether it
// stores 8. A colour of unknown type gives straight values; a mask has the
// value of its alpha in every component.
func components(c color.Color) (v [4]uint16, shallow bool) {
	switch c := c.(type) {
	case nil:
		return wide(0, 0, 0, 255), true
	case color.NRGBA:
		return wide(c.R, c.G, c.B, c.A), true
	case color.NYCbCrA:
		r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
		return wide(r, g, b, c.A), true
	case color.YCbCr:
		r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
		return wide(r, g, b, 255), true
	case color.CMYK:
		r, g, b := color.CMYKToRGB(c.C, c.M, c.Y, c.K)
		return wide(r, g, b, 255), true
	case color.RGBA:
		return wide(c.R, c.G, c.B, c.A), true
	case color.Gray:
		return wide(c.Y, c.Y, c.Y, 255), true
	case color.Alpha:
		return wide(c.A, c.A, c.A, c.A), true
	case color.NRGBA64:
		return [4]uint16{c.R, c.G, c.B, c.A}, false
	case color.RGBA64:
		return [4]uint16{c.R, c.G, c.B, c.A}, false
	case color.Alpha16:
		return [4]uint16{c.A, c.A, c.A, c.A}, false
	}
	n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	return [4]uint16{n.R, n.G, n.B, n.A}, false
}

func wide(r, g, b, a uint8) [4]uint16 {
	return [4]uint16{uint16(r) * 257, uint16(g) * 257, uint16(b) * 257, uint16(a) * 257}
}

// shallowModel is whether the colours of a model have 8 bits.
func shallowModel(m color.Model) bool {
	switch m {
	case color.RGBAModel, color.NRGBAModel, color.GrayModel, color.AlphaModel,
		color.YCbCrModel, color.NYCbCrAModel, color.CMYKModel:
		return true
	}
	return false
}

func (r raster) gray8() Image[uint8] {
	if r.channels == 1 {
		return r.color8()
	}
	return weighed[uint8](r, 1, 8)
}

func (r raster) gray16() Image[uint16] {
	if r.channels == 1 {
		return r.color16()
	}
	return weighed[uint16](r, 257, 0)
}

// weighed is grey from colour, bytes taken times scale and words shifted right.
func weighed[P uint8 | uint16](r raster, scale uint32, shift int) Image[P] {
	n := r.channels
	return rows(r, 1, func(dst []P, src []uint8) {
		if r.deep {
			for i := range dst {
				p := src[2*n*i:][:6]
				dst[i] = P(luma(uint32(join(p)), uint32(join(p[2:])), uint32(join(p[4:]))) >> shift)
			}
			return
		}
		for i := range dst {
			p := src[n*i:][:3]
			dst[i] = P(luma(uint32(p[0])*scale, uint32(p[1])*scale, uint32(p[2])*scale))
		}
	})
}

func (r raster) color8() Image[uint8] {
	if !r.deep {
		return Image[uint8]{Pix: r.pix, Stride: r.stride, Width: r.width, Height: r.height, Channels: r.channels}
	}
	return rows(r, r.channels, func(dst, src []uint8) {
		for i := range dst {
			dst[i] = src[2*i]
		}
	})
}

func (r raster) color16() Image[uint16] {
	return rows(r, r.channels, func(dst []uint16, src []uint8) {
		if r.deep {
			for i := range dst {
				dst[i] = join(src[2*i:])
			}
			return
		}
		for i := range dst {
			dst[i] = uint16(src[i]) * 257
		}
	})
}

func luma(r, g, b uint32) uint32 { return (9798*r + 19235*g + 3735*b + 1<<14) >> 15 }

func join(b []uint8) uint16 { return uint16(b[0])<<8 | uint16(b[1]) }

// rows converts a raster row by row. One without pixels becomes an image
// without pixels, which integrating refuses.
func rows[P Pixel](src raster, channels int, row func(dst []P, src []uint8)) Image[P] {
	im := Image[P]{Stride: src.width * channels, Width: src.width, Height: src.height, Channels: channels}
	if src.pix == nil {
		return im
	}
	im.Pix = make([]P, im.Stride*im.Height)
	for y := range im.Height {
		row(im.Pix[y*im.Stride:][:im.Stride:im.Stride], src.row(y))
	}
	return im
}
