package gpu

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/tilted"
)

// A TiltedTable is tilted tables on a device, one for each of Count images of the
// same size, in the layout of OpenCV: entry (x, y) is the sum of the cone of
// pixels above (x−1, y−1), that is of all (x', y') with
//
//	|x' − (x−1)| ≤ (y−1) − y'
//
// Row 0 is zero. Column 0 is not: cones whose tip is left of the image reach
// into it.
type TiltedTable[S boxsum.Sum] struct{ array devmem.Array }

// NewTiltedTable takes device memory for the tilted tables of count images of
// this size; zero channels stand for one. What they hold is undefined until
// [IntegrateTiltedInto].
func NewTiltedTable[S boxsum.Sum](d *Device, width, height, channels, count int) (*TiltedTable[S], error) {
	return tiltedOver(NewTable[S](d, width, height, channels, count))
}

// tiltedOver is a tilted table in the memory of another one.
func tiltedOver[S boxsum.Sum](t *Table[S], err error) (*TiltedTable[S], error) {
	if err != nil {
		return nil, err
	}
	return &TiltedTable[S]{t.array}, nil
}

// noTiltedOffset is why tilted and rotated tables have no offset.
const noTiltedOffset = "tilted and rotated tables take no offset: sum in float64 instead"

// IntegrateTilted makes the tilted tables of images, on their device:
//
//	tables, err := gpu.IntegrateTilted[uint32](images, nil)
//
// The pairs of pixel and sum types are those of [boxsum.Integrate]. Tilted tables
// take no offset, and there is one way to make them: [Fast] is an error.
func IntegrateTilted[S boxsum.Sum, P boxsum.Pixel](src *Image[P], opt *Options) (*TiltedTable[S], error) {
	return filled(pairError[S, P](), func() (*TiltedTable[S], error) { return tiltedOver(tableOf[S](src.inner())) },
		func(t *TiltedTable[S]) error { return IntegrateTiltedInto(t, src, opt) })
}

// IntegrateTiltedInto makes the tilted tables of images in dst, which must be on
// the same device and for as many images of the same size. It returns when the
// work is queued.
func IntegrateTiltedInto[S boxsum.Sum, P boxsum.Pixel](dst *TiltedTable[S], src *Image[P], opt *Options) error {
	return tables{method: method.Tilted{}, sums: dst.inner(), noOffset: noTiltedOffset}.integrate(src.inner(), opt)
}

// IntegrateTiltedHost makes the tilted table of an image on a device, from host
// memory to host memory. Both must fit the device.
func IntegrateTiltedHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*tilted.Table[S], error) {
	_, wrong := tiltedWork(&src, pairs.Of[S](), 0, opt)
	return hosted(d, wrong, func() (*tilted.Table[S], error) { return tilted.NewTable[S](src.Width, src.Height, src.Channels) },
		func(t *tilted.Table[S]) error { return IntegrateTiltedHostInto(d, t, src, opt) })
}

// IntegrateTiltedHostInto is [IntegrateTiltedHost] into a table that there is, which
// may not lie in the memory of the image.
func IntegrateTiltedHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *tilted.Table[S], src boxsum.Image[P], opt *Options) error {
	w, err := tiltedWork(&src, pairs.Of[S](), 0, opt)
	if err != nil {
		return err
	}
	if err := tiltedSides(w, dst, dst); err != nil {
		return err
	}
	return whole(d, src, opt, func(im *Image[P]) (*TiltedTable[S], error) { return IntegrateTilted[S](im, opt) },
		func(t *TiltedTable[S]) error { return t.DownloadInto(0, dst) })
}

// tiltedWork checks an image, types and options.
func tiltedWork[P boxsum.Pixel](src *boxsum.Image[P], sum, square pairs.Type, opt *Options) (*transfer.Work, error) {
	if err := method.PairError(pairs.Of[P](), sum, square); err != nil {
		return nil, err
	}
	checked, err := checkedImage(*src)
	if err != nil {
		return nil, err
	}
	*src = checked
	return imageWork(method.Tilted{}, checked, sum, square, opt, noTiltedOffset)
}

// tiltedSides checks the tables of the host; without squares they are not looked at.
func tiltedSides[S boxsum.Sum, Q boxsum.Sum](w *transfer.Work, sums *tilted.Table[S], squares *tilted.Table[Q]) error {
	if err := acceptsTilted(sums, w.Job.Width, w.Job.Height, w.Job.Channels); err != nil {
		return err
	}
	w.Sides[1] = transfer.Rows(devmem.HostRows(sums.Sums, sums.Stride))
	if w.Job.Square != 0 {
		if err := acceptsTilted(squares, w.Job.Width, w.Job.Height, w.Job.Channels); err != nil {
			return err
		}
		w.Sides[2] = transfer.Rows(devmem.HostRows(squares.Sums, squares.Stride))
	}
	return w.Check()
}

// SumBoxes writes the sums of all channels over every box from table i: channel c
// of boxes[b] is dst[b*Channels+c]. A box with a corner outside of the table is
// an error, and nothing is written.
func (t *TiltedTable[S]) SumBoxes(i int, dst []S, boxes []tilted.Box) error {
	a := t.inner()
	if a.Device == nil {
		return errNoTable
	}
	if err := a.Index(i); err != nil {
		return err
	}
	bounds := tilted.Table[S]{Width: a.Width, Height: a.Height}
	for n, box := range boxes {
		if !bounds.Contains(box) {
			return fmt.Errorf("gpu: %w: box %d, %+v, has a corner outside of %s", boxsum.ErrInvalid, n, box, a)
		}
	}
	return method.SumBoxes(a, dst, len(boxes), func(n int) [4]int32 {
		box := boxes[n]
		return [4]int32{int32(box.X), int32(box.Y), int32(box.W), int32(box.H)}
	}, method.TiltedBoxes(a, i))
}

// Download copies table i to the host.
func (t *TiltedTable[S]) Download(i int) (*tilted.Table[S], error) {
	a := t.inner()
	return fetched(a, i, func() (*tilted.Table[S], error) { return tilted.NewTable[S](a.Width, a.Height, a.Channels) },
		func(dst *tilted.Table[S]) error { return t.DownloadInto(i, dst) })
}

// DownloadInto copies table i into dst, which must have its size.
func (t *TiltedTable[S]) DownloadInto(i int, dst *tilted.Table[S]) error {
	a := t.inner()
	if a.Device == nil {
		return errNoTable
	}
	if err := a.Index(i); err != nil {
		return err
	}
	if err := acceptsTilted(dst, a.Width, a.Height, a.Channels); err != nil {
		return err
	}
	return using(a, func() error { return a.CopyOut(i, devmem.HostRows(dst.Sums, dst.Stride)) })
}

// inner is the array inside, an empty one of no table.
func (t *TiltedTable[S]) inner() *devmem.Array {
	if t == nil {
		return &devmem.Array{}
	}
	return &t.array
}

// Width is that of the images, in pixels.
func (t *TiltedTable[S]) Width() int { return t.inner().Width }

// Height is that of the images, in pixels.
func (t *TiltedTable[S]) Height() int { return t.inner().Height }

// Channels is how many values a pixel has.
func (t *TiltedTable[S]) Channels() int { return t.inner().Channels }

// Count is how many tables there are.
func (t *TiltedTable[S]) Count() int { return t.inner().Count }

// String tells what it is.
func (t *TiltedTable[S]) String() string { return t.inner().String() }

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (t *TiltedTable[S]) Close() error { return t.inner().Close() }

// Inner is for packages of this module: nobody else can make a key.
func (t *TiltedTable[S]) Inner(launch.Key) *devmem.Array { return &t.array }

// A SquaredTiltedTable is the tilted tables of images beside those of their squares.
type SquaredTiltedTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *TiltedTable[S]
	Squares *TiltedTable[Q]
}

// NewSquaredTiltedTable takes device memory for both tables of count images of this size.
func NewSquaredTiltedTable[S boxsum.Sum, Q boxsum.Square](d *Device, width, height, channels, count int) (*SquaredTiltedTable[S, Q], error) {
	sum, squares, err := both(func() (*TiltedTable[S], error) { return NewTiltedTable[S](d, width, height, channels, count) },
		func() (*TiltedTable[Q], error) { return NewTiltedTable[Q](d, width, height, channels, count) })
	if err != nil {
		return nil, err
	}
	return &SquaredTiltedTable[S, Q]{sum, squares}, nil
}

// IntegrateTiltedSquares makes the tilted tables of images and those of their squares,
// with the types of [boxsum.IntegrateSquares].
func IntegrateTiltedSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Image[P], opt *Options) (*SquaredTiltedTable[S, Q], error) {
	return filled(squaresError[S, Q, P](), func() (*SquaredTiltedTable[S, Q], error) {
		sum, squares, err := both(func() (*TiltedTable[S], error) { return tiltedOver(tableOf[S](src.inner())) },
			func() (*TiltedTable[Q], error) { return tiltedOver(tableOf[Q](src.inner())) })
		return &SquaredTiltedTable[S, Q]{sum, squares}, err
	}, func(t *SquaredTiltedTable[S, Q]) error { return IntegrateTiltedSquaresInto(t, src, opt) })
}

// IntegrateTiltedSquaresInto makes both tables of images in dst, as [IntegrateTiltedInto]
// does one.
func IntegrateTiltedSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTiltedTable[S, Q], src *Image[P], opt *Options) error {
	if dst == nil {
		return errNoTable
	}
	return tables{method: method.Tilted{}, sums: dst.Sum.inner(), squares: dst.Squares.inner(), noOffset: noTiltedOffset}.integrate(src.inner(), opt)
}

// IntegrateTiltedSquaresHost is [IntegrateTiltedHost] for the table of an image and that
// of its squares.
func IntegrateTiltedSquaresHost[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*tilted.SquaredTable[S, Q], error) {
	_, wrong := tiltedWork(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	return hosted(d, wrong, func() (*tilted.SquaredTable[S, Q], error) {
		return tilted.NewSquaredTable[S, Q](src.Width, src.Height, src.Channels)
	}, func(t *tilted.SquaredTable[S, Q]) error { return IntegrateTiltedSquaresHostInto(d, t, src, opt) })
}

// IntegrateTiltedSquaresHostInto is [IntegrateTiltedSquaresHost] into tables that are
// already there, each in memory of its own.
func IntegrateTiltedSquaresHostInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, dst *tilted.SquaredTable[S, Q], src boxsum.Image[P], opt *Options) error {
	w, err := tiltedWork(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	if err != nil {
		return err
	}
	if dst == nil {
		return errNoHostTable
	}
	if err := tiltedSides(w, dst.Sum, dst.Squares); err != nil {
		return err
	}
	return whole(d, src, opt, func(im *Image[P]) (*SquaredTiltedTable[S, Q], error) { return IntegrateTiltedSquares[S, Q](im, opt) },
		func(t *SquaredTiltedTable[S, Q]) error { return t.downloadInto(0, dst) })
}

// Download copies both tables of image i to the host.
func (t *SquaredTiltedTable[S, Q]) Download(i int) (*tilted.SquaredTable[S, Q], error) {
	if t == nil {
		return nil, errNoTable
	}
	a := t.Sum.inner()
	return fetched(a, i, func() (*tilted.SquaredTable[S, Q], error) {
		return tilted.NewSquaredTable[S, Q](a.Width, a.Height, a.Channels)
	},
		func(dst *tilted.SquaredTable[S, Q]) error { return t.downloadInto(i, dst) })
}

func (t *SquaredTiltedTable[S, Q]) downloadInto(i int, dst *tilted.SquaredTable[S, Q]) error {
	if err := t.Sum.DownloadInto(i, dst.Sum); err != nil {
		return err
	}
	return t.Squares.DownloadInto(i, dst.Squares)
}

// Close frees both tables.
func (t *SquaredTiltedTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return closing(t.Sum, t.Squares)
}
