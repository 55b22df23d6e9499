package gpu

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

var errNoHostTable = fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)

// small reports whether kernels can count the rows, columns and slices of something.
func small[T any](e grid.Extent, depth int) error {
	whole := devmem.Array{Element: pairs.Of[T](), Width: e.Width, Height: e.Height, Channels: e.Channels, Count: max(depth, 1)}
	_, err := whole.Lay()
	return err
}

// checkedImage fills in what zeros stand for and reports what is wrong with the
// rest.
func checkedImage[P boxsum.Pixel](im boxsum.Image[P]) (boxsum.Image[P], error) {
	e := grid.Plane(im.Width, im.Height, im.Channels, im.Stride)
	if err := e.Pixels(len(im.Pix)); err != nil {
		return im, err
	}
	im.Channels, im.Stride = e.Channels, e.Stride
	return im, small[P](e, 1)
}

// checkedVolume is checkedImage for a volume.
func checkedVolume[P boxsum.Pixel](v volume.Volume[P]) (volume.Volume[P], error) {
	e := grid.Volume(v.Width, v.Height, v.Depth, v.Channels, v.Stride, v.SliceStride)
	if err := e.Pixels(len(v.Pix)); err != nil {
		return v, err
	}
	v.Channels, v.Stride, v.SliceStride = e.Channels, e.Stride, e.SliceStride
	return v, small[P](e, v.Depth)
}

// accepts reports whether a table of the host can take the sums of an image of
// this size, and fills in what zeros stand for.
func accepts[S boxsum.Sum](t *boxsum.Table[S], width, height, channels int) (err error) {
	if t == nil {
		return errNoHostTable
	}
	t.Channels, t.Stride, err = acceptsRows(t.Sums, grid.Plane(t.Width, t.Height, t.Channels, t.Stride), width, height, channels)
	return err
}

// acceptsTilted is accepts for a tilted table.
func acceptsTilted[S boxsum.Sum](t *tilted.Table[S], width, height, channels int) (err error) {
	if t == nil {
		return errNoHostTable
	}
	t.Channels, t.Stride, err = acceptsRows(t.Sums, grid.Plane(t.Width, t.Height, t.Channels, t.Stride), width, height, channels)
	return err
}

func acceptsRows[S boxsum.Sum](sums []S, e grid.Extent, width, height, channels int) (int, int, error) {
	src := grid.Plane(width, height, channels, 0)
	err := e.Accept(&src, len(sums))
	if err == nil {
		err = small[S](e, 1)
	}
	return e.Channels, e.Stride, err
}

// acceptsVolume is accepts for the table of a volume.
func acceptsVolume[S boxsum.Sum](t *volume.Table[S], width, height, depth, channels int) error {
	if t == nil {
		return errNoHostTable
	}
	e, src := grid.Volume(t.Width, t.Height, t.Depth, t.Channels, t.Stride, t.SliceStride), grid.Volume(width, height, depth, channels, 0, 0)
	err := e.Accept(&src, len(t.Sums))
	t.Channels, t.Stride, t.SliceStride = e.Channels, e.Stride, e.SliceStride
	return err
}

// acceptsCounts is accepts for an integral histogram.
func acceptsCounts(t *histogram.Table[uint32], width, height, channels int) error {
	if t == nil {
		return errNoHostTable
	}
	e, src := grid.Plane(t.Width, t.Height, t.Channels, 0), grid.Plane(width, height, channels, 0)
	if err := e.Same(&src); err != nil {
		return err
	}
	counts := grid.Plane(width, height, channels*t.Bins.N, 0)
	return counts.Sums(len(t.Counts))
}

// countsRow is how many counts a row has.
func countsRow(t *histogram.Table[uint32]) int { return (t.Width + 1) * t.Channels * t.Bins.N }
