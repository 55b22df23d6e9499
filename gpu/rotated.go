package gpu

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/rotated"
)

// A RotatedTable is tables along the lines of a rotation on a device, one for each
// of Count images of the same size. Each answers what a [rotated.Table] does; its
// lattice knows where pixels lie, and counts those of boxes.
type RotatedTable[S boxsum.Sum] struct {
	shape *latticeShape
	job   latticeJob
	cells *Table[S] // of the lattice, an image with holes; two to an image where it is split
	at    memory    // of what the shape packed; 0 once closed
	spots map[tileSize]spots
}

// A tileSize is the columns and rows of the tiles of a one-pass kernel, and whether
// it goes through them row by row; spots are those tiles that are in a region.
type (
	tileSize struct {
		columns, rows int
		byRows        bool
	}
	spots struct {
		at    memory
		count int
	}
)

// NewRotatedTable takes device memory for the tables of count images of this
// size; zero channels stand for one. What they hold is undefined until
// [IntegrateRotatedInto].
func NewRotatedTable[S boxsum.Sum](d *Device, width, height, channels, count int, rot rotated.Rotation) (*RotatedTable[S], error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	sizes := array{element: elementOf[S](), width: width, height: height, channels: channels, count: count, border: 1}
	if _, err := sizes.lay(); err != nil {
		return nil, err
	}
	shape, err := latticeSize(width, height, rot)
	if err != nil {
		return nil, err
	}
	if count > math.MaxInt32/2 {
		return nil, fmt.Errorf("gpu: %w: %s are too many", boxsum.ErrInvalid, &sizes)
	}
	columns, rows := shape.size()
	cells, err := NewTable[S](d, columns, rows, channels, count<<shape.split)
	if err != nil {
		return nil, err
	}
	if shape, err = newLatticeShape(width, height, rot); err != nil { // only now: it takes its time
		return nil, firstError(err, cells.Close())
	}
	packed, job := shape.pack()
	t := &RotatedTable[S]{shape: shape, job: job, cells: cells, spots: map[tileSize]spots{}}
	if len(packed)/4 > math.MaxInt32 {
		err = fmt.Errorf("gpu: %w: %s are too large", boxsum.ErrInvalid, &sizes)
	}
	if err == nil {
		d.queue.Lock()
		t.at, err = d.upload(packed)
		d.queue.Unlock()
	}
	if err != nil {
		return nil, firstError(err, cells.Close())
	}
	return t, nil
}

// upload is device memory that holds some bytes. It is for calls that have the
// device's queue.
func (d *Device) upload(data []byte) (memory, error) {
	m, err := d.take(int64(len(data)))
	if err != nil || len(data) == 0 {
		return m, err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&data[0])
	n := int64(len(data))
	err = d.backend.copyIn(d.stream, plane{memory: m, stride: n}, unsafe.Pointer(&data[0]), n, rows{n, 1})
	// Also after an error: nothing may use this memory once it is unpinned.
	if err = firstError(err, d.backend.wait(d.stream)); err != nil {
		return 0, firstError(err, d.give(m))
	}
	return m, nil
}

// Lattice is where the pixels of the images lie.
func (t *RotatedTable[S]) Lattice() *rotated.Lattice {
	if t == nil || t.shape == nil {
		return nil
	}
	return t.shape.lattice
}

// Width is that of the images, in pixels.
func (t *RotatedTable[S]) Width() int {
	if t == nil || t.shape == nil {
		return 0
	}
	return t.shape.width
}

// Height is that of the images, in pixels.
func (t *RotatedTable[S]) Height() int {
	if t == nil || t.shape == nil {
		return 0
	}
	return t.shape.height
}

// Channels is how many values a pixel has.
func (t *RotatedTable[S]) Channels() int { return orNone(t).cells.Channels() }

// Count is how many tables there are.
func (t *RotatedTable[S]) Count() int {
	if t == nil || t.shape == nil {
		return 0
	}
	return t.cells.count >> t.shape.split
}

// index says whether there is a table i.
func (t *RotatedTable[S]) index(i int) error {
	if uint(i) >= uint(t.Count()) {
		return fmt.Errorf("gpu: %w: no number %d among %s", boxsum.ErrInvalid, i, several(t.Count(), "rotated table"))
	}
	return nil
}

// IntegrateRotated makes the tables of images along the lines of a rotation, on
// their device:
//
//	tables, err := gpu.IntegrateRotated[uint32](images, rotated.Rotation{A: 1, B: 2}, nil)
//
// The pairs of pixel and sum types are those of [boxsum.Integrate]. There is no
// offset.
func IntegrateRotated[S boxsum.Sum, P boxsum.Pixel](src *Image[P], rot rotated.Rotation, opt *Options) (*RotatedTable[S], error) {
	if src == nil || src.device == nil {
		return nil, errNoImage
	}
	if err := pairError(elementOf[P](), elementOf[S](), none); err != nil {
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
	if dst == nil || dst.cells == nil {
		return errNoTable
	}
	if err := pairError(src.element, dst.cells.element, none); err != nil {
		return err
	}
	o, err := opt.check(dst.cells.element)
	if err != nil {
		return err
	}
	if o.Offset != 0 {
		return errTurnedOffset
	}
	images := array{
		device: dst.cells.device, element: dst.cells.element,
		width: dst.shape.width, height: dst.shape.height, channels: dst.cells.channels, count: dst.Count(), border: 1,
	}
	if err := images.takes(&src.array); err != nil {
		return err
	}
	d := src.device
	return d.use(func() error {
		if err := firstError(dst.cells.open(), src.open()); err != nil {
			return err
		}
		if dst.at == 0 {
			return fmt.Errorf("gpu: rotated table %w", ErrClosed)
		}
		job := integrateJob{
			stream: d.stream, pixel: src.element, sum: dst.cells.element, channels: src.channels,
			width: src.width, height: src.height, count: src.count, in: src.at, out: dst.cells.at,
		}
		if src.width == 0 || src.height == 0 {
			job.width, job.height, job.count, job.gaps = 0, 0, dst.cells.count, dst.cells.ownGaps()
			return d.clear(job)
		}
		return d.latticeIntegrate(job, dst.job, dst.at, dst.spotsOf, o.Kernels)
	})
}

// spotsOf is the tiles of this size to work on, none where all of them are.
func (t *RotatedTable[S]) spotsOf(size tileSize) (spots, error) {
	if size.columns == 0 || pieceColumns%size.columns != 0 || pieceRows%size.rows != 0 {
		return spots{}, nil
	}
	s, ok := t.spots[size]
	if !ok {
		tiles := t.shape.region.tiles(size)
		if len(tiles) == 0 {
			return spots{}, nil
		}
		packed := unsafe.Slice((*byte)(unsafe.Pointer(&tiles[0])), len(tiles)*int(unsafe.Sizeof(tiles[0])))
		at, err := t.cells.device.upload(packed)
		if err != nil {
			return spots{}, err
		}
		s = spots{at, len(tiles)}
		t.spots[size] = s
	}
	return s, nil
}

// SumBoxes writes the sums of all channels over every box of the lattice, from
// table i: channel c of boxes[b] is dst[b*Channels+c]. Cells without a pixel,
// inside the image and outside of it, count as 0.
func (t *RotatedTable[S]) SumBoxes(i int, dst []S, boxes []rotated.Box) error {
	if t == nil || t.cells == nil {
		return errNoTable
	}
	if err := t.index(i); err != nil {
		return err
	}
	bounds := t.shape.lattice.Bounds()
	var first []S
	for part := range 1 << t.shape.split {
		place := func(n int) [4]int32 {
			box := boxes[n].Intersect(bounds)
			if box.Empty() {
				return [4]int32{}
			}
			r := t.shape.part(box, part)
			return [4]int32{int32(r.Min.X), int32(r.Min.Y), int32(r.Max.X), int32(r.Max.Y)}
		}
		launch := func(boxesAt, sumsAt memory, count int) error {
			if t.at == 0 { // it closes
				return fmt.Errorf("gpu: rotated table %w", ErrClosed)
			}
			return t.cells.device.latticeBoxes(&t.cells.array, i<<t.shape.split+part, &t.shape.region, t.job, t.at, boxesAt, sumsAt, count)
		}
		if err := sumPlaced(&t.cells.array, dst, len(boxes), place, launch); err != nil {
			return err
		}
		if part < t.shape.split {
			first = slices.Clone(dst[:len(boxes)*t.Channels()])
		}
	}
	for n, sum := range first {
		dst[n] += sum
	}
	return nil
}

// Download copies table i to the host.
func (t *RotatedTable[S]) Download(i int) (*rotated.Table[S], error) {
	if t == nil || t.cells == nil {
		return nil, errNoTable
	}
	dst, err := rotated.NewTable[S](t.Width(), t.Height(), t.Channels(), t.shape.lattice.Rotation())
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
	if t == nil || t.cells == nil {
		return errNoTable
	}
	if dst == nil || dst.Lattice == nil {
		return fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)
	}
	if width, height := dst.Size(); width != t.Width() || height != t.Height() || dst.Channels != t.Channels() || dst.Rotation() != t.shape.lattice.Rotation() {
		return fmt.Errorf("gpu: %w: a table for %d×%d with %d channels along %v cannot take one of %d×%d with %d along %v",
			boxsum.ErrInvalid, width, height, dst.Channels, dst.Rotation(), t.Width(), t.Height(), t.Channels(), t.shape.lattice.Rotation())
	}
	if err := t.index(i); err != nil {
		return err
	}
	var parts [][]*regionTable[S] // and their channels
	for part := range 1 << t.shape.split {
		cells, err := t.cells.Download(i<<t.shape.split + part)
		if err != nil {
			return err
		}
		var channels []*regionTable[S]
		for c := range t.Channels() {
			channels = append(channels, newRegionTable(t.shape.region, cells, c))
		}
		parts = append(parts, channels)
	}
	bounds := t.shape.lattice.Bounds()
	dst.Fill(func(c, r, channel int) (sum S) {
		for odd, channels := range parts {
			at := t.shape.part(rotated.Box{C0: bounds.C0, R0: bounds.R0, C1: c, R1: r}, odd)
			cells := channels[channel]
			sum += cells.entry(at.Max.X, at.Max.Y) - cells.entry(at.Min.X, at.Max.Y)
		}
		return sum
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

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (t *RotatedTable[S]) Close() error {
	if t == nil || t.cells == nil {
		return nil
	}
	d := t.cells.device
	err := d.use(func() error {
		m := t.at
		if t.at = 0; m == 0 {
			return nil
		}
		errs := []error{d.backend.wait(d.stream), d.give(m)}
		for _, s := range t.spots {
			errs = append(errs, d.give(s.at))
		}
		t.spots = nil
		return firstError(errs...)
	})
	if errors.Is(err, ErrClosed) {
		err = nil
	}
	return firstError(err, t.cells.Close())
}
