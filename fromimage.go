package boxsum

import (
	"image"
	"reflect"

	"github.com/boxsum/boxsum/internal/raster"
)

// New returns the table of the gray levels of img, converted by [Gray]:
//
//	table, err := boxsum.New(picture)
//	mean := table.Mean(image.Rect(10, 10, 50, 50), 0)
//
// The sums are uint64, so the sum of every box is exact in an image of any size. Use
// [Integrate] for uint32 sums, which take half the memory, or for other pixels.
func New(img image.Image) (*Table[uint64], error) { return Integrate[uint64](Gray(img), nil) }

// Gray returns an 8-bit gray version of img.
//
// The result shares the memory of an *image.Gray, and that of the Y plane of an
// *image.YCbCr or *image.NYCbCrA. All other images are converted into new memory.
//
// Color is converted as (9798·R + 19235·G + 3735·B + 16384) >> 15: the weights 0.299,
// 0.587 and 0.114 in 15-bit fixed point, rounded to nearest. The weights add up to 1,
// so gray colors keep their value. Alpha is ignored and the components are weighted as
// stored, which for *image.RGBA means premultiplied. 16-bit components are weighted in
// 16 bits, and the result is the high byte.
//
// Pixels count from (0, 0) regardless of where img.Bounds starts: in a sub-image, use
// box.Sub(img.Bounds().Min).
//
// If img is nil or its bounds are empty, Gray returns an empty Image. If the buffer of
// img is too short for its bounds, integrating the result fails with [ErrInvalid].
func Gray(img image.Image) Image[uint8] { return convert[uint8](img, true) }

// Gray16 returns a 16-bit gray version of img, always in new memory. The components of
// 8-bit images are first multiplied by 257, so that 255 becomes 65535. Otherwise it
// behaves like [Gray].
func Gray16(img image.Image) Image[uint16] { return convert[uint16](img, true) }

// Color returns img with interleaved 8-bit channels:
//
//   - *image.Gray and *image.Gray16: one channel.
//   - *image.YCbCr, *image.CMYK and *image.Paletted with an opaque palette:
//     three channels R, G, B.
//   - Everything else: four channels R, G, B, A, as stored by the image: premultiplied
//     in *image.RGBA and not in *image.NRGBA.
//
// The result shares the memory of an *image.Gray, *image.RGBA or *image.NRGBA. All
// other images are converted into new memory; 16-bit components keep their high byte.
// Nil, empty and malformed images are handled as in [Gray].
func Color(img image.Image) Image[uint8] { return convert[uint8](img, false) }

// Color16 is like [Color] with 16-bit channels, always in new memory. 8-bit components
// are multiplied by 257.
func Color16(img image.Image) Image[uint16] { return convert[uint16](img, false) }

// convert converts an image to interleaved form, and that to the result. A palette is
// converted as a separate image, in which the pixels are then looked up.
func convert[P uint8 | uint16](img image.Image, gray bool) Image[P] {
	v := reflect.ValueOf(img)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() || img.Bounds().Empty() {
		return Image[P]{}
	}
	b := img.Bounds()
	if e := raster.PlaneExtent(b.Dx(), b.Dy(), 8, 0); e.CheckSize() != nil { // too many pixels, of any type
		return Image[P]{Width: b.Dx(), Height: b.Dy()}
	}
	if p, ok := img.(*image.Paletted); ok {
		return lookup(p, finish[P](paletteInterleaved(p.Palette), gray))
	}
	return finish[P](interleavedOf(img, gray), gray)
}

// finish converts an interleaved image to one gray channel, or to all of its channels.
func finish[P uint8 | uint16](r interleaved, gray bool) Image[P] {
	scale, shift := uint32(1), uint(8) // of bytes and of words
	if P(0)-1 > 255 {
		scale, shift = 257, 0
	}
	n := r.Channels
	if gray && n > 1 {
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

// rows converts an interleaved image row by row. If src has no pixels, neither has the
// result, and integrating it is an error.
func rows[P Pixel](src interleaved, channels int, row func(y int, dst []P, src []uint8)) Image[P] {
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
