package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

var errNoHostTable = raster.Invalid("nil table")

// checkSize returns an error if there are too many rows, columns or slices for the
// kernels.
func checkSize[T any](e raster.Extent, depth int) error {
	whole := devmem.Array{Element: raster.TypeNamed[T](), Width: e.Width, Height: e.Height, Channels: e.Channels, Count: max(depth, 1)}
	_, err := whole.Layout()
	return err
}

// checkedImage fills in defaults for zeros and validates the image.
func checkedImage[P boxsum.Pixel](im boxsum.Image[P]) (boxsum.Image[P], error) {
	e := raster.PlaneExtent(im.Width, im.Height, im.Channels, im.Stride)
	if err := e.Pixels(len(im.Pix)); err != nil {
		return im, err
	}
	im.Channels, im.Stride = e.Channels, e.Stride
	return im, checkSize[P](e, 1)
}

// checkedVolume is like checkedImage for a volume.
func checkedVolume[P boxsum.Pixel](v volume.Volume[P]) (volume.Volume[P], error) {
	e := raster.VolumeExtent(v.Width, v.Height, v.Depth, v.Channels, v.Stride, v.SliceStride)
	if err := e.Pixels(len(v.Pix)); err != nil {
		return v, err
	}
	v.Channels, v.Stride, v.SliceStride = e.Channels, e.Stride, e.SliceStride
	return v, checkSize[P](e, v.Depth)
}

// A hostTable checks that a table on the host can hold the sums of an image or a
// volume, fills in its defaults, and returns where the sums go.
type hostTable func(src raster.Extent) (transfer.Side, error)

func planeSide[S boxsum.Sum](t *boxsum.Table[S]) hostTable {
	return func(src raster.Extent) (transfer.Side, error) {
		if t == nil {
			return transfer.Side{}, errNoHostTable
		}
		return rowsSide(src, t.Sums, t.Width, t.Height, &t.Channels, &t.Stride)
	}
}

func tiltedSide[S boxsum.Sum](t *tilted.Table[S]) hostTable {
	return func(src raster.Extent) (transfer.Side, error) {
		if t == nil {
			return transfer.Side{}, errNoHostTable
		}
		return rowsSide(src, t.Sums, t.Width, t.Height, &t.Channels, &t.Stride)
	}
}

func rowsSide[S boxsum.Sum](src raster.Extent, sums []S, width, height int, channels, stride *int) (transfer.Side, error) {
	e := raster.PlaneExtent(width, height, *channels, *stride)
	err := e.Accept(&src, len(sums))
	*channels, *stride = e.Channels, e.Stride
	return transfer.Rows(devmem.HostRows(sums, e.Stride)), err
}

func volumeSide[S boxsum.Sum](t *volume.Table[S]) hostTable {
	return func(src raster.Extent) (transfer.Side, error) {
		if t == nil {
			return transfer.Side{}, errNoHostTable
		}
		e := raster.VolumeExtent(t.Width, t.Height, t.Depth, t.Channels, t.Stride, t.SliceStride)
		err := e.Accept(&src, len(t.Sums))
		t.Channels, t.Stride, t.SliceStride = e.Channels, e.Stride, e.SliceStride
		return sliceSide(t.Sums, t.Stride, t.SliceStride), err
	}
}

// takeSides makes work write to tables on the host. Without squares, it ignores
// theirs.
func takeSides(w *transfer.Work, tables ...hostTable) (err error) {
	for i, side := range tables {
		if i == 1 && w.Job.Square == 0 {
			break
		}
		if w.Sides[i+1], err = side(extent(w.Volume, w.Job.Width, w.Job.Height, w.Units, w.Job.Channels)); err != nil {
			return err
		}
	}
	return w.Check()
}

// extent returns the extent of an image or, if solid is set, of a volume.
func extent(solid bool, width, height, depth, channels int) raster.Extent {
	if solid {
		return raster.VolumeExtent(width, height, depth, channels, 0, 0)
	}
	return raster.PlaneExtent(width, height, channels, 0)
}

// download copies element i of an array, or all slices of a volume, into a table on
// the host. It calls fill to copy once everything has been checked.
func download(a *devmem.Array, i int, dst hostTable, fill func(copyOut func() error) error) error {
	if err := numbered(a, i); err != nil {
		return err
	}
	side, err := dst(extent(a.Volume, a.Width, a.Height, a.Depth, a.Channels))
	if err != nil {
		return err
	}
	return using(a, func() error {
		return fill(func() error { return copyOut(a, i, side) })
	})
}

// copyOut copies element i of an array, or all slices of a volume, to the host.
func copyOut(a *devmem.Array, i int, side transfer.Side) error {
	if !a.Volume {
		return a.CopyOut(i, side.At)
	}
	for z := range a.Depth + 1 {
		if err := a.CopyOut(z, side.From(z)); err != nil {
			return err
		}
	}
	return nil
}

// acceptsCounts checks that an integral histogram has the given size.
func acceptsCounts(t *histogram.Table[uint32], width, height, channels int) error {
	if t == nil {
		return errNoHostTable
	}
	e, src := raster.PlaneExtent(t.Width, t.Height, t.Channels, 0), raster.PlaneExtent(width, height, channels, 0)
	if err := e.Same(&src); err != nil {
		return err
	}
	counts := raster.PlaneExtent(width, height, channels*t.Bins.N, 0)
	return counts.Sums(len(t.Counts))
}

// countsRow returns the number of counts in a row.
func countsRow(t *histogram.Table[uint32]) int { return (t.Width + 1) * t.Channels * t.Bins.N }
