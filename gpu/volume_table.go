package gpu

import (
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/volume"
)

// A VolumeTable is the table of a volume on a device. It holds what a
// [volume.Table] does: all entries with a zero among x, y and z are zero.
type VolumeTable[S boxsum.Sum] struct{ array devmem.Array }

// workVolume checks a volume, types and options, and is what there is to do.
func workVolume[P boxsum.Pixel](src *volume.Volume[P], sum, square pairs.Type, opt *Options) (*transfer.Work, error) {
	if err := method.PairError(pairs.Of[P](), sum, square); err != nil {
		return nil, err
	}
	checked, err := checkedVolume(*src)
	if err != nil {
		return nil, err
	}
	*src = checked
	slice := boxsum.Image[P]{Pix: src.Pix, Stride: src.Stride, Width: src.Width, Height: src.Height, Channels: src.Channels}
	w, err := workOf(method.Volume{}, slice, sum, square, opt, "")
	if err == nil {
		w.Volume, w.Units, w.Sides[0] = true, src.Depth, sliceSide(src.Pix, src.Stride, src.SliceStride)
		e := grid.Volume(src.Width, src.Height, src.Depth, src.Channels, src.Stride, src.SliceStride)
		prepare(w, &engine.Source[P]{Pix: src.Pix, Extent: e}, opt, "", false)
	}
	return w, err
}

// sliceSide is the side of a volume or its table.
func sliceSide[T any](values []T, stride, sliceStride int) transfer.Side {
	return transfer.Side{At: devmem.HostRows(values, stride), Unit: int64(sliceStride) * int64(unsafe.Sizeof(*new(T)))}
}

// noVolumeSquares stands for the squares that most tables do not have.
var noVolumeSquares *volume.Table[uint64]

// runVolume runs work into tables of the host; squares may be nil.
func runVolume[S boxsum.Sum, Q boxsum.Square](d *Device, w *transfer.Work, sums *volume.Table[S], squares *volume.Table[Q]) error {
	if err := takeSides(w, volumeSide(sums), volumeSide(squares)); err != nil {
		return err
	}
	sums.Offset = float32(w.Job.Offset)
	sums.Know(w.Pixels[0])
	if squares != nil {
		squares.Offset = squaresOffset(&w.Job)
		squares.Know(w.Pixels[1])
		(&volume.SquaredTable[S, Q]{Sum: sums, Squares: squares}).Tie()
	}
	return d.shared().Run(w)
}

// SumBoxes writes the sums of all channels over every box, clipped to the volume:
// channel c of boxes[b] is dst[b*Channels+c].
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

// DownloadInto copies the table into dst, which must have its size. Squares that lack an
// offset take the sums beside them along, inside of dst.
func (t *VolumeTable[S]) DownloadInto(dst *volume.Table[S]) error { return t.fetch(dst, true) }

// fetch copies the table into dst, and the sums beside squares that lack an offset, if
// asked to.
func (t *VolumeTable[S]) fetch(dst *volume.Table[S], beside bool) error {
	a := t.inner()
	return download(a, 0, volumeSide(dst), func(copyOut func() error) error {
		sums, err := a.Lacking(0)
		if err != nil {
			return err
		}
		dst.Offset = a.Offset
		if err := copyOut(); err != nil {
			return err
		}
		dst.Know(volumePixels(a, dst))
		switch squares, _ := any(dst).(*volume.Table[float64]); {
		case sums == nil || !beside:
			return nil
		case sums.Element == pairs.F32:
			return besideVolume[float32](sums, squares)
		default:
			return besideVolume[float64](sums, squares)
		}
	})
}

// besideVolume fetches the sums beside squares.
func besideVolume[S boxsum.Sum](a *devmem.Array, squares *volume.Table[float64]) error {
	sums, err := volume.NewTable[S](a.Width, a.Height, a.Depth, a.Channels)
	if err != nil {
		return err
	}
	sums.Offset = a.Offset
	sums.Know(typical(a))
	(&volume.SquaredTable[S, float64]{Sum: sums, Squares: squares}).Tie()
	return copyOut(a, 0, sliceSide(sums.Sums, sums.Stride, sums.SliceStride))
}

// Offset is what was subtracted from every voxel before summing, see
// [Options.Offset].
func (t *VolumeTable[S]) Offset() float32 { return offsetOf(t.inner()) }
