package gpu

import (
	"image"
	"io"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Table holds summed-area tables on a device, one for each of Count images of the
// same size. Each has the layout of a [boxsum.Table]: row 0 and column 0 are zero.
type Table[S boxsum.Sum] struct{ holder }

// wrapped returns an array as an image or a table of package gpu.
func wrapped[T ~struct{ holder }](a devmem.Array, err error) (*T, error) {
	return raster.OrNil(&T{inside.NewArray(a)}, err)
}

// tablesOf allocates device memory for the tables of images, or for that of a
// volume.
func tablesOf[S boxsum.Sum](src *devmem.Array) (devmem.Array, error) {
	if src.Device == nil {
		return devmem.Array{}, errNoImage
	}
	return src.Device.Make(devmem.Array{
		Element: raster.TypeNamed[S](), Width: src.Width, Height: src.Height, Channels: src.Channels, Count: src.Count,
		Border: 1, Volume: src.Volume, Depth: src.Depth,
	})
}

// SumBoxes writes the sums of all channels of table i over each box, clipped to the
// image, to dst: the sum of channel c over boxes[b] is dst[b*Channels+c]. The length
// of dst must be at least len(boxes)*Channels.
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
	return sumBoxes(a, i, dst, len(boxes), clip, method.PlaneBoxes, func(n int) float64 {
		c := clip(n)
		return float64(c[2]-c[0]) * float64(c[3]-c[1])
	})
}

// sumBoxes answers boxes of table i and restores the offset, for each of their
// pixels.
func sumBoxes[S boxsum.Sum, Box any](a *devmem.Array, i int, dst []S, count int, place func(n int) Box, answer func(a *devmem.Array, i int) method.Answer, pixels func(n int) float64) error {
	if err := method.CheckRoom(a, len(dst), count); err != nil {
		return err
	}
	return using(a, func() error {
		beside, err := a.OffsetSums(i)
		if err != nil {
			return err
		}
		if err := method.QueryAll(a.Device, dst, a.Channels, count, place, answer(a, i)); err != nil {
			return err
		}
		offset := float64(a.OffsetOf(i))
		if offset == 0 {
			return nil
		}
		restore := func(k int) float64 { return offset * pixels(k/a.Channels) }
		if beside != nil { // (p−o)² = p² − 2o(p−o) − o²
			sums, err := floatSums(beside, count, place, answer(beside, i))
			if err != nil {
				return err
			}
			restore = func(k int) float64 { return 2*offset*sums(k) + offset*offset*pixels(k/a.Channels) }
		}
		for k := range count * a.Channels {
			dst[k] += S(restore(k))
		}
		return nil
	})
}

// floatSums answers boxes of a table of floats, without restoring its offset.
func floatSums[Box any](a *devmem.Array, count int, place func(n int) Box, answer method.Answer) (func(k int) float64, error) {
	if a.Element == raster.F32 {
		return askFloats[float32](a, count, place, answer)
	}
	return askFloats[float64](a, count, place, answer)
}

func askFloats[S float32 | float64, Box any](a *devmem.Array, count int, place func(n int) Box, answer method.Answer) (func(k int) float64, error) {
	sums := make([]S, count*a.Channels)
	err := method.QueryAll(a.Device, sums, a.Channels, count, place, answer)
	return func(k int) float64 { return float64(sums[k]) }, err
}

// numbered returns an error if there is no table i.
func numbered(a *devmem.Array, i int) error {
	if a.Device == nil {
		return errNoTable
	}
	return a.CheckIndex(i)
}

// onHost allocates a table on the host and fills it. If wrong is not nil, it
// returns wrong without allocating anything.
func onHost[T any](wrong error, take func() (*T, error), fill func(*T) error) (*T, error) {
	if wrong != nil {
		return nil, wrong
	}
	t, err := take()
	if err == nil {
		err = fill(t)
	}
	return raster.OrNil(t, err)
}

// DownloadInto copies table i into dst, which must have its size. If a table of
// squares has an offset, DownloadInto also copies the sums, which queries of dst
// then need.
func (t *Table[S]) DownloadInto(i int, dst *boxsum.Table[S]) error { return t.fetch(i, dst, true) }

// fetch copies table i into dst. If beside is set and squares have an offset, it
// also copies the sums.
func (t *Table[S]) fetch(i int, dst *boxsum.Table[S], beside bool) error {
	a := t.inner()
	return download(a, i, planeSide(dst), func(copyOut func() error) error {
		sums, err := a.OffsetSums(i)
		if err != nil {
			return err
		}
		describePlane(dst, a.OffsetOf(i), 0)
		if err := copyOut(); err != nil {
			return err
		}
		dst.Bound = planePixels(a, dst).Bound
		switch squares, _ := any(dst).(*boxsum.Table[float64]); {
		case sums == nil || !beside:
			return nil
		case sums.Element == raster.F32:
			return besidePlane[float32](sums, i, squares)
		default:
			return besidePlane[float64](sums, i, squares)
		}
	})
}

// describePlane sets what a table on the host knows of its pixels.
func describePlane[S boxsum.Sum](t *boxsum.Table[S], offset float32, bound uint64) {
	*t = boxsum.Table[S]{Sums: t.Sums, Stride: t.Stride, Width: t.Width, Height: t.Height, Channels: t.Channels, Offset: offset, Bound: bound}
}

// besidePlane fetches the sums that belong to squares.
func besidePlane[S boxsum.Sum](a *devmem.Array, i int, squares *boxsum.Table[float64]) error {
	sums, err := transfer.NewTable[S](a.Width, a.Height, a.Channels)
	if err != nil {
		return err
	}
	sums.Offset = a.OffsetOf(i)
	sums.Bound = typical(a).Bound
	if _, err := boxsum.SquaredTableOf(sums, squares); err != nil {
		return err
	}
	return a.CopyOut(i, devmem.HostRows(sums.Sums, sums.Stride))
}

// Offset returns the value that was subtracted from every pixel before summing; see
// [Options.Offset]. If there are several tables, it returns the offset of the first
// one.
func (t *Table[S]) Offset() float32 { return offsetOf(t.inner()) }

// offsetOf returns an array's offset, synchronized with writers.
func offsetOf(a *devmem.Array) float32 {
	if a.Device == nil {
		return 0
	}
	a.Device.Queue.Lock()
	defer a.Device.Queue.Unlock()
	return a.OffsetOf(0)
}

// both allocates two values on a device. If the second fails, it closes the first.
func both[T, U io.Closer](first func() (T, error), second func() (U, error)) (t T, u U, err error) {
	if t, err = first(); err != nil {
		return t, u, err
	}
	if u, err = second(); err != nil {
		return t, u, driver.FirstError(err, t.Close())
	}
	return t, u, nil
}
