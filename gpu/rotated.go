package gpu

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/kernels"
	"github.com/boxsum/boxsum/rotated"
)

// A RotatedTable is tables along the lines of a rotation on a device, one for each
// of Count images of the same size. Each answers what a [rotated.Table] does; its
// lattice knows where pixels lie, and areas.
type RotatedTable[S boxsum.Sum] struct {
	array
	shape *latticeShape
	job   latticeJob
}

// NewRotatedTable takes device memory for the tables of count images of this
// size; zero channels stand for one. What they hold is undefined until
// [IntegrateRotatedInto].
func NewRotatedTable[S boxsum.Sum](d *Device, width, height, channels, count int, rot rotated.Rotation) (*RotatedTable[S], error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	t := &RotatedTable[S]{array: array{
		device: d, element: elementOf[S](), width: width, height: height, channels: max(channels, 0), count: count, border: 1, owned: true,
	}}
	if channels < 0 {
		return nil, fmt.Errorf("gpu: %w: %d channels", boxsum.ErrSize, channels)
	}
	if _, err := t.lay(); err != nil { // the sizes; what lies where follows
		return nil, err
	}
	var err error
	if t.shape, err = newLatticeShape(width, height, t.channels, rot); err != nil {
		return nil, err
	}
	value := int64(t.element.bytes())
	packed, job := t.shape.pack(value)
	t.job = job
	bytes, ok := t.shape.tableBytes(job, value)
	t.at = batch{plane: plane{offset: roundUp(int64(len(packed)), 256)}, distance: bytes}
	all, fits := product(bytes, int64(count))
	if !ok || !fits || all > math.MaxInt64-t.at.offset || len(packed)/4 > math.MaxInt32 {
		return nil, fmt.Errorf("gpu: %w: %s is more than memory can hold", boxsum.ErrSize, &t.array)
	}
	if t.at.memory, err = d.take(t.at.offset + all); err != nil {
		return nil, fmt.Errorf("%w (for %s)", err, &t.array)
	}
	if len(packed) == 0 {
		return t, nil
	}
	d.queue.Lock()
	defer d.queue.Unlock()
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&packed[0])
	n := int64(len(packed))
	err = d.backend.copyIn(d.stream, plane{memory: t.at.memory, stride: n}, unsafe.Pointer(&packed[0]), n, rows{n, 1})
	if err = firstError(err, d.backend.wait(d.stream)); err != nil {
		return nil, firstError(err, d.give(t.at.memory))
	}
	return t, nil
}

// Lattice is where the pixels of the images lie; it counts those of boxes.
func (t *RotatedTable[S]) Lattice() *rotated.Lattice {
	if t == nil || t.shape == nil {
		return nil
	}
	return t.shape.lattice
}

// IntegrateRotated makes the tables of images along the lines of a rotation, on
// their device:
//
//	tables, err := gpu.IntegrateRotated[uint32](images, rotated.Rotation{A: 1, B: 2}, nil)
//
// The pairs of pixel and sum types are those of [boxsum.Integrate]. Options are as
// for [IntegrateTilted].
func IntegrateRotated[S boxsum.Sum, P boxsum.Pixel](src *Image[P], rot rotated.Rotation, opt *Options) (*RotatedTable[S], error) {
	if src == nil || src.device == nil {
		return nil, errNoImage
	}
	if err := turnedPair(elementOf[P](), elementOf[S](), false); err != nil {
		return nil, err
	}
	t, err := NewRotatedTable[S](src.device, src.width, src.height, src.channels, src.count, rot)
	if err != nil {
		return nil, err
	}
	if err := IntegrateRotatedInto(t, src, opt); err != nil {
		return nil, firstError(err, t.Close())
	}
	return t, nil
}

// IntegrateRotatedInto makes the tables of images in dst, which must be on the
// same device and for as many images of the same size. It returns when the work
// is queued.
func IntegrateRotatedInto[S boxsum.Sum, P boxsum.Pixel](dst *RotatedTable[S], src *Image[P], opt *Options) error {
	if src == nil || src.device == nil {
		return errNoImage
	}
	if dst == nil || dst.device == nil {
		return errNoTable
	}
	if err := turnedPair(src.element, dst.element, false); err != nil {
		return err
	}
	if err := turnedOptions(opt, dst.element); err != nil {
		return err
	}
	if err := dst.takes(&src.array); err != nil {
		return err
	}
	d := src.device
	return d.use(func() error {
		if err := firstError(dst.open(), src.open()); err != nil {
			return err
		}
		if src.width == 0 || src.height == 0 {
			return nil
		}
		return d.latticeIntegrate(integrateJob{
			stream: d.stream, pixel: src.element, sum: dst.element, channels: src.channels,
			width: src.width, height: src.height, count: src.count, in: src.at, out: dst.at,
		}, dst.shape, dst.job, dst.at.memory)
	})
}

// SumBoxes writes the sums of all channels over every box of the lattice, from
// table i: channel c of boxes[b] is dst[b*Channels+c]. Cells without a pixel,
// inside the image and outside of it, count as 0.
func (t *RotatedTable[S]) SumBoxes(i int, dst []S, boxes []rotated.Box) error {
	if t == nil || t.device == nil {
		return errNoTable
	}
	if err := t.index(i); err != nil {
		return err
	}
	d, bounds := t.device, t.shape.lattice.Bounds()
	return sumPlaced(&t.array, dst, len(boxes), func(n int) [4]int32 {
		box := boxes[n].Intersect(bounds)
		if box.Empty() {
			return [4]int32{}
		}
		box = t.shape.place(box)
		return [4]int32{int32(box.C0), int32(box.R0), int32(box.C1), int32(box.R1)}
	}, func(boxesAt, sumsAt memory, count int) error {
		sum := accumulator(t.element)
		kernel := kernels.CornerKernel(sum)
		group, err := d.portableGroup(kernels.Types{Sum: sum}.MaxGroup(), kernel)
		if err != nil {
			return err
		}
		start := t.at.image(i).offset
		job := latticeCorners{
			start: start, rowsStart: start + t.job.rowsStart, columnsStart: start + t.job.columnsStart,
			startsAt: t.job.startsAt, lowAt: t.job.lowAt, highAt: t.job.highAt,
			channels: int32(t.channels), columns: int32(t.shape.columns),
			leftTurn: int32(t.shape.leftTurn()), rightTurn: int32(t.shape.rightTurn()), bandRows: latticeBand, count: int64(count),
		}
		return d.backend.launch(d.stream, kernel, [3]int{ceilDiv(count*t.channels, group), 1, 1}, [3]int{group, 1, 1}, 0,
			value(&job), value(&t.at.memory), value(&t.at.memory), value(&boxesAt), value(&sumsAt))
	})
}

// Download copies table i to the host.
func (t *RotatedTable[S]) Download(i int) (*rotated.Table[S], error) {
	if t == nil || t.device == nil {
		return nil, errNoTable
	}
	dst, err := rotated.New[S](t.width, t.height, t.channels, t.shape.lattice.Rotation())
	if err != nil {
		return nil, err
	}
	if err := t.DownloadInto(i, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// DownloadInto copies table i into dst, which must be for images of the same size
// and have the same rotation.
func (t *RotatedTable[S]) DownloadInto(i int, dst *rotated.Table[S]) error {
	if t == nil || t.device == nil {
		return errNoTable
	}
	if err := t.index(i); err != nil {
		return err
	}
	if dst == nil || dst.Lattice == nil {
		return fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrSize)
	}
	if width, height := dst.Size(); width != t.width || height != t.height || dst.Channels() != t.channels || dst.Rotation() != t.shape.lattice.Rotation() {
		return fmt.Errorf("gpu: %w: a table for %d×%d with %d channels along %v cannot take one of %d×%d with %d along %v",
			boxsum.ErrSize, width, height, dst.Channels(), dst.Rotation(), t.width, t.height, t.channels, t.shape.lattice.Rotation())
	}
	if t.width == 0 || t.height == 0 {
		return nil
	}
	bytes := t.at.distance
	sums := make([]S, bytes/int64(t.element.bytes()))
	err := t.device.use(func() error {
		if err := t.open(); err != nil {
			return err
		}
		var pin runtime.Pinner
		defer pin.Unpin()
		pin.Pin(&sums[0])
		b, s := t.device.backend, t.device.stream
		from := t.at.image(i)
		from.stride = bytes
		if err := b.copyOut(s, unsafe.Pointer(&sums[0]), bytes, from, rows{bytes, 1}); err != nil {
			return err
		}
		return b.wait(s)
	})
	if err != nil {
		return err
	}
	value := int64(t.element.bytes())
	h := hostLattice[S]{t.shape, sums, sums[t.job.rowsStart/value:], sums[t.job.columnsStart/value:]}
	bounds := t.shape.lattice.Bounds()
	dst.Fill(func(c, r, channel int) S {
		box := t.shape.place(rotated.Box{C0: bounds.C0, R0: bounds.R0, C1: c, R1: r})
		return h.corner(box.C1-1, box.R1-1, channel) - h.corner(box.C0-1, box.R1-1, channel)
	})
	return nil
}

// IntegrateRotatedHost makes the table of an image along the lines of a rotation on
// a device, from host memory to host memory. Both must fit the device.
func IntegrateRotatedHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src boxsum.Image[P], rot rotated.Rotation, opt *Options) (dst *rotated.Table[S], err error) {
	im, err := Upload(d, src)
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, im.Close()) }()
	t, err := IntegrateRotated[S](im, rot, opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, t.Close()) }()
	return t.Download(0)
}

// A hostLattice is a table as it lies on the device, downloaded.
type hostLattice[S boxsum.Sum] struct {
	*latticeShape
	bands, wholeRows, wholeColumns []S
}

// corner is the sum of all cells up to a column and a row, either of which may be
// −1; gpu/kernels/corners.cl has the same.
func (h *hostLattice[S]) corner(column, row, channel int) S {
	if column < 0 || row < 0 {
		return 0
	}
	n, band := h.channels, row/latticeBand
	low, high := int(h.low[band]), int(h.high[band])
	switch {
	case column < low && row <= h.leftTurn():
		return 0
	case column < low:
		return h.wholeColumns[column*n+channel]
	case column < high:
		return h.bands[h.starts[band]+int64((row%latticeBand*(high-low)+column-low)*n+channel)]
	case row <= h.rightTurn():
		return h.wholeRows[row*n+channel]
	}
	return h.wholeRows[row*n+channel] - (h.wholeColumns[(h.columns-1)*n+channel] - h.wholeColumns[column*n+channel])
}

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (t *RotatedTable[S]) Close() error {
	if t == nil {
		return nil
	}
	return t.close()
}
