package imgio

import (
	"image"
	"image/color"
	"io"

	"github.com/boxsum/boxsum/internal/raster"
)

// A bilevel image, such as a threshold.Bitmap, has one bit per pixel: 1 is black,
// the first of eight pixels is the highest bit of its byte, and Row returns the
// bytes of a row.
type bilevel interface {
	image.PalettedImage
	Row(y int) []byte
}

// blackAndWhite is the palette of bilevel images.
var blackAndWhite = color.Palette{color.White, color.Black}

// bilevelOf returns img as a bilevel image, or nil if it is none or has no
// pixels.
func bilevelOf(img any) (bilevel, error) {
	b, ok := img.(bilevel)
	if !ok || b.Bounds().Empty() {
		return nil, nil
	}
	palette, ok := b.ColorModel().(color.Palette)
	if !ok || len(palette) != 2 || !sameColor(palette[0], color.White) || !sameColor(palette[1], color.Black) {
		return nil, nil
	}
	size := b.Bounds().Size()
	for _, y := range []int{0, size.Y - 1} {
		if n, want := len(b.Row(y)), (size.X+7)/8; n != want {
			return nil, raster.Invalid("row %d of a bitmap of %d×%d has %d bytes, want %d", y, size.X, size.Y, n, want)
		}
	}
	return b, nil
}

func sameColor(a, b color.Color) bool {
	return color.NRGBA64Model.Convert(a) == color.NRGBA64Model.Convert(b)
}

// packedBits is a bilevel image in memory.
type packedBits struct {
	data                  []byte
	stride, width, height int
}

func (b *packedBits) Row(y int) []byte        { return b.data[y*b.stride:][:(b.width+7)/8] }
func (b *packedBits) Bounds() image.Rectangle { return image.Rect(0, 0, b.width, b.height) }
func (b *packedBits) ColorModel() color.Model { return blackAndWhite }
func (b *packedBits) At(x, y int) color.Color { return blackAndWhite[b.ColorIndexAt(x, y)] }
func (b *packedBits) ColorIndexAt(x, y int) uint8 {
	if !image.Pt(x, y).In(b.Bounds()) {
		return 0
	}
	return b.data[y*b.stride+x/8] >> (7 - x%8) & 1
}

// packed returns an image of black and white, 0 and the greatest value, as bits.
func packed(p *raster.Array) (bilevel, error) {
	white := map[raster.Type]uint32{raster.U8: 0xff, raster.U16: 0xffff}[p.Type]
	if white == 0 || p.Channels != 1 {
		return nil, raster.Unsupported("image has pixels of %v with %d channels, want 1 channel of uint8 or uint16 in black and white for PBM", p.Type, p.Channels)
	}
	n := (p.Width + 7) / 8
	b := &packedBits{make([]byte, n*p.Height), n, p.Width, p.Height}
	for y := range p.Height {
		row, to := p.Row(y), b.Row(y)
		for x := range p.Width {
			var v uint32
			if p.Type == raster.U8 {
				v = uint32(row[x])
			} else {
				v = uint32(raster.Elems[uint16](row)[x])
			}
			switch v {
			case 0:
				to[x/8] |= 0x80 >> (x % 8)
			case white:
			default:
				return nil, raster.Unsupported("the pixel at (%d, %d) is %d, want 0 or %d in a PBM file", x, y, v, white)
			}
		}
	}
	return b, nil
}

// palettedBits returns a bilevel image with a byte per pixel.
func palettedBits(b bilevel) *image.Paletted {
	bounds := b.Bounds()
	m := image.NewPaletted(image.Rect(0, 0, bounds.Dx(), bounds.Dy()), blackAndWhite)
	for y := range m.Rect.Dy() {
		zerosAndOnes(m.Pix[y*m.Stride:][:m.Stride], b.Row(y))
	}
	return m
}

// EncodeBits writes an image with one bit per pixel, where 1 is black, in the
// format "png", "gif" (with a palette), "tiff" (with group 4 compression) or
// "pbm". Each byte holds eight pixels, the first in its highest bit, and rows
// start stride bytes apart.
func EncodeBits(w io.Writer, format string, data []byte, stride, width, height int) error {
	n := (width + 7) / 8
	if width <= 0 || height <= 0 || stride < n || (len(data)-n)/stride < height-1 || len(data) < n {
		return raster.Invalid("bitmap has %d bytes in rows of %d, too few for %d×%d bits", len(data), stride, width, height)
	}
	switch format {
	case "png", "tiff", "pbm", "gif":
		return Encode(w, format, &packedBits{data, stride, width, height})
	}
	return raster.Invalid("unknown format %.40q for a bitmap, want png, tiff, pbm or gif", format)
}

// zerosAndOnes expands bits to bytes of 0 and 1.
func zerosAndOnes(dst, src []byte) {
	for x := range dst {
		dst[x] = src[x/8] >> (7 - x%8) & 1
	}
}
