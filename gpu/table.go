package gpu

import (
	"image"
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// A Table is summed-area tables on a device, one for each of Count images of
// the same size. Each holds what a [boxsum.Table] does, laid out the same way:
// row 0 and column 0 are zero.
type Table[S boxsum.Sum] struct{ array devmem.Array }

//go:generate go run github.com/boxsum/boxsum/internal/pairs/expand -out kinds.go -template kinds.tmpl

// wrapped is a handle of an array.
func wrapped[T ~struct{ array devmem.Array }](a devmem.Array, err error) (*T, error) {
	return grid.OrNil(&T{a}, err)
}

// tablesOf takes device memory for the tables of images, or for that of a volume.
func tablesOf[S boxsum.Sum](src *devmem.Array) (devmem.Array, error) {
	if src.Device == nil {
		return devmem.Array{}, errNoImage
	}
	return src.Device.Make(devmem.Array{
		Element: pairs.Of[S](), Width: src.Width, Height: src.Height, Channels: src.Channels, Count: src.Count,
		Border: 1, Volume: src.Volume, Depth: src.Depth,
	})
}

// SumBoxes writes the sums of all channels over every box, clipped to the image,
// from table i: channel c of boxes[b] is dst[b*Channels+c].
func (t *Table[S]) SumBoxes(i int, dst []S, boxes []image.Rectangle) error {
	a := t.inner()
	if err := numbered(a, i); err != nil {
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

// numbered reports whether there is a number i among tables.
func numbered(a *devmem.Array, i int) error {
	if a.Device == nil {
		return errNoTable
	}
	return a.Index(i)
}

// onHost takes a table of the host and fills it, unless it is known before that it cannot
// be filled.
func onHost[T any](wrong error, take func() (*T, error), fill func(*T) error) (*T, error) {
	if wrong != nil {
		return nil, wrong
	}
	t, err := take()
	if err == nil {
		err = fill(t)
	}
	return grid.OrNil(t, err)
}

// DownloadInto copies table i into dst, which must have its size.
func (t *Table[S]) DownloadInto(i int, dst *boxsum.Table[S]) error {
	a := t.inner()
	return download(a, i, planeSide(dst), func() { dst.Offset = a.Offset })
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

// both takes two things on a device, or none.
func both[T, U io.Closer](first func() (T, error), second func() (U, error)) (t T, u U, err error) {
	if t, err = first(); err != nil {
		return t, u, err
	}
	if u, err = second(); err != nil {
		return t, u, driver.FirstError(err, t.Close())
	}
	return t, u, nil
}
