package gpu

import (
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/volume"
)

// A VolumeTable holds the table of a volume on a device, in the layout of a
// [volume.Table]: all entries where x, y or z is zero are zero.
type VolumeTable[S boxsum.Sum] struct{ holder }

// sliceSide returns the location of a volume or of its table.
func sliceSide[T any](values []T, stride, sliceStride int) transfer.Side {
	return transfer.Side{At: devmem.HostRows(values, stride), Unit: int64(sliceStride) * int64(unsafe.Sizeof(*new(T)))}
}

// SumBoxes writes the sums of all channels over each box, clipped to the volume, to
// dst: the sum of channel c over boxes[b] is dst[b*Channels+c]. The length of dst
// must be at least len(boxes)*Channels.
func (t *VolumeTable[S]) SumBoxes(dst []S, boxes []volume.Box) error {
	a := t.inner()
	if a.Device == nil {
		return errNoTable
	}
	bounds := volume.NewBox(0, 0, 0, a.Width, a.Height, a.Depth)
	return sumBoxes(a, 0, dst, len(boxes), func(n int) [6]int32 {
		box := boxes[n].Intersect(bounds)
		return [6]int32{int32(box.X0), int32(box.Y0), int32(box.Z0), int32(box.X1), int32(box.Y1), int32(box.Z1)}
	}, func(a *devmem.Array, _ int) method.Answer { return method.VolumeBoxes(a) }, func(n int) float64 { return float64(boxes[n].Intersect(bounds).Voxels()) })
}

// DownloadInto copies the table into dst, which must have its size. If a table of
// squares has an offset, DownloadInto also copies the sums, which queries of dst
// then need.
func (t *VolumeTable[S]) DownloadInto(dst *volume.Table[S]) error { return t.fetch(dst, true) }

// fetch copies the table into dst. If beside is set and squares have an offset, it
// also copies the sums.
func (t *VolumeTable[S]) fetch(dst *volume.Table[S], beside bool) error {
	a := t.inner()
	return download(a, 0, volumeSide(dst), func(copyOut func() error) error {
		sums, err := a.OffsetSums(0)
		if err != nil {
			return err
		}
		describeVolume(dst, a.Offset, 0)
		if err := copyOut(); err != nil {
			return err
		}
		dst.Bound = volumePixels(a, dst).Bound
		switch squares, _ := any(dst).(*volume.Table[float64]); {
		case sums == nil || !beside:
			return nil
		case sums.Element == raster.F32:
			return besideVolume[float32](sums, squares)
		default:
			return besideVolume[float64](sums, squares)
		}
	})
}

// describeVolume sets what a table on the host knows of its voxels.
func describeVolume[S boxsum.Sum](t *volume.Table[S], offset float32, bound uint64) {
	*t = volume.Table[S]{
		Sums: t.Sums, Stride: t.Stride, SliceStride: t.SliceStride,
		Width: t.Width, Height: t.Height, Depth: t.Depth, Channels: t.Channels, Offset: offset, Bound: bound,
	}
}

// besideVolume fetches the sums that belong to squares.
func besideVolume[S boxsum.Sum](a *devmem.Array, squares *volume.Table[float64]) error {
	sums, err := volume.NewTable[S](a.Width, a.Height, a.Depth, a.Channels)
	if err != nil {
		return err
	}
	sums.Offset = a.Offset
	sums.Bound = typical(a).Bound
	if _, err := volume.SquaredTableOf(sums, squares); err != nil {
		return err
	}
	return copyOut(a, 0, sliceSide(sums.Sums, sums.Stride, sums.SliceStride))
}

// Offset returns the value that was subtracted from every voxel before summing; see
// [Options.Offset].
func (t *VolumeTable[S]) Offset() float32 { return offsetOf(t.inner()) }
