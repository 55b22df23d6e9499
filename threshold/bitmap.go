package threshold

import (
	"image"
	"image/color"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Bitmap is an image with one bit per pixel, as in PBM files and fax encodings: 1 is
// black, and the first of eight pixels is the highest bit of its byte. Each row starts at a
// new byte.
type Bitmap struct {
	Bits          []byte
	Stride        int // bytes from one row to the next; 0 means rows without gaps
	Width, Height int
}

// NewBitmap returns a white bitmap. It returns an error that wraps [boxsum.ErrInvalid] if a
// side is negative, and one that wraps [boxsum.ErrMemory] if there is not enough memory.
func NewBitmap(width, height int) (Bitmap, error) {
	stride := (width + 7) / 8
	all, _, err := raster.NewPixels[byte](raster.PlaneExtent(stride, height, 1, 0))
	if width < 0 {
		err = raster.Invalid("bitmap is %d×%d, want sides of 0 or more", width, height)
	}
	if err != nil {
		return Bitmap{}, err
	}
	return Bitmap{Bits: all, Stride: stride, Width: width, Height: height}, nil
}

// array returns the bytes of the bitmap, or an error if its fields are inconsistent.
func (b *Bitmap) array() (a raster.Array, err error) {
	if b.Width < 0 {
		return a, raster.Invalid("bitmap is %d×%d, want sides of 0 or more", b.Width, b.Height)
	}
	a = raster.ArrayOf(b.Bits, raster.PlaneExtent((b.Width+7)/8, b.Height, 1, b.Stride))
	return a, a.Check()
}

// Black reports whether the pixel at (x, y) is black. It returns false outside the image.
func (b Bitmap) Black(x, y int) bool {
	a, err := b.array()
	if err != nil || uint(x) >= uint(b.Width) || uint(y) >= uint(b.Height) {
		return false
	}
	return a.Data[y*a.Stride+x/8]>>(7-x&7)&1 != 0
}

// Row returns the bytes of row y, eight pixels each, or nil if y is out of range or the
// bitmap is invalid.
func (b Bitmap) Row(y int) []byte {
	a, err := b.array()
	if err != nil || uint(y) >= uint(b.Height) {
		return nil
	}
	return a.Span(0, y, a.Width)
}

var palette = color.Palette{color.Gray{Y: 255}, color.Gray{}}

// ColorModel returns a palette of white and black, in this order.
func (b Bitmap) ColorModel() color.Model { return palette }

// Bounds returns the bitmap's rectangle, which starts at (0, 0).
func (b Bitmap) Bounds() image.Rectangle { return image.Rect(0, 0, max(0, b.Width), max(0, b.Height)) }

// At returns the color of the pixel at (x, y), black or white. Pixels outside the bitmap
// are white.
func (b Bitmap) At(x, y int) color.Color { return palette[b.ColorIndexAt(x, y)] }

// ColorIndexAt returns 1 if the pixel at (x, y) is black, and 0 otherwise, which makes a
// Bitmap an [image.PalettedImage]: image/png writes it with one bit per pixel.
func (b Bitmap) ColorIndexAt(x, y int) uint8 {
	if b.Black(x, y) {
		return 1
	}
	return 0
}
