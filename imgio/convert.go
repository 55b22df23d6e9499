package imgio

import (
	"encoding/binary"
	"image"
	"image/color"
	"math"

	"github.com/boxsum/boxsum"
)

// convert returns a decoded picture as a boxsum.Image, with the depth of the
// file.
func convert(format string, data []byte, m image.Image, mode ColorMode) any {
	switch format {
	case "webp":
		fullRange(m)
	case "tiff":
		faxPolarity(data, m)
	}
	switch m := m.(type) {
	case *image.Paletted:
		shallowPalette(m.Palette)
	case *image.Gray16, *image.RGBA64, *image.NRGBA64:
		if mode == ToGray {
			return boxsum.Gray16(m)
		}
		return pick(boxsum.Color16(m), channels(format, data))
	}
	if mode == ToGray {
		return boxsum.Gray(m)
	}
	return pick(boxsum.Color(m), channels(format, data))
}

// faxPolarity inverts a fax-coded TIFF that declares black runs to mean white.
// Go's decoder ignores this; libtiff, and so all software that writes such
// files, does not.
func faxPolarity(data []byte, m image.Image) {
	const group3, group4, blackIsZero = 3, 4, 1
	gray, ok := m.(*image.Gray)
	_, compression := tiffTag(data, tiffCompression)
	_, photometric := tiffTag(data, tiffPhotometric)
	if !ok || compression != group3 && compression != group4 || photometric != blackIsZero {
		return
	}
	for i, v := range gray.Pix {
		gray.Pix[i] = 255 - v
	}
}

// shallowPalette reduces TIFF palettes, which store 16 bits, to the 8 bits that
// they are made from.
func shallowPalette(p color.Palette) {
	for i, c := range p {
		if c, ok := c.(color.RGBA64); ok {
			p[i] = color.RGBA{uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8), uint8(c.A >> 8)}
		}
	}
}

// channels returns the number of channels in the file, for formats that Go's
// decoders expand to R, G, B, A.
func channels(format string, data []byte) int {
	switch format {
	case "png":
		if data[25] != pngPalette {
			return int(pngChannels[data[25]])
		}
	case "jpeg":
		return 3
	case "bmp":
		// Only longer headers can declare an alpha channel.
		const plainHeader = 40
		if binary.LittleEndian.Uint32(data[14:]) <= plainHeader || binary.LittleEndian.Uint16(data[28:]) != 32 {
			return 3
		}
	case "tiff":
		if n, _ := tiffTag(data, tiffBitsPerSample); n == 3 {
			return 3
		}
	case "webp":
		// A lossless image declares whether it uses alpha.
		for chunk, at := range map[string]int{"VP8L": 24, "VP8X": 20} {
			if len(data) > at && string(data[12:16]) == chunk && data[at]&0x10 == 0 {
				return 3
			}
		}
	}
	return 4
}

// pick keeps the first n channels of R, G, B, A, in the same memory. Two
// channels are gray and alpha.
func pick[P boxsum.Pixel](im boxsum.Image[P], n int) boxsum.Image[P] {
	if im.Channels != 4 || n == 4 {
		return im
	}
	from := [3]int{0, 1, 2}
	if n == 2 {
		from[1] = 3
	}
	i := 0
	for y := range im.Height {
		row := im.Row(y)
		for x := 0; x < len(row); x += 4 {
			for _, c := range from[:n] {
				im.Pix[i] = row[x+c]
				i++
			}
		}
	}
	im.Pix, im.Stride, im.Channels = im.Pix[:i:i], im.Width*n, n
	return im
}

// fullRange stretches the components of lossy WebP, 16…235 and 16…240, to the
// 0…255 that Go expects of YCbCr.
func fullRange(m image.Image) {
	var p *image.YCbCr
	switch m := m.(type) {
	case *image.YCbCr:
		p = m
	case *image.NYCbCrA:
		p = &m.YCbCr
	default:
		return
	}
	stretch(p.Y, 16, 0, 219)
	stretch(p.Cb, 128, 128, 224)
	stretch(p.Cr, 128, 128, 224)
}

// stretch maps each value v to zero + (v-middle)·255/span, rounded.
func stretch(plane []uint8, middle, zero, span int) {
	var table [256]uint8
	for v := range table {
		table[v] = uint8(min(max(float64(zero)+math.Floor(float64((v-middle)*510+span)/float64(2*span)), 0), 255))
	}
	for i, v := range plane {
		plane[i] = table[v]
	}
}
