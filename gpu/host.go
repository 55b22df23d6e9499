package gpu

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

var errNoHostTable = fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)

// checkedImage fills in what zeros stand for and reports what is wrong with the
// rest.
func checkedImage[P boxsum.Pixel](im boxsum.Image[P]) (boxsum.Image[P], error) {
	if im.Channels == 0 {
		im.Channels = 1
	}
	whole := devmem.Array{Element: pairs.Of[P](), Width: im.Width, Height: im.Height, Channels: im.Channels, Count: 1}
	if _, err := whole.Lay(); err != nil {
		return im, err
	}
	row := im.Width * im.Channels
	if im.Stride == 0 {
		im.Stride = row
	}
	return im, fits("image", len(im.Pix), im.Stride, row, im.Height)
}

// checkedVolume is checkedImage for a volume.
func checkedVolume[P boxsum.Pixel](v volume.Volume[P]) (volume.Volume[P], error) {
	slice, err := checkedImage(boxsum.Image[P]{Stride: v.Stride, Width: v.Width, Channels: v.Channels})
	if err != nil {
		return v, err
	}
	v.Stride, v.Channels = slice.Stride, slice.Channels
	if v.Height < 0 || v.Depth < 0 || v.Height > math.MaxInt32-2 || v.Depth > math.MaxInt32-2 {
		return v, fmt.Errorf("gpu: %w: a volume of %d×%d×%d: its sides must not be negative, and below 2^31", boxsum.ErrInvalid, v.Width, v.Height, v.Depth)
	}
	if v.SliceStride == 0 {
		v.SliceStride = v.Height * v.Stride
	}
	return v, fitsSlices("volume", len(v.Pix), v.Stride, v.SliceStride, v.Width*v.Channels, v.Height, v.Depth)
}

// fits reports whether rows of row elements, stride apart, lie in have elements.
func fits(what string, have, stride, row, rows int) error {
	if stride < 0 || rows > 1 && stride < row {
		return fmt.Errorf("gpu: %w: %s stride %d is shorter than a row of %d", boxsum.ErrInvalid, what, stride, row)
	}
	if rows == 0 || row == 0 {
		return nil
	}
	need, ok := devmem.Product(int64(rows-1), int64(stride))
	if !ok || int64(have) < need || int64(have)-need < int64(row) {
		return fmt.Errorf("gpu: %w: %s of %d rows of %d elements, %d apart, does not fit its buffer of %d",
			boxsum.ErrInvalid, what, rows, row, stride, have)
	}
	return nil
}

// fitsSlices reports whether slices of rows lie in have elements.
func fitsSlices(what string, have, stride, sliceStride, row, rows, slices int) error {
	if slices == 0 || rows == 0 || row == 0 {
		return nil
	}
	if err := fits(what, have, stride, row, rows); err != nil {
		return err
	}
	return fits("slices of the "+what+", a slice as a row,", have, sliceStride, (rows-1)*stride+row, slices)
}

// accepts reports whether a table of the host can take the sums of an image of
// this size, and fills in what zeros stand for.
func accepts[S boxsum.Sum](t *boxsum.Table[S], width, height, channels int) error {
	if t == nil {
		return errNoHostTable
	}
	if t.Channels == 0 {
		t.Channels = 1
	}
	if t.Width != width || t.Height != height || t.Channels != channels {
		return fmt.Errorf("gpu: %w: a table for %d×%d with %d channels cannot take one of %d×%d with %d",
			boxsum.ErrInvalid, t.Width, t.Height, t.Channels, width, height, channels)
	}
	whole := devmem.Array{Element: pairs.Of[S](), Width: width, Height: height, Channels: channels, Count: 1, Border: 1}
	if _, err := whole.Lay(); err != nil {
		return err
	}
	row := (width + 1) * channels
	if t.Stride == 0 {
		t.Stride = row
	}
	return fits("table", len(t.Sums), t.Stride, row, height+1)
}

// acceptsTilted is accepts for a tilted table.
func acceptsTilted[S boxsum.Sum](t *tilted.Table[S], width, height, channels int) error {
	if t == nil {
		return errNoHostTable
	}
	like := boxsum.Table[S]{Sums: t.Sums, Stride: t.Stride, Width: t.Width, Height: t.Height, Channels: t.Channels}
	err := accepts(&like, width, height, channels)
	t.Stride, t.Channels = like.Stride, like.Channels
	return err
}

// acceptsVolume is accepts for the table of a volume.
func acceptsVolume[S boxsum.Sum](t *volume.Table[S], width, height, depth, channels int) error {
	if t == nil {
		return errNoHostTable
	}
	if t.Channels == 0 {
		t.Channels = 1
	}
	if t.Width != width || t.Height != height || t.Depth != depth || t.Channels != channels {
		return fmt.Errorf("gpu: %w: a table for %d×%d×%d with %d channels cannot take one of %d×%d×%d with %d",
			boxsum.ErrInvalid, t.Width, t.Height, t.Depth, t.Channels, width, height, depth, channels)
	}
	row := (width + 1) * channels
	if t.Stride == 0 {
		t.Stride = row
	}
	if t.SliceStride == 0 {
		t.SliceStride = (height + 1) * t.Stride
	}
	return fitsSlices("table", len(t.Sums), t.Stride, t.SliceStride, row, height+1, depth+1)
}

// acceptsCounts is accepts for an integral histogram.
func acceptsCounts(t *histogram.Table[uint32], width, height, channels int) error {
	if t == nil {
		return errNoHostTable
	}
	if t.Width != width || t.Height != height || t.Channels != channels {
		return fmt.Errorf("gpu: %w: a histogram for %d×%d with %d channels cannot take an image of %d×%d with %d",
			boxsum.ErrInvalid, t.Width, t.Height, t.Channels, width, height, channels)
	}
	return fits("histogram", len(t.Counts), countsRow(t), countsRow(t), height+1)
}

// countsRow is how many counts a row has.
func countsRow(t *histogram.Table[uint32]) int { return (t.Width + 1) * t.Channels * t.Bins.N }
