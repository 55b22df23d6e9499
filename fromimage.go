package boxsum

import (
	"image"
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
func Gray(img image.Image) Image[uint8] { return convert[uint8](img, true) }

// Gray16 is the 16-bit grey version of an image, always in memory of its own.
// The components of 8-bit sources are first scaled by 257, so that 255 becomes
// 65535; the rest is as in [Gray].
func Gray16(img image.Image) Image[uint16] { return convert[uint16](img, true) }

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
func Color(img image.Image) Image[uint8] { return convert[uint8](img, false) }

// Color16 is [Color] with 16 bits a channel, always in memory of its own. 8-bit
// components are scaled by 257.
func Color16(img image.Image) Image[uint16] { return convert[uint16](img, false) }

// convert brings an image into the common form and from there to its result. A
// palette is converted as an image of its own, which is then looked up.
func convert[P uint8 | uint16](img image.Image, grey bool) Image[P] {
	v := reflect.ValueOf(img)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() || img.Bounds().Empty() {
		return Image[P]{}
	}
	b := img.Bounds()
	if e := grid.Plane(b.Dx(), b.Dy(), 8, 0); e.Sized() != nil { // too many pixels, of whatever kind
		return Image[P]{Width: b.Dx(), Height: b.Dy()}
	}
	if p, ok := img.(*image.Paletted); ok {
		return lookup(p, finish[P](paletteRaster(p.Palette), grey))
	}
	return finish[P](rasterOf(img, grey), grey)
}

// finish is a raster as an image: one grey channel, or the channels that it has.
func finish[P uint8 | uint16](r raster, grey bool) Image[P] {
	scale, shift := uint32(1), uint(8) // of bytes and of words
	if P(0)-1 > 255 {
		scale, shift = 257, 0
	}
	n := r.Channels
	if grey && n > 1 {
		return rows(r, 1, func(_ int, dst []P, src []uint8) {
			if r.deep {
				for i := range dst {
					p := src[2*n*i:][:6]
					dst[i] = P(luma(join(p), join(p[2:]), join(p[4:])) >> shift)
				}
				return
			}
			for i := range dst {
				p := src[n*i:][:3]
				dst[i] = P(luma(uint32(p[0])*scale, uint32(p[1])*scale, uint32(p[2])*scale))
			}
		})
	}
	if own, ok := any(r.Image).(Image[P]); ok && !r.deep {
		return own
	}
	return rows(r, n, func(_ int, dst []P, src []uint8) {
		switch {
		case r.deep && shift == 8:
			for i := range dst {
				dst[i] = P(src[2*i])
			}
		case r.deep:
			for i := range dst {
				dst[i] = P(join(src[2*i:]))
			}
		default:
			for i := range dst {
				dst[i] = P(uint32(src[i]) * scale)
			}
		}
	})
}

func luma(r, g, b uint32) uint32 { return (9798*r + 19235*g + 3735*b + 1<<14) >> 15 }

func join(b []uint8) uint32 { return uint32(b[0])<<8 | uint32(b[1]) }

func lookup[P Pixel](m *image.Paletted, table Image[P]) Image[P] {
	n := table.Channels
	return rows(window(m.Pix, m.PixOffset, m.Stride, m.Rect, 1, false), n, func(_ int, dst []P, src []uint8) {
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

// rows converts a raster row by row. One without pixels becomes an image
// without pixels, which integrating refuses.
func rows[P Pixel](src raster, channels int, row func(y int, dst []P, src []uint8)) Image[P] {
	im := Image[P]{Stride: src.Width * channels, Width: src.Width, Height: src.Height, Channels: channels}
	if src.Pix == nil {
		return im
	}
	im.Pix = make([]P, im.Stride*im.Height)
	for y := range im.Height {
		row(y, im.Pix[y*im.Stride:][:im.Stride:im.Stride], src.Pix[y*src.Stride:][:src.rowBytes()])
	}
	return im
}
