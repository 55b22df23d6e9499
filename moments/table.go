package moments

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/moment"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Table holds the sums of x^p·y^q·I for p+q ≤ 3, from which the moments of any box
// follow. Use [NewTable] or [Integrate] to make one. Its fields are read-only. It is
// safe for concurrent use as long as no goroutine integrates into it.
type Table struct {
	Width, Height int // size of the image in pixels
	Channels      int

	sums *moment.Table
}

// Bytes returns the number of bytes in the table of an image with the given size and
// pixel type. Zero channels means one.
func Bytes[P boxsum.Pixel](width, height, channels int) (int64, error) {
	return moment.Bytes(raster.TypeOf[P](), width, height, channels)
}

// NewTable allocates a table for images of the given size and pixel type. Zero channels
// means one. It returns an error that wraps [boxsum.ErrMemory] if there is not enough
// memory; [Bytes] returns the size in advance.
func NewTable[P boxsum.Pixel](width, height, channels int) (*Table, error) {
	t, err := moment.New(raster.TypeOf[P](), width, height, channels)
	if err != nil {
		return nil, err
	}
	return tableOf(t), nil
}

func tableOf(t *moment.Table) *Table {
	return &Table{Width: t.Width, Height: t.Height, Channels: t.Channels, sums: t}
}

// Bounds returns image.Rect(0, 0, Width, Height).
func (t *Table) Bounds() image.Rectangle {
	if t == nil {
		return image.Rectangle{}
	}
	return image.Rect(0, 0, t.Width, t.Height)
}
