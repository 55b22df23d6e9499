// Code generated from kinds.tmpl. DO NOT EDIT.

package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// inner is the array inside, an empty one where there is nothing.
func (im *Image[P]) inner() *devmem.Array {
	if im == nil {
		return &devmem.Array{}
	}
	return &im.array
}

// Width is that of the images, in pixels.
func (im *Image[P]) Width() int { return im.inner().Width }

// Height is that of the images, in pixels.
func (im *Image[P]) Height() int { return im.inner().Height }

// Channels is how many values a pixel has.
func (im *Image[P]) Channels() int { return im.inner().Channels }

// Count is how many images there are.
func (im *Image[P]) Count() int { return im.inner().Count }

// String tells what it is.
func (im *Image[P]) String() string { return im.inner().String() }

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (im *Image[P]) Close() error { return im.inner().Close() }

// Inner is for packages of this module: nobody else can make a key.
func (im *Image[P]) Inner(launch.Key) *devmem.Array { return &im.array }

// inner is the array inside, an empty one where there is nothing.
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

// inner is the array inside, an empty one where there is nothing.
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

// inner is the array inside, an empty one where there is nothing.
func (t *RotatedTable[S]) inner() *devmem.Array {
	if t == nil {
		return &devmem.Array{}
	}
	return &t.images
}

// Width is that of the images, in pixels.
func (t *RotatedTable[S]) Width() int { return t.inner().Width }

// Height is that of the images, in pixels.
func (t *RotatedTable[S]) Height() int { return t.inner().Height }

// Channels is how many values a pixel has.
func (t *RotatedTable[S]) Channels() int { return t.inner().Channels }

// Count is how many tables there are.
func (t *RotatedTable[S]) Count() int { return t.inner().Count }

// inner is the array inside, an empty one where there is nothing.
func (h *Histogram) inner() *devmem.Array {
	if h == nil {
		return &devmem.Array{}
	}
	return &h.images
}

// Width is that of the images, in pixels.
func (h *Histogram) Width() int { return h.inner().Width }

// Height is that of the images, in pixels.
func (h *Histogram) Height() int { return h.inner().Height }

// Channels is how many values a pixel has.
func (h *Histogram) Channels() int { return h.inner().Channels }

// Count is how many integral histograms there are.
func (h *Histogram) Count() int { return h.inner().Count }

// inner is the array inside, an empty one where there is nothing.
func (v *Volume[P]) inner() *devmem.Array {
	if v == nil {
		return &devmem.Array{}
	}
	return &v.array
}

// Width is that of the volume, in voxels.
func (v *Volume[P]) Width() int { return v.inner().Width }

// Height is that of the volume, in voxels.
func (v *Volume[P]) Height() int { return v.inner().Height }

// Channels is how many values a voxel has.
func (v *Volume[P]) Channels() int { return v.inner().Channels }

// Depth is that of the volume, in voxels.
func (v *Volume[P]) Depth() int { return v.inner().Depth }

// String tells what it is.
func (v *Volume[P]) String() string { return v.inner().String() }

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (v *Volume[P]) Close() error { return v.inner().Close() }

// Inner is for packages of this module: nobody else can make a key.
func (v *Volume[P]) Inner(launch.Key) *devmem.Array { return &v.array }

// inner is the array inside, an empty one where there is nothing.
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

// Channels is how many values a voxel has.
func (t *VolumeTable[S]) Channels() int { return t.inner().Channels }

// Depth is that of the volume, in voxels.
func (t *VolumeTable[S]) Depth() int { return t.inner().Depth }

// String tells what it is.
func (t *VolumeTable[S]) String() string { return t.inner().String() }

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (t *VolumeTable[S]) Close() error { return t.inner().Close() }

// Inner is for packages of this module: nobody else can make a key.
func (t *VolumeTable[S]) Inner(launch.Key) *devmem.Array { return &t.array }

// NewTable takes device memory for the tables of count images of this size; zero
// channels stand for one. What they hold is undefined until [IntegrateInto].
func NewTable[S boxsum.Sum](d *Device, width, height, channels, count int) (*Table[S], error) {
	return wrapped[Table[S]](d.mem().Make(devmem.Array{Element: pairs.Of[S](), Width: width, Height: height, Channels: channels, Count: count, Border: 1}))
}

// Integrate makes the tables of images, on their device:
//
//	tables, err := gpu.Integrate[uint32](images, nil)
//
// The pairs of pixel and sum types are those of [boxsum.Integrate].
func Integrate[S boxsum.Sum, P boxsum.Pixel](src *Image[P], opt *Options) (*Table[S], error) {
	return filled(pairError[S, P](), func() (*Table[S], error) { return wrapped[Table[S]](tablesOf[S](src.inner())) },
		func(t *Table[S]) error { return IntegrateInto(t, src, opt) })
}

// IntegrateInto makes the tables of images in dst, which must be on the same
// device, for as many images of the same size, and in other memory. It returns when
// the work is queued: later calls see its result, and [Device.Wait] waits for it.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src *Image[P], opt *Options) error {
	return tables{method: method.Plane{}, sums: dst.inner()}.integrate(src.inner(), opt)
}

// IntegrateHost makes the table of an image in host memory on a device. The image
// goes there in bands of rows, each carrying on from the last row of the one
// above, so that neither image nor table must fit the device; bands are copied
// in while others are summed and copied out. Pixels of a [NewHostImage] are read
// where they are, and sums go straight into a [NewHostTable].
//
// The pairs of types are those of [boxsum.Integrate].
func IntegrateHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*boxsum.Table[S], error) {
	w, err := workPlane(&src, pairs.Of[S](), 0, opt)
	return hosted(d, err, func() (*boxsum.Table[S], error) { return freshTable[S](w) },
		func(t *boxsum.Table[S]) error { return runPlane(d, w, t, noPlaneSquares) })
}

// IntegrateHostInto is [IntegrateHost] into a table that is already there, which
// must have the image's size and may not lie in its memory.
func IntegrateHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *boxsum.Table[S], src boxsum.Image[P], opt *Options) error {
	w, err := workPlane(&src, pairs.Of[S](), 0, opt)
	if err != nil {
		return err
	}
	return runPlane(d, w, dst, noPlaneSquares)
}

// Download copies table i to the host.
func (t *Table[S]) Download(i int) (*boxsum.Table[S], error) {
	a := t.inner()
	return onHost(numbered(a, i), func() (*boxsum.Table[S], error) { return boxsum.NewTable[S](a.Width, a.Height, a.Channels) },
		func(dst *boxsum.Table[S]) error { return t.DownloadInto(i, dst) })
}

// A SquaredTable is the tables of images beside those of their squares.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable takes device memory for both tables of count images of this size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](d *Device, width, height, channels, count int) (*SquaredTable[S, Q], error) {
	sum, squares, err := both(func() (*Table[S], error) { return NewTable[S](d, width, height, channels, count) },
		func() (*Table[Q], error) { return NewTable[Q](d, width, height, channels, count) })
	if err != nil {
		return nil, err
	}
	return &SquaredTable[S, Q]{sum, squares}, nil
}

// IntegrateSquares makes the tables of images and those of their squares
// together. The types go together as in [boxsum.IntegrateSquares]. Floats
// that all lie far from zero lose an offset first, see [Options].
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Image[P], opt *Options) (*SquaredTable[S, Q], error) {
	return filled(squaresError[S, Q, P](), func() (*SquaredTable[S, Q], error) {
		sum, squares, err := both(func() (*Table[S], error) { return wrapped[Table[S]](tablesOf[S](src.inner())) },
			func() (*Table[Q], error) { return wrapped[Table[Q]](tablesOf[Q](src.inner())) })
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

// IntegrateSquaresHost is [IntegrateHost] for the table of an image and that of
// its squares. The types go together as in [boxsum.IntegrateSquares].
func IntegrateSquaresHost[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*boxsum.SquaredTable[S, Q], error) {
	w, err := workPlane(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	return hosted(d, err, func() (*boxsum.SquaredTable[S, Q], error) {
		return freshSquares[S, Q](w)
	}, func(t *boxsum.SquaredTable[S, Q]) error { return runPlane(d, w, t.Sum, t.Squares) })
}

// IntegrateSquaresHostInto is [IntegrateSquaresHost] into tables that are already
// there, each in memory of its own.
func IntegrateSquaresHostInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, dst *boxsum.SquaredTable[S, Q], src boxsum.Image[P], opt *Options) error {
	w, err := workPlane(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	if err != nil {
		return err
	}
	if dst == nil || dst.Squares == nil {
		return errNoHostTable
	}
	return runPlane(d, w, dst.Sum, dst.Squares)
}

// Download copies both tables of image i to the host.
func (t *SquaredTable[S, Q]) Download(i int) (*boxsum.SquaredTable[S, Q], error) {
	if t == nil {
		return nil, errNoTable
	}
	a := t.Squares.inner()
	if err := numbered(a, i); err != nil {
		return nil, err
	}
	sum, err := t.Sum.Download(i)
	if err != nil {
		return nil, err
	}
	squares, err := boxsum.NewTable[Q](a.Width, a.Height, a.Channels)
	if err == nil {
		err = t.Squares.fetch(i, squares, false)
	}
	if err != nil {
		return nil, err
	}
	both := &boxsum.SquaredTable[S, Q]{Sum: sum, Squares: squares}
	both.Tie()
	return both, nil
}

// Close frees both tables.
func (t *SquaredTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return driver.FirstError(t.Sum.Close(), t.Squares.Close())
}

// NewTiltedTable takes device memory for the tilted tables of count images of this size; zero
// channels stand for one. What they hold is undefined until [IntegrateTiltedInto].
func NewTiltedTable[S boxsum.Sum](d *Device, width, height, channels, count int) (*TiltedTable[S], error) {
	return wrapped[TiltedTable[S]](d.mem().Make(devmem.Array{Element: pairs.Of[S](), Width: width, Height: height, Channels: channels, Count: count, Border: 1}))
}

// IntegrateTilted makes the tilted tables of images, on their device:
//
//	tables, err := gpu.IntegrateTilted[uint32](images, nil)
//
// The pairs of pixel and sum types are those of [boxsum.Integrate]. Tilted tables
// take no offset, and there is one way to make them: [Fast] is an error.
func IntegrateTilted[S boxsum.Sum, P boxsum.Pixel](src *Image[P], opt *Options) (*TiltedTable[S], error) {
	return filled(pairError[S, P](), func() (*TiltedTable[S], error) { return wrapped[TiltedTable[S]](tablesOf[S](src.inner())) },
		func(t *TiltedTable[S]) error { return IntegrateTiltedInto(t, src, opt) })
}

// IntegrateTiltedInto makes the tilted tables of images in dst, which must be on the same
// device, for as many images of the same size, and in other memory. It returns when
// the work is queued: later calls see its result, and [Device.Wait] waits for it.
func IntegrateTiltedInto[S boxsum.Sum, P boxsum.Pixel](dst *TiltedTable[S], src *Image[P], opt *Options) error {
	return tables{method: method.Tilted{}, sums: dst.inner(), noOffset: noTiltedOffset}.integrate(src.inner(), opt)
}

// IntegrateTiltedHost makes the tilted table of an image on a device, from host
// memory to host memory. Both must fit the device.
func IntegrateTiltedHost[S boxsum.Sum, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*tilted.Table[S], error) {
	w, err := workTilted(&src, pairs.Of[S](), 0, opt)
	return hosted(d, err, func() (*tilted.Table[S], error) { return tilted.NewTable[S](src.Width, src.Height, src.Channels) },
		func(t *tilted.Table[S]) error { return runTilted(d, w, t, noTiltedSquares, src, opt) })
}

// IntegrateTiltedHostInto is [IntegrateTiltedHost] into a table that is already there, which
// must have the image's size and may not lie in its memory.
func IntegrateTiltedHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *tilted.Table[S], src boxsum.Image[P], opt *Options) error {
	w, err := workTilted(&src, pairs.Of[S](), 0, opt)
	if err != nil {
		return err
	}
	return runTilted(d, w, dst, noTiltedSquares, src, opt)
}

// Download copies table i to the host.
func (t *TiltedTable[S]) Download(i int) (*tilted.Table[S], error) {
	a := t.inner()
	return onHost(numbered(a, i), func() (*tilted.Table[S], error) { return tilted.NewTable[S](a.Width, a.Height, a.Channels) },
		func(dst *tilted.Table[S]) error { return t.DownloadInto(i, dst) })
}

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

// IntegrateTiltedSquares makes the tilted tables of images and those of their squares
// together. The types go together as in [boxsum.IntegrateSquares].
func IntegrateTiltedSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Image[P], opt *Options) (*SquaredTiltedTable[S, Q], error) {
	return filled(squaresError[S, Q, P](), func() (*SquaredTiltedTable[S, Q], error) {
		sum, squares, err := both(func() (*TiltedTable[S], error) { return wrapped[TiltedTable[S]](tablesOf[S](src.inner())) },
			func() (*TiltedTable[Q], error) { return wrapped[TiltedTable[Q]](tablesOf[Q](src.inner())) })
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

// IntegrateTiltedSquaresHost is [IntegrateTiltedHost] for the table of an image and that of
// its squares. The types go together as in [boxsum.IntegrateSquares].
func IntegrateTiltedSquaresHost[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, src boxsum.Image[P], opt *Options) (*tilted.SquaredTable[S, Q], error) {
	w, err := workTilted(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	return hosted(d, err, func() (*tilted.SquaredTable[S, Q], error) {
		return tilted.NewSquaredTable[S, Q](src.Width, src.Height, src.Channels)
	}, func(t *tilted.SquaredTable[S, Q]) error { return runTilted(d, w, t.Sum, t.Squares, src, opt) })
}

// IntegrateTiltedSquaresHostInto is [IntegrateTiltedSquaresHost] into tables that are already
// there, each in memory of its own.
func IntegrateTiltedSquaresHostInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, dst *tilted.SquaredTable[S, Q], src boxsum.Image[P], opt *Options) error {
	w, err := workTilted(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	if err != nil {
		return err
	}
	if dst == nil || dst.Squares == nil {
		return errNoHostTable
	}
	return runTilted(d, w, dst.Sum, dst.Squares, src, opt)
}

// Download copies both tables of image i to the host.
func (t *SquaredTiltedTable[S, Q]) Download(i int) (*tilted.SquaredTable[S, Q], error) {
	if t == nil {
		return nil, errNoTable
	}
	a := t.Squares.inner()
	if err := numbered(a, i); err != nil {
		return nil, err
	}
	sum, err := t.Sum.Download(i)
	if err != nil {
		return nil, err
	}
	squares, err := tilted.NewTable[Q](a.Width, a.Height, a.Channels)
	if err == nil {
		err = t.Squares.fetch(i, squares, false)
	}
	if err != nil {
		return nil, err
	}
	both := &tilted.SquaredTable[S, Q]{Sum: sum, Squares: squares}
	return both, nil
}

// Close frees both tables.
func (t *SquaredTiltedTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return driver.FirstError(t.Sum.Close(), t.Squares.Close())
}

// NewVolumeTable takes device memory for the table of a volume of this size; zero
// channels stand for one. What it holds is undefined until [IntegrateVolumeInto].
func NewVolumeTable[S boxsum.Sum](d *Device, width, height, depth, channels int) (*VolumeTable[S], error) {
	return wrapped[VolumeTable[S]](d.mem().Make(devmem.Array{Element: pairs.Of[S](), Width: width, Height: height, Channels: channels, Volume: true, Depth: depth, Border: 1}))
}

// IntegrateVolume makes the table of a volume, on its device:
//
//	table, err := gpu.IntegrateVolume[uint32](vol, nil)
//
// The pairs of voxel and sum types are those of [volume.Integrate].
func IntegrateVolume[S boxsum.Sum, P boxsum.Pixel](src *Volume[P], opt *Options) (*VolumeTable[S], error) {
	return filled(pairError[S, P](), func() (*VolumeTable[S], error) { return wrapped[VolumeTable[S]](tablesOf[S](src.inner())) },
		func(t *VolumeTable[S]) error { return IntegrateVolumeInto(t, src, opt) })
}

// IntegrateVolumeInto makes the table of a volume in dst, which must be on the same
// device, have its size and lie in other memory. It returns when
// the work is queued: later calls see its result, and [Device.Wait] waits for it.
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
	w, err := workVolume(&src, pairs.Of[S](), 0, opt)
	return hosted(d, err, func() (*volume.Table[S], error) {
		return volume.NewTable[S](src.Width, src.Height, src.Depth, src.Channels)
	},
		func(t *volume.Table[S]) error { return runVolume(d, w, t, noVolumeSquares) })
}

// IntegrateVolumeHostInto is [IntegrateVolumeHost] into a table that is already there, which
// must have the volume's size and may not lie in its memory.
func IntegrateVolumeHostInto[S boxsum.Sum, P boxsum.Pixel](d *Device, dst *volume.Table[S], src volume.Volume[P], opt *Options) error {
	w, err := workVolume(&src, pairs.Of[S](), 0, opt)
	if err != nil {
		return err
	}
	return runVolume(d, w, dst, noVolumeSquares)
}

// Download copies the table to the host.
func (t *VolumeTable[S]) Download() (*volume.Table[S], error) {
	a := t.inner()
	return onHost(numbered(a, 0), func() (*volume.Table[S], error) { return volume.NewTable[S](a.Width, a.Height, a.Depth, a.Channels) },
		func(dst *volume.Table[S]) error { return t.DownloadInto(dst) })
}

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

// IntegrateVolumeSquares makes the table of a volume and that of its squares
// together. The types go together as in [volume.IntegrateSquares]. Floats
// that all lie far from zero lose an offset first, see [Options].
func IntegrateVolumeSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Volume[P], opt *Options) (*SquaredVolumeTable[S, Q], error) {
	return filled(squaresError[S, Q, P](), func() (*SquaredVolumeTable[S, Q], error) {
		sum, squares, err := both(func() (*VolumeTable[S], error) { return wrapped[VolumeTable[S]](tablesOf[S](src.inner())) },
			func() (*VolumeTable[Q], error) { return wrapped[VolumeTable[Q]](tablesOf[Q](src.inner())) })
		return &SquaredVolumeTable[S, Q]{sum, squares}, err
	}, func(t *SquaredVolumeTable[S, Q]) error { return IntegrateVolumeSquaresInto(t, src, opt) })
}

// IntegrateVolumeSquaresInto makes both tables of a volume in dst, as [IntegrateVolumeInto]
// does one.
func IntegrateVolumeSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredVolumeTable[S, Q], src *Volume[P], opt *Options) error {
	if dst == nil {
		return errNoTable
	}
	return tables{method: method.Volume{}, sums: dst.Sum.inner(), squares: dst.Squares.inner()}.integrate(src.inner(), opt)
}

// IntegrateVolumeSquaresHost is [IntegrateVolumeHost] for the table of a volume and that of
// its squares. The types go together as in [volume.IntegrateSquares].
func IntegrateVolumeSquaresHost[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, src volume.Volume[P], opt *Options) (*volume.SquaredTable[S, Q], error) {
	w, err := workVolume(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	return hosted(d, err, func() (*volume.SquaredTable[S, Q], error) {
		return volume.NewSquaredTable[S, Q](src.Width, src.Height, src.Depth, src.Channels)
	}, func(t *volume.SquaredTable[S, Q]) error { return runVolume(d, w, t.Sum, t.Squares) })
}

// IntegrateVolumeSquaresHostInto is [IntegrateVolumeSquaresHost] into tables that are already
// there, each in memory of its own.
func IntegrateVolumeSquaresHostInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, dst *volume.SquaredTable[S, Q], src volume.Volume[P], opt *Options) error {
	w, err := workVolume(&src, pairs.Of[S](), pairs.Of[Q](), opt)
	if err != nil {
		return err
	}
	if dst == nil || dst.Squares == nil {
		return errNoHostTable
	}
	return runVolume(d, w, dst.Sum, dst.Squares)
}

// Download copies both tables to the host.
func (t *SquaredVolumeTable[S, Q]) Download() (*volume.SquaredTable[S, Q], error) {
	if t == nil {
		return nil, errNoTable
	}
	a := t.Squares.inner()
	if err := numbered(a, 0); err != nil {
		return nil, err
	}
	sum, err := t.Sum.Download()
	if err != nil {
		return nil, err
	}
	squares, err := volume.NewTable[Q](a.Width, a.Height, a.Depth, a.Channels)
	if err == nil {
		err = t.Squares.fetch(squares, false)
	}
	if err != nil {
		return nil, err
	}
	both := &volume.SquaredTable[S, Q]{Sum: sum, Squares: squares}
	both.Tie()
	return both, nil
}

// Close frees both tables.
func (t *SquaredVolumeTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return driver.FirstError(t.Sum.Close(), t.Squares.Close())
}
