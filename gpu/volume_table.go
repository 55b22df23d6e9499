package gpu

import (
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/volume"
)

// A VolumeTable is the table of a volume on a device. It holds what a
// [volume.Table] does: all entries with a zero among x, y and z are zero.
type VolumeTable[S boxsum.Sum] struct{ array devmem.Array }

// NewVolumeTable takes device memory for the table of a volume of this size; zero
// channels stand for one. What it holds is undefined until [IntegrateVolumeInto].
func NewVolumeTable[S boxsum.Sum](d *Device, width, height, depth, channels int) (*VolumeTable[S], error) {
	return newVolumeTable[S](d.mem(), width, height, depth, channels)
}

func newVolumeTable[S boxsum.Sum](d *devmem.Device, width, height, depth, channels int) (*VolumeTable[S], error) {
	a, err := d.Make(devmem.Array{Element: pairs.Of[S](), Width: width, Height: height, Channels: channels, Border: 1, Volume: true, Depth: depth})
	if err != nil {
		return nil, err
	}
	return &VolumeTable[S]{a}, nil
}

// volumeTableOf takes device memory for the table of a volume.
func volumeTableOf[S boxsum.Sum](src *devmem.Array) (*VolumeTable[S], error) {
	if src.Device == nil {
		return nil, errNoImage
	}
	return newVolumeTable[S](src.Device, src.Width, src.Height, src.Depth, src.Channels)
}

// IntegrateVolume makes the table of a volume, on its device:
//
//	table, err := gpu.IntegrateVolume[uint32](vol, nil)
//
// The pairs of voxel and sum types are those of [volume.Integrate].
func IntegrateVolume[S boxsum.Sum, P boxsum.Pixel](src *Volume[P], opt *Options) (*VolumeTable[S], error) {
	return filled(pairError[S, P](), func() (*VolumeTable[S], error) { return volumeTableOf[S](src.inner()) },
		func(t *VolumeTable[S]) error { return IntegrateVolumeInto(t, src, opt) })
}

// IntegrateVolumeInto makes the table of a volume in dst, which must be on the same
// device, have its size and lie in other memory. It returns when the work is queued.
func IntegrateVolumeInto[S boxsum.Sum, P boxsum.Pixel](dst *VolumeTable[S], src *Volume[P], opt *Options) error {
	return tables{method: method.Volume{}, sums: dst.inner()}.integrate(src.inner(), opt)
}

// IntegrateVolumeHost makes the table of a volume in host memory on a device. The
// volume goes there in slabs of slices, each carrying on from the last slice of the
// one before, so that neither volume nor table must fit the device: two slices of the
// table and one of the volume are enough. A slab is copied in while another is summed
// and a third copied out. [Options.BandRows] counts slices here.
//
// The pairs of types are those of [volume.Integrate].
func IntegrateVolumeHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src volume.Volume[P], opt *Options) (*volume.Table[S], error) {
	_, wrong := volumeWork(&src, pairs.Of[S](), 0, opt)
	return hosted(d, wrong, func() (*volume.Table[S], error) {
		return volume.NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	}, func(t *volume.Table[S]) error { return IntegrateVolumeHostInto(d, t, src, opt) })
}

// IntegrateVolumeHostInto is [IntegrateVolumeHost] into a table that is already there,
// which must have the volume's size and may not lie in its memory.
func IntegrateVolumeHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *volume.Table[S], src volume.Volume[P], opt *Options) error {
	w, err := volumeWork(&src, pairs.Of[S](), 0, opt)
	if err != nil {
		return err
	}
	return volumeHost(d, w, dst, (*volume.Table[uint64])(nil))
}

// volumeWork checks a volume, types and options, and is what there is to do.
func volumeWork[P boxsum.Pixel](src *volume.Volume[P], sum, square pairs.Type, opt *Options) (*transfer.Work, error) {
	if err := method.PairError(pairs.Of[P](), sum, square); err != nil {
		return nil, err
	}
	checked, err := checkedVolume(*src)
	if err != nil {
		return nil, err
	}
	*src = checked
	slice := boxsum.Image[P]{Pix: src.Pix, Stride: src.Stride, Width: src.Width, Height: src.Height, Channels: src.Channels}
	w, err := imageWork(method.Volume{}, slice, sum, square, opt, "")
	if err == nil {
		w.Volume, w.Units, w.Sides[0] = true, src.Depth, sliceSide(src.Pix, src.Stride, src.SliceStride)
	}
	return w, err
}

// sliceSide is the side of a volume or its table.
func sliceSide[T any](values []T, stride, sliceStride int) transfer.Side {
	return transfer.Side{At: devmem.HostRows(values, stride), Unit: int64(sliceStride) * int64(unsafe.Sizeof(*new(T)))}
}

// volumeHost runs work into tables of the host; squares may be nil.
func volumeHost[S boxsum.Sum, Q boxsum.Square](d *Device, w *transfer.Work, sums *volume.Table[S], squares *volume.Table[Q]) error {
	job := &w.Job
	if err := acceptsVolume(sums, job.Width, job.Height, w.Units, job.Channels); err != nil {
		return err
	}
	w.Sides[1] = sliceSide(sums.Sums, sums.Stride, sums.SliceStride)
	if job.Square != 0 {
		if err := acceptsVolume(squares, job.Width, job.Height, w.Units, job.Channels); err != nil {
			return err
		}
		w.Sides[2] = sliceSide(squares.Sums, squares.Stride, squares.SliceStride)
	}
	if err := w.Check(); err != nil {
		return err
	}
	sums.Offset = float32(job.Offset)
	if squares != nil {
		squares.Offset = 0
	}
	return w.Run(d.mem())
}

// SumBoxes writes the sums of all channels over every box, clipped to the volume:
// channel c of boxes[b] is dst[b*Channels+c].
func (t *VolumeTable[S]) SumBoxes(dst []S, boxes []volume.Box) error {
	a := t.inner()
	if a.Device == nil {
		return errNoTable
	}
	bounds := volume.NewBox(0, 0, 0, a.Width, a.Height, a.Depth)
	return sumBoxes(a, dst, len(boxes), func(n int) [6]int32 {
		box := boxes[n].Intersect(bounds)
		return [6]int32{int32(box.X0), int32(box.Y0), int32(box.Z0), int32(box.X1), int32(box.Y1), int32(box.Z1)}
	}, method.VolumeBoxes(a), func(n int) float64 { return float64(boxes[n].Intersect(bounds).Voxels()) })
}

// Download copies the table to the host.
func (t *VolumeTable[S]) Download() (*volume.Table[S], error) {
	a := t.inner()
	return fetched(a, 0, func() (*volume.Table[S], error) { return volume.NewTable[S](a.Width, a.Height, a.Depth, a.Channels) }, t.DownloadInto)
}

// DownloadInto copies the table into dst, which must have its size.
func (t *VolumeTable[S]) DownloadInto(dst *volume.Table[S]) error {
	a := t.inner()
	if a.Device == nil {
		return errNoTable
	}
	if err := acceptsVolume(dst, a.Width, a.Height, a.Depth, a.Channels); err != nil {
		return err
	}
	return using(a, func() error {
		dst.Offset = a.Offset
		for z := range a.Depth + 1 {
			if err := a.CopyOut(z, devmem.HostRows(dst.Slice(z).Sums, dst.Stride)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Offset is what was subtracted from every voxel before summing, see
// [Options.Offset].
func (t *VolumeTable[S]) Offset() float32 { return offsetOf(t.inner()) }

// inner is the array inside, an empty one of no table.
func (t *VolumeTable[S]) inner() *devmem.Array {
	if t == nil {
		return &devmem.Array{}
	}
	return &t.array
}

// Width is that of the volume, in voxels.
func (t *VolumeTable[S]) Width() int { return t.inner().Width }

// Height is that of the volume, in voxels.
func (t *VolumeTable[S]) Height() int { return t.inner().Height }

// Depth is that of the volume, in voxels.
func (t *VolumeTable[S]) Depth() int { return t.inner().Depth }

// Channels is how many values a voxel has.
func (t *VolumeTable[S]) Channels() int { return t.inner().Channels }

// String tells what it is.
func (t *VolumeTable[S]) String() string { return t.inner().String() }

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (t *VolumeTable[S]) Close() error { return t.inner().Close() }

// Inner is for packages of this module: nobody else can make a key.
func (t *VolumeTable[S]) Inner(launch.Key) *devmem.Array { return &t.array }

// A SquaredVolumeTable is the table of a volume beside that of its squares.
type SquaredVolumeTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *VolumeTable[S]
	Squares *VolumeTable[Q]
}

// NewSquaredVolumeTable takes device memory for both tables of a volume of this size.
func NewSquaredVolumeTable[S boxsum.Sum, Q boxsum.Square](d *Device, width, height, depth, channels int) (*SquaredVolumeTable[S, Q], error) {
	sum, squares, err := both(func() (*VolumeTable[S], error) { return NewVolumeTable[S](d, width, height, depth, channels) },
		func() (*VolumeTable[Q], error) { return NewVolumeTable[Q](d, width, height, depth, channels) })
	if err != nil {
		return nil, err
	}
	return &SquaredVolumeTable[S, Q]{sum, squares}, nil
}

// IntegrateVolumeSquares makes the table of a volume and that of its squares, with the
// types of [volume.IntegrateSquares].
func IntegrateVolumeSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Volume[P], opt *Options) (*SquaredVolumeTable[S, Q], error) {
	return filled(squaresError[S, Q, P](), func() (*SquaredVolumeTable[S, Q], error) {
		sum, squares, err := both(func() (*VolumeTable[S], error) { return volumeTableOf[S](src.inner()) },
			func() (*VolumeTable[Q], error) { return volumeTableOf[Q](src.inner()) })
		return &SquaredVolumeTable[S, Q]{sum, squares}, err
	}, func(t *SquaredVolumeTable[S, Q]) error { return IntegrateVolumeSquaresInto(t, src, opt) })
}

// IntegrateVolumeSquaresInto makes both tables of a volume in dst, as
// [IntegrateVolumeInto] does one.
func IntegrateVolumeSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredVolumeTable[S, Q], src *Volume[P], opt *Options) error {
	if dst == nil {
		return errNoTable
	}
	return tables{method: method.Volume{}, sums: dst.Sum.inner(), squares: dst.Squares.inner()}.integrate(src.inner(), opt)
}

// IntegrateVolumeSquaresHost is [IntegrateVolumeHost] for the table of a volume and that
// of its squares.
func IntegrateVolumeSquaresHost[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, src volume.Volume[P], opt *Options) (*volume.SquaredTable[S, Q], error) {
	_, wrong := volumeWork(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	return hosted(d, wrong, func() (*volume.SquaredTable[S, Q], error) {
		return volume.NewSquaredTable[S, Q](src.Width, src.Height, src.Depth, src.Channels)
	}, func(t *volume.SquaredTable[S, Q]) error { return IntegrateVolumeSquaresHostInto(d, t, src, opt) })
}

// IntegrateVolumeSquaresHostInto is [IntegrateVolumeSquaresHost] into tables that are
// already there, each in memory of its own.
func IntegrateVolumeSquaresHostInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, dst *volume.SquaredTable[S, Q], src volume.Volume[P], opt *Options) error {
	w, err := volumeWork(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	if err != nil {
		return err
	}
	if dst == nil || dst.Squares == nil {
		return errNoHostTable
	}
	return volumeHost(d, w, dst.Sum, dst.Squares)
}

// Download copies both tables to the host.
func (t *SquaredVolumeTable[S, Q]) Download() (*volume.SquaredTable[S, Q], error) {
	if t == nil {
		return nil, errNoTable
	}
	sum, err := t.Sum.Download()
	if err != nil {
		return nil, err
	}
	squares, err := t.Squares.Download()
	if err != nil {
		return nil, err
	}
	return &volume.SquaredTable[S, Q]{Sum: sum, Squares: squares}, nil
}

// Close frees both tables.
func (t *SquaredVolumeTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return closing(t.Sum, t.Squares)
}
