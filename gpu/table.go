package gpu

import (
	"fmt"

	"github.com/boxsum/boxsum"
)

// A Table is summed-area tables on a device, one for each of Count images of
// the same size. Each holds what a [boxsum.Table] does, laid out the same way:
// row 0 and column 0 are zero.
type Table[S boxsum.Sum] struct {
	array
	offset float32 // taken from every pixel
}

// NewTable takes device memory for the tables of count images of this size; zero
// channels stand for one. What they hold is undefined until [IntegrateInto].
func NewTable[S boxsum.Sum](d *Device, width, height, channels, count int) (*Table[S], error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	a, err := d.newArray(elementOf[S](), width, height, channels, count, 1)
	if err != nil {
		return nil, err
	}
	return &Table[S]{array: a}, nil
}

// Offset is what was subtracted from every pixel before summing, see
// [Options.Offset].
func (t *Table[S]) Offset() float32 {
	if t == nil || t.device == nil {
		return 0
	}
	t.device.queue.Lock() // IntegrateInto may be setting it
	defer t.device.queue.Unlock()
	return t.offset
}

// Download copies table i to the host.
func (t *Table[S]) Download(i int) (*boxsum.Table[S], error) {
	if t == nil || t.device == nil {
		return nil, errNoTable
	}
	if err := t.index(i); err != nil {
		return nil, err
	}
	dst, err := boxsum.NewTable[S](t.width, t.height, t.channels)
	if err != nil {
		return nil, err
	}
	if err := t.DownloadInto(i, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// DownloadInto copies table i into dst, which must have its size.
func (t *Table[S]) DownloadInto(i int, dst *boxsum.Table[S]) error {
	if t == nil || t.device == nil {
		return errNoTable
	}
	if err := t.index(i); err != nil {
		return err
	}
	if err := accepts(dst, t.width, t.height, t.channels); err != nil {
		return err
	}
	return t.device.use(func() error {
		if err := t.open(); err != nil {
			return err
		}
		dst.Offset = t.offset
		return t.copyOut(i, hostRows(dst.Sums, dst.Stride))
	})
}

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (t *Table[S]) Close() error {
	if t == nil {
		return nil
	}
	return t.close()
}

// accepts says whether a table of the host can take the sums of an image of
// this size, and fills in what zeros stand for.
func accepts[S boxsum.Sum](t *boxsum.Table[S], width, height, channels int) error {
	if t == nil {
		return fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)
	}
	if t.Channels == 0 {
		t.Channels = 1
	}
	if t.Width != width || t.Height != height || t.Channels != channels {
		return fmt.Errorf("gpu: %w: a table for %d×%d with %d channels cannot take one of %d×%d with %d",
			boxsum.ErrInvalid, t.Width, t.Height, t.Channels, width, height, channels)
	}
	whole := array{element: elementOf[S](), width: width, height: height, channels: channels, count: 1, border: 1}
	if _, err := whole.lay(); err != nil {
		return err
	}
	row := (width + 1) * channels
	if t.Stride == 0 {
		t.Stride = row
	}
	return fits("table", len(t.Sums), t.Stride, row, height+1)
}
