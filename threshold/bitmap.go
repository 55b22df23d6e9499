package threshold

import (
	"image"
	"image/color"

	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/window"
)

// A Bitmap is an image of one bit a pixel, eight of them in a byte, the first in the
// highest bit: 1 is black, as in PBM files and in fax encodings. Rows start at a byte.
type Bitmap struct {
	Bits          []byte
	Stride        int // bytes from one row to the next; zero stands for rows without a gap
	Width, Height int
}

// NewBitmap allocates a white one.
func NewBitmap(width, height int) (Bitmap, error) {
	stride := (width + 7) / 8
	all, _, err := grid.NewPixels[byte](grid.Plane(stride, height, 1, 0))
	if width < 0 {
		err = grid.Invalid("a bitmap of %d×%d", width, height)
	}
	if err != nil {
		return Bitmap{}, err
	}
	return Bitmap{Bits: all, Stride: stride, Width: width, Height: height}, nil
}

// checked is where the bits are, if they can be.
func (b *Bitmap) checked() (t window.Pixels, err error) {
	if b.Width < 0 {
		return t, grid.Invalid("a bitmap of %d×%d", b.Width, b.Height)
	}
	t = window.PixelsOf(b.Bits, (b.Width+7)/8, b.Height, 1, b.Stride)
	return t, t.Check()
}

// Black reports whether a pixel is; pixels that are not there are not.
func (b Bitmap) Black(x, y int) bool {
	t, err := b.checked()
	if err != nil || uint(x) >= uint(b.Width) || uint(y) >= uint(b.Height) {
		return false
	}
	return t.Mem[y*t.Stride+x/8]>>(7-x&7)&1 != 0
}

// ColorModel, Bounds and At make it an [image.Image].
func (b Bitmap) ColorModel() color.Model { return color.GrayModel }

// Bounds are from (0, 0) on.
func (b Bitmap) Bounds() image.Rectangle { return image.Rect(0, 0, max(0, b.Width), max(0, b.Height)) }

// At is black or white.
func (b Bitmap) At(x, y int) color.Color {
	if b.Black(x, y) {
		return color.Gray{}
	}
	return color.Gray{Y: 255}
}
