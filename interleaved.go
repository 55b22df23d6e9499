package boxsum

import (
	"image"
	"image/color"

	"github.com/boxsum/boxsum/internal/raster"
)

// interleaved is the common form of Go's images: interleaved components of one byte, or
// of two in big-endian order. Stride is in bytes, and Pix is nil if the buffer of the
// image is too short for its bounds.
type interleaved struct {
	Image[uint8]
	deep bool // two bytes per component
}

func (r *interleaved) rowBytes() int {
	if r.deep {
		return 2 * r.Width * r.Channels
	}
	return r.Width * r.Channels
}

// interleavedOf returns the image's own buffer if it has this form, and a converted
// copy otherwise. If gray is set, only the Y plane of a YCbCr image is returned.
func interleavedOf(img image.Image, gray bool) interleaved {
	b := img.Bounds()
	switch m := img.(type) {
	case *image.Gray:
		return window(m.Pix, m.PixOffset, m.Stride, b, 1, false)
	case *image.Gray16:
		return window(m.Pix, m.PixOffset, m.Stride, b, 1, true)
	case *image.RGBA:
		return window(m.Pix, m.PixOffset, m.Stride, b, 4, false)
	case *image.NRGBA:
		return window(m.Pix, m.PixOffset, m.Stride, b, 4, false)
	case *image.RGBA64:
		return window(m.Pix, m.PixOffset, m.Stride, b, 4, true)
	case *image.NRGBA64:
		return window(m.Pix, m.PixOffset, m.Stride, b, 4, true)
	case *image.CMYK:
		return interleaved{Image: rows(window(m.Pix, m.PixOffset, m.Stride, b, 4, false), 3, func(_ int, d, s []uint8) {
			for ; len(s) >= 4; d, s = d[3:], s[4:] {
				d[0], d[1], d[2] = color.CMYKToRGB(s[0], s[1], s[2], s[3])
			}
		})}
	case *image.YCbCr:
		return ycbcrInterleaved(m, nil, gray)
	case *image.NYCbCrA:
		return ycbcrInterleaved(&m.YCbCr, m, gray)
	}
	return anyInterleaved(img)
}

// window returns the part of a buffer that the bounds b cover.
func window(pix []uint8, offset func(x, y int) int, stride int, b image.Rectangle, channels int, deep bool) interleaved {
	r := interleaved{Image[uint8]{Stride: stride, Width: b.Dx(), Height: b.Dy(), Channels: channels}, deep}
	start, row := offset(b.Min.X, b.Min.Y), r.rowBytes()
	if start < 0 || start > len(pix) || stride == 0 && r.Height > 1 {
		return r
	}
	if e := raster.PlaneExtent(row, r.Height, 1, stride); e.Pixels(len(pix)-start) == nil {
		end := start + (r.Height-1)*stride + row
		r.Pix = pix[start:end:end]
	}
	return r
}

func newInterleaved(width, height, channels int, deep bool) interleaved {
	r := interleaved{Image[uint8]{Width: width, Height: height, Channels: channels}, deep}
	r.Stride = r.rowBytes()
	r.Pix = make([]uint8, r.Stride*height)
	return r
}

// ycbcrInterleaved returns the Y plane, or R, G and B, with the alpha of a if a is not
// nil.
func ycbcrInterleaved(m *image.YCbCr, a *image.NYCbCrA, gray bool) interleaved {
	b := m.Rect
	luma := window(m.Y, m.YOffset, m.YStride, b, 1, false)
	if gray {
		return luma
	}
	channels, alpha := 3, luma
	if a != nil {
		channels, alpha = 4, window(a.A, a.AOffset, a.AStride, b, 1, false)
	}
	first, last := m.COffset(b.Min.X, b.Min.Y), m.COffset(b.Max.X-1, b.Max.Y-1)
	if alpha.Pix == nil || m.CStride < 0 || first < 0 || last >= min(len(m.Cb), len(m.Cr)) {
		luma.Pix = nil
	}
	across := 1 // pixels that share a chroma sample along a row
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		across = 2
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		across = 4
	}
	return interleaved{Image: rows(luma, channels, func(y int, d, s []uint8) {
		chroma := m.COffset(b.Min.X, b.Min.Y+y) - b.Min.X/across
		for x, v := range s {
			i := chroma + (b.Min.X+x)/across
			p := d[x*channels:][:channels]
			p[0], p[1], p[2] = color.YCbCrToRGB(v, m.Cb[i], m.Cr[i])
			if channels == 4 {
				p[3] = alpha.Pix[y*alpha.Stride+x]
			}
		}
	})}
}

func anyInterleaved(img image.Image) interleaved {
	b, deep := img.Bounds(), true
	switch img.ColorModel() {
	case color.RGBAModel, color.NRGBAModel, color.GrayModel, color.AlphaModel,
		color.YCbCrModel, color.NYCbCrAModel, color.CMYKModel:
		deep = false
	}
	dst := newInterleaved(b.Dx(), b.Dy(), 4, deep)
	rest := dst.Pix
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c, _ := components(img.At(x, y))
			rest = dst.put(rest, c)
		}
	}
	return dst
}

// paletteInterleaved returns a palette as a 256×1 image. Missing indices are black.
func paletteInterleaved(p color.Palette) interleaved {
	p = p[:min(len(p), 256)]
	channels, deep := 3, false
	for _, c := range p {
		v, shallow := components(c)
		deep = deep || !shallow
		if v[3] != 0xffff {
			channels = 4
		}
	}
	dst := newInterleaved(256, 1, channels, deep)
	rest := dst.Pix
	for _, c := range p {
		v, _ := components(c)
		rest = dst.put(rest, v)
	}
	return dst
}

// put writes one color at the start of pix and returns the rest of pix.
func (r *interleaved) put(pix []uint8, c [4]uint16) []uint8 {
	for _, v := range c[:r.Channels] {
		pix[0] = uint8(v >> 8)
		if pix = pix[1:]; r.deep {
			pix[0] = uint8(v)
			pix = pix[1:]
		}
	}
	return pix
}

// components returns the stored R, G, B and A of a color in 16 bits, and whether they
// are stored in 8 bits. For a color of unknown type they are not premultiplied; those
// of a mask all have the value of its alpha.
func components(c color.Color) (v [4]uint16, shallow bool) {
	switch c := c.(type) {
	case nil:
		return [4]uint16{3: 0xffff}, true
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
	case color.RGBA, color.Gray, color.Alpha:
		return stored(c.RGBA()), true
	case color.RGBA64, color.Alpha16:
		return stored(c.RGBA()), false
	}
	n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	return [4]uint16{n.R, n.G, n.B, n.A}, false
}

func wide(r, g, b, a uint8) [4]uint16 {
	return [4]uint16{uint16(r) * 257, uint16(g) * 257, uint16(b) * 257, uint16(a) * 257}
}

func stored(r, g, b, a uint32) [4]uint16 {
	return [4]uint16{uint16(r), uint16(g), uint16(b), uint16(a)}
}
