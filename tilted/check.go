package tilted

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// maxElements keeps every byte offset of the widest element inside an int.
const maxElements = math.MaxInt / 32

// checked fills in the defaults of an image and says what is wrong with the
// rest.
func checked[P boxsum.Pixel](img boxsum.Image[P]) (boxsum.Image[P], error) {
	if img.Channels == 0 {
		img.Channels = 1
	}
	if err := size(img.Width, img.Height, img.Channels); err != nil {
		return img, err
	}
	if img.Stride == 0 {
		img.Stride = img.Width * img.Channels
	}
	return img, fits("image", len(img.Pix), img.Stride, img.Width*img.Channels, img.Height)
}

// accepts fills in the defaults of a table and says whether it can take the
// sums of an image of this size.
func (t *Table[S]) accepts(width, height, channels int) error {
	if t == nil {
		return fmt.Errorf("tilted: %w: no table", boxsum.ErrInvalid)
	}
	if t.Channels == 0 {
		t.Channels = 1
	}
	if t.Width != width || t.Height != height || t.Channels != channels {
		return fmt.Errorf("tilted: %w: a table for %d×%d with %d channels cannot take an image of %d×%d with %d",
			boxsum.ErrInvalid, t.Width, t.Height, t.Channels, width, height, channels)
	}
	if t.Stride == 0 {
		t.Stride = (width + 1) * channels
	}
	return t.check()
}

// check says what is wrong with a table.
func (t *Table[S]) check() error {
	if err := size(t.Width, t.Height, t.Channels); err != nil {
		return err
	}
	return fits("table", len(t.Sums), t.Stride, (t.Width+1)*t.Channels, t.Height+1)
}

// size says whether a table of an image of this size has a number of entries.
func size(width, height, channels int) error {
	if width < 0 || height < 0 || channels < 1 {
		return fmt.Errorf("tilted: %w: %d×%d pixels of %d channels: none may be negative", boxsum.ErrInvalid, width, height, channels)
	}
	if width >= maxElements/channels || (width+1)*channels > maxElements/(min(height, maxElements)+1) {
		return fmt.Errorf("tilted: %w: %d×%d with %d channels is more than memory can hold", boxsum.ErrInvalid, width, height, channels)
	}
	return nil
}

// fits says whether rows of row elements, stride apart, fit in have elements.
func fits(what string, have, stride, row, rows int) error {
	switch {
	case stride < 0 || rows > 1 && stride < row:
		return fmt.Errorf("tilted: %w: %s stride %d is shorter than a row of %d", boxsum.ErrInvalid, what, stride, row)
	case rows == 0 || row == 0:
		return nil
	case have < row || rows > 1 && (have-row)/(rows-1) < stride: // divided, for the product may be more than an int
		return fmt.Errorf("tilted: %w: %s of %d rows of %d, %d apart, does not fit in a buffer of %d elements", boxsum.ErrInvalid, what, rows, row, stride, have)
	}
	return nil
}

// apart says whether two buffers share no memory.
func apart[A, B any](a []A, b []B) error {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	a1, b1 := a0+uintptr(len(a))*unsafe.Sizeof(a[0]), b0+uintptr(len(b))*unsafe.Sizeof(b[0])
	if a0 < b1 && b0 < a1 {
		return fmt.Errorf("tilted: %w: a table may not lie in the memory of its image or of another table", boxsum.ErrInvalid)
	}
	return nil
}
