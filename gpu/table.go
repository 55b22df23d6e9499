package gpu

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pairs"
)

// A Table is summed-area tables on a device, one for each of Count images of
// the same size. Each holds what a [boxsum.Table] does, laid out the same way:
// row 0 and column 0 are zero.
type Table[S boxsum.Sum] struct{ array devmem.Array }

// NewTable takes device memory for the tables of count images of this size; zero
// channels stand for one. What they hold is undefined until [IntegrateInto].
func NewTable[S boxsum.Sum](d *Device, width, height, channels, count int) (*Table[S], error) {
	return newTable[S](d.mem(), width, height, channels, count)
}

func newTable[S boxsum.Sum](d *devmem.Device, width, height, channels, count int) (*Table[S], error) {
	a, err := d.Make(devmem.Array{Element: pairs.Of[S](), Width: width, Height: height, Channels: channels, Count: count, Border: 1})
	if err != nil {
		return nil, err
	}
	return &Table[S]{a}, nil
}

// tableOf takes device memory for the tables of images.
func tableOf[S boxsum.Sum](src *devmem.Array) (*Table[S], error) {
	if src.Device == nil {
		return nil, errNoImage
	}
	return newTable[S](src.Device, src.Width, src.Height, src.Channels, src.Count)
}

// Integrate makes the tables of images, on their device:
//
//	tables, err := gpu.Integrate[uint32](images, nil)
//
// The pairs of pixel and sum types are those of [boxsum.Integrate].
func Integrate[S boxsum.Sum, P boxsum.Pixel](src *Image[P], opt *Options) (*Table[S], error) {
	return filled(pairError[S, P](), func() (*Table[S], error) { return tableOf[S](src.inner()) },
		func(t *Table[S]) error { return IntegrateInto(t, src, opt) })
}

// IntegrateInto makes the tables of images in dst, which must be on the same
// device, for as many images of the same size, and in other memory. It returns when
// the work is queued: later calls see its result, and [Device.Wait] waits for it.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src *Image[P], opt *Options) error {
	return tables{method: method.Plane{}, sums: dst.inner()}.integrate(src.inner(), opt)
}

// SumBoxes writes the sums of all channels over every box, clipped to the image,
// from table i: channel c of boxes[b] is dst[b*Channels+c].
func (t *Table[S]) SumBoxes(i int, dst []S, boxes []image.Rectangle) error {
	a := t.inner()
	if a.Device == nil {
		return errNoTable
	}
	if err := a.Index(i); err != nil {
		return err
	}
	bounds := image.Rect(0, 0, a.Width, a.Height)
	clip := func(n int) (c [4]int32) {
		if box := boxes[n].Intersect(bounds); !box.Empty() {
			c = [4]int32{int32(box.Min.X), int32(box.Min.Y), int32(box.Max.X), int32(box.Max.Y)}
		}
		return c
	}
	return sumBoxes(a, dst, len(boxes), clip, method.PlaneBoxes(a, i), func(n int) float64 {
		c := clip(n)
		return float64(c[2]-c[0]) * float64(c[3]-c[1])
	})
}

// sumBoxes answers boxes and puts the offset of the table back, for each of their pixels.
func sumBoxes[S boxsum.Sum, Box any](a *devmem.Array, dst []S, count int, place func(n int) Box, answer method.Answer, pixels func(n int) float64) error {
	var offset float32
	err := method.SumBoxes(a, dst, count, place, func(boxes, sums driver.Memory, count int) error {
		offset = a.Offset
		return answer(boxes, sums, count)
	})
	if err != nil || offset == 0 {
		return err
	}
	for n := range count {
		for c := range a.Channels {
			dst[n*a.Channels+c] += S(float64(offset) * pixels(n))
		}
	}
	return nil
}

// Download copies table i to the host.
func (t *Table[S]) Download(i int) (*boxsum.Table[S], error) {
	a := t.inner()
	return fetched(a, i, func() (*boxsum.Table[S], error) { return boxsum.NewTable[S](a.Width, a.Height, a.Channels) },
		func(dst *boxsum.Table[S]) error { return t.DownloadInto(i, dst) })
}

// fetched takes a table of the host and fills it with number i of an array.
func fetched[T any](a *devmem.Array, i int, take func() (*T, error), fill func(*T) error) (*T, error) {
	if a.Device == nil {
		return nil, errNoTable
	}
	if err := a.Index(i); err != nil {
		return nil, err
	}
	t, err := take()
	if err == nil {
		err = fill(t)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// DownloadInto copies table i into dst, which must have its size.
func (t *Table[S]) DownloadInto(i int, dst *boxsum.Table[S]) error {
	a := t.inner()
	if a.Device == nil {
		return errNoTable
	}
	if err := a.Index(i); err != nil {
		return err
	}
	if err := accepts(dst, a.Width, a.Height, a.Channels); err != nil {
		return err
	}
	return using(a, func() error {
		dst.Offset = a.Offset
		return a.CopyOut(i, devmem.HostRows(dst.Sums, dst.Stride))
	})
}

// Offset is what was subtracted from every pixel before summing, see
// [Options.Offset].
func (t *Table[S]) Offset() float32 { return offsetOf(t.inner()) }

// offsetOf is read while nobody sets it.
func offsetOf(a *devmem.Array) float32 {
	if a.Device == nil {
		return 0
	}
	a.Device.Queue.Lock()
	defer a.Device.Queue.Unlock()
	return a.Offset
}

// inner is the array inside, an empty one of no table.
func (t *Table[S]) inner() *devmem.Array {
	if t == nil {
		return &devmem.Array{}
	}
	return &t.array
}

// Width is that of the images, in pixels.
func (t *Table[S]) Width() int { return t.inner().Width }

// Height is that of the images, in pixels.
func (t *Table[S]) Height() int { return t.inner().Height }

// Channels is how many values a pixel has.
func (t *Table[S]) Channels() int { return t.inner().Channels }

// Count is how many tables there are.
func (t *Table[S]) Count() int { return t.inner().Count }

// String tells what it is.
func (t *Table[S]) String() string { return t.inner().String() }

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (t *Table[S]) Close() error { return t.inner().Close() }

// Inner is for packages of this module: nobody else can make a key.
func (t *Table[S]) Inner(launch.Key) *devmem.Array { return &t.array }

// A SquaredTable is the tables of images beside those of their squares.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable takes device memory for both tables of count images of this
// size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](d *Device, width, height, channels, count int) (*SquaredTable[S, Q], error) {
	sum, squares, err := both(func() (*Table[S], error) { return NewTable[S](d, width, height, channels, count) },
		func() (*Table[Q], error) { return NewTable[Q](d, width, height, channels, count) })
	if err != nil {
		return nil, err
	}
	return &SquaredTable[S, Q]{sum, squares}, nil
}

// both takes two things on a device, or none.
func both[T, U interface{ Close() error }](first func() (T, error), second func() (U, error)) (t T, u U, err error) {
	if t, err = first(); err != nil {
		return t, u, err
	}
	if u, err = second(); err != nil {
		return t, u, driver.FirstError(err, t.Close())
	}
	return t, u, nil
}

// IntegrateSquares makes the tables of images and those of their squares
// together. The types go together as in [boxsum.IntegrateSquares].
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Image[P], opt *Options) (*SquaredTable[S, Q], error) {
	return filled(squaresError[S, Q, P](), func() (*SquaredTable[S, Q], error) {
		sum, squares, err := both(func() (*Table[S], error) { return tableOf[S](src.inner()) }, func() (*Table[Q], error) { return tableOf[Q](src.inner()) })
		return &SquaredTable[S, Q]{sum, squares}, err
	}, func(t *SquaredTable[S, Q]) error { return IntegrateSquaresInto(t, src, opt) })
}

// IntegrateSquaresInto makes both tables of images in dst, as [IntegrateInto]
// does one.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src *Image[P], opt *Options) error {
	if dst == nil {
		return errNoTable
	}
	return tables{method: method.Plane{}, sums: dst.Sum.inner(), squares: dst.Squares.inner()}.integrate(src.inner(), opt)
}

// Download copies both tables of image i to the host.
func (t *SquaredTable[S, Q]) Download(i int) (*boxsum.SquaredTable[S, Q], error) {
	if t == nil {
		return nil, errNoTable
	}
	sum, err := t.Sum.Download(i)
	if err != nil {
		return nil, err
	}
	squares, err := t.Squares.Download(i)
	if err != nil {
		return nil, err
	}
	return &boxsum.SquaredTable[S, Q]{Sum: sum, Squares: squares}, nil
}

// Close frees both tables.
func (t *SquaredTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return closing(t.Sum, t.Squares)
}
