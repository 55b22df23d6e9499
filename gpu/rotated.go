package gpu

import (
	"math"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// A RotatedTable holds tables along the lines of a rotation on a device, one for
// each of Count images of the same size. It answers the same queries as a
// [rotated.Table]. [RotatedTable.Lattice] describes where the pixels of the images
// lie and counts the pixels in boxes.
type RotatedTable[S boxsum.Sum] struct{ rotatedTables }

// rotatedTables are rotated tables without the type of their sums.
type rotatedTables struct {
	images  devmem.Array    // only the sizes of the images
	cells   devmem.Array    // tables of the lattice, an image with holes; two per image if it is split
	lattice *method.Lattice // how they are computed
}

// NewRotatedTable allocates device memory for the tables of count images of the
// given size. Zero channels means one. The contents are undefined until
// [IntegrateRotatedInto] is called.
func NewRotatedTable[S boxsum.Sum](d *Device, width, height, channels, count int, rot rotated.Rotation) (*RotatedTable[S], error) {
	t := new(RotatedTable[S])
	images := devmem.Array{Element: raster.TypeNamed[S](), Width: width, Height: height, Channels: channels, Count: count, Border: 1}
	return raster.OrNil(t, t.make(d.mem(), images, rot))
}

// make allocates the tables of images, whose sizes and type of sums are given.
func (t *rotatedTables) make(m *devmem.Device, images devmem.Array, rot rotated.Rotation) error {
	if err := m.Enter(); err != nil {
		return err
	}
	defer m.Leave()
	images.Device = m
	if _, err := images.Layout(); err != nil {
		return err
	}
	if images.Count > math.MaxInt32/2 {
		return raster.Invalid("number of images is %d, want at most %d", images.Count, math.MaxInt32/2)
	}
	size, err := method.LatticeSize(images.Width, images.Height, rot)
	if err != nil {
		return err
	}
	columns, rows := size.Size()
	cells, err := m.Make(devmem.Array{Element: images.Element, Width: columns, Height: rows, Channels: images.Channels, Count: images.Count << size.Split, Border: 1})
	if err != nil {
		return err
	}
	if t.lattice, err = newLattice(m, images.Width, images.Height, rot); err != nil {
		return driver.FirstError(err, cells.Close())
	}
	t.images, t.cells = images, cells
	return nil
}

// newLattice copies the shape of a lattice to a device. It takes time for every line of an image.
func newLattice(m *devmem.Device, width, height int, rot rotated.Rotation) (*method.Lattice, error) {
	shape, err := method.NewLatticeShape(width, height, rot)
	if err != nil {
		return nil, err
	}
	m.Queue.Lock()
	defer m.Queue.Unlock()
	return method.NewLattice(m, shape)
}

// IntegrateRotated computes the tables of images along the lines of a rotation, on
// their device:
//
//	tables, err := gpu.IntegrateRotated[uint32](images, rotated.Rotation{A: 1, B: 2}, nil)
//
// It supports the same pairs of pixel and sum types as [boxsum.Integrate]. It
// returns an error if opt has an offset.
func IntegrateRotated[S boxsum.Sum, P boxsum.Pixel](src *Image[P], rot rotated.Rotation, opt *Options) (*RotatedTable[S], error) {
	return filled(pairError[S, P](), func() (*RotatedTable[S], error) {
		a := src.inner()
		if a.Device == nil {
			return nil, errNoImage
		}
		return NewRotatedTable[S](&Device{inner: a.Device}, a.Width, a.Height, a.Channels, a.Count, rot)
	}, func(t *RotatedTable[S]) error { return IntegrateRotatedInto(t, src, opt) })
}

// IntegrateRotatedInto is like [IntegrateRotated] but stores the tables in dst,
// which must be on the device of src and have the same number and size of images.
// The rotation is that of dst. It returns when the work is queued.
func IntegrateRotatedInto[S boxsum.Sum, P boxsum.Pixel](dst *RotatedTable[S], src *Image[P], opt *Options) error {
	if dst == nil || dst.lattice == nil {
		return errNoTable
	}
	return dst.tables().integrate(src.inner(), opt)
}

// tables describes how the tables are computed.
func (t *rotatedTables) tables() tables {
	return tables{method: t.lattice, sums: &t.cells, takes: &t.images, open: t.lattice.Open, noOffset: noTiltedOffset}
}

// SumBoxes writes the sums of all channels of table i over each box of the lattice
// to dst: the sum of channel c over boxes[b] is dst[b*Channels+c]. The length of dst
// must be at least len(boxes)*Channels. Cells without a pixel, inside or outside the
// image, count as 0.
func (t *RotatedTable[S]) SumBoxes(i int, dst []S, boxes []rotated.Box) error {
	if err := t.index(i); err != nil {
		return err
	}
	shape, cells := t.lattice.Shape, &t.cells
	bounds := shape.Lattice.Bounds()
	var first []S
	for part := range 1 << shape.Split {
		place := func(n int) [4]int32 {
			box := boxes[n].Intersect(bounds)
			if box.Empty() {
				return [4]int32{}
			}
			r := shape.Part(box, part)
			return [4]int32{int32(r.Min.X), int32(r.Min.Y), int32(r.Max.X), int32(r.Max.Y)}
		}
		if err := method.SumBoxes(cells, dst, len(boxes), place, t.lattice.Boxes(cells, i<<shape.Split+part)); err != nil {
			return err
		}
		if part < shape.Split {
			first = slices.Clone(dst[:len(boxes)*t.Channels()])
		}
	}
	for n, sum := range first {
		dst[n] += sum
	}
	return nil
}

// Download copies table i to a new table in host memory. It returns an error that
// wraps [boxsum.ErrInvalid] if i is out of range.
func (t *RotatedTable[S]) Download(i int) (*rotated.Table[S], error) {
	return onHost(t.index(i), func() (*rotated.Table[S], error) {
		return rotated.NewTable[S](t.Width(), t.Height(), t.Channels(), t.Lattice().Rotation())
	}, func(dst *rotated.Table[S]) error { return t.DownloadInto(i, dst) })
}

// DownloadInto copies table i into dst, which must be for images of the same size
// and have the same rotation.
func (t *RotatedTable[S]) DownloadInto(i int, dst *rotated.Table[S]) error {
	if err := t.index(i); err != nil {
		return err
	}
	if dst == nil || dst.Lattice == nil {
		return errNoHostTable
	}
	if width, height := dst.Size(); width != t.Width() || height != t.Height() || dst.Channels != t.Channels() || dst.Rotation() != t.Lattice().Rotation() {
		return raster.Invalid("the table is for %d×%d with %d channels along %v, want %d×%d with %d along %v", width, height, dst.Channels, dst.Rotation(), t.Width(), t.Height(), t.Channels(), t.Lattice().Rotation())
	}
	planes := engine.PlanesOf(dst)
	if planes.Corners.Data == nil && t.Width() > 0 && t.Height() > 0 {
		return errNoHostTable
	}
	if err := t.download(i, &planes); err != nil {
		return err
	}
	dst.Bound = typical(&t.cells).Bound
	return nil
}

// download copies table i to the host.
func (t *rotatedTables) download(i int, dst *device.RotatedTable) error {
	return using(&t.cells, func() error { return t.lattice.Lines(&t.cells, i, dst) })
}

// index returns an error if there is no table i.
func (t *RotatedTable[S]) index(i int) error {
	if t == nil || t.lattice == nil {
		return errNoTable
	}
	if uint(i) >= uint(t.Count()) {
		return raster.Invalid("index is %d, want 0 to %d for %s", i, t.Count()-1, devmem.Plural(t.Count(), "rotated table"))
	}
	return nil
}

// Lattice returns the lattice, which describes where the pixels of the images lie.
func (t *RotatedTable[S]) Lattice() *rotated.Lattice {
	if t == nil || t.lattice == nil {
		return nil
	}
	return t.lattice.Shape.Lattice
}

// Close frees the device memory once all work that uses it is done. Closing it
// again, or after the device, does nothing.
func (t *RotatedTable[S]) Close() error {
	if t == nil {
		return nil
	}
	return t.free()
}

func (t *rotatedTables) free() error {
	if t.lattice == nil {
		return nil
	}
	d := t.images.Device
	return driver.FirstError(devmem.IgnoreClosed(d.Use(func() error { return t.lattice.Free(d) })), t.cells.Close())
}
