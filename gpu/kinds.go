package gpu

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// inner returns the underlying array, or an empty one for nil.
func (im *Image[P]) inner() *devmem.Array {
	if im == nil {
		return &devmem.Array{}
	}
	return inside.ArrayOf(&im.holder)
}

// Width returns the width of the images, in pixels.
func (im *Image[P]) Width() int { return im.inner().Width }

// Height returns the height of the images, in pixels.
func (im *Image[P]) Height() int { return im.inner().Height }

// Channels returns the number of values per pixel.
func (im *Image[P]) Channels() int { return im.inner().Channels }

// Count returns the number of images.
func (im *Image[P]) Count() int { return im.inner().Count }

// String returns a description such as "2 images of 640×480 pixels with 1
// channel of uint8".
func (im *Image[P]) String() string { return im.inner().String() }

// Close frees the device memory once all work that uses it is done. Closing it
// again, or after the device, does nothing.
func (im *Image[P]) Close() error { return im.inner().Close() }

// inner returns the underlying array, or an empty one for nil.
func (t *Table[S]) inner() *devmem.Array {
	if t == nil {
		return &devmem.Array{}
	}
	return inside.ArrayOf(&t.holder)
}

// Width returns the width of the images, in pixels.
func (t *Table[S]) Width() int { return t.inner().Width }

// Height returns the height of the images, in pixels.
func (t *Table[S]) Height() int { return t.inner().Height }

// Channels returns the number of values per pixel.
func (t *Table[S]) Channels() int { return t.inner().Channels }

// Count returns the number of tables.
func (t *Table[S]) Count() int { return t.inner().Count }

// String returns a description such as "2 tables of 640×480 pixels with 1
// channel of uint32".
func (t *Table[S]) String() string { return t.inner().String() }

// Close frees the device memory once all work that uses it is done. Closing it
// again, or after the device, does nothing.
func (t *Table[S]) Close() error { return t.inner().Close() }

// inner returns the underlying array, or an empty one for nil.
func (t *TiltedTable[S]) inner() *devmem.Array {
	if t == nil {
		return &devmem.Array{}
	}
	return inside.ArrayOf(&t.holder)
}

// Width returns the width of the images, in pixels.
func (t *TiltedTable[S]) Width() int { return t.inner().Width }

// Height returns the height of the images, in pixels.
func (t *TiltedTable[S]) Height() int { return t.inner().Height }

// Channels returns the number of values per pixel.
func (t *TiltedTable[S]) Channels() int { return t.inner().Channels }

// Count returns the number of tables.
func (t *TiltedTable[S]) Count() int { return t.inner().Count }

// String returns a description such as "2 tables of 640×480 pixels with 1
// channel of uint32".
func (t *TiltedTable[S]) String() string { return t.inner().String() }

// Close frees the device memory once all work that uses it is done. Closing it
// again, or after the device, does nothing.
func (t *TiltedTable[S]) Close() error { return t.inner().Close() }

// inner returns the underlying array, or an empty one for nil.
func (t *RotatedTable[S]) inner() *devmem.Array {
	if t == nil {
		return &devmem.Array{}
	}
	return &t.images
}

// Width returns the width of the images, in pixels.
func (t *RotatedTable[S]) Width() int { return t.inner().Width }

// Height returns the height of the images, in pixels.
func (t *RotatedTable[S]) Height() int { return t.inner().Height }

// Channels returns the number of values per pixel.
func (t *RotatedTable[S]) Channels() int { return t.inner().Channels }

// Count returns the number of tables.
func (t *RotatedTable[S]) Count() int { return t.inner().Count }

// inner returns the underlying array, or an empty one for nil.
func (h *Histogram) inner() *devmem.Array {
	if h == nil {
		return &devmem.Array{}
	}
	return &h.images
}

// Width returns the width of the images, in pixels.
func (h *Histogram) Width() int { return h.inner().Width }

// Height returns the height of the images, in pixels.
func (h *Histogram) Height() int { return h.inner().Height }

// Channels returns the number of values per pixel.
func (h *Histogram) Channels() int { return h.inner().Channels }

// Count returns the number of integral histograms.
func (h *Histogram) Count() int { return h.inner().Count }

// inner returns the underlying array, or an empty one for nil.
func (v *Volume[P]) inner() *devmem.Array {
	if v == nil {
		return &devmem.Array{}
	}
	return inside.ArrayOf(&v.holder)
}

// Width returns the width of the volume, in voxels.
func (v *Volume[P]) Width() int { return v.inner().Width }

// Height returns the height of the volume, in voxels.
func (v *Volume[P]) Height() int { return v.inner().Height }

// Channels returns the number of values per voxel.
func (v *Volume[P]) Channels() int { return v.inner().Channels }

// Depth returns the depth of the volume, in voxels.
func (v *Volume[P]) Depth() int { return v.inner().Depth }

// String returns a description such as "volume of 64×64×32 voxels with 1 channel
// of uint8".
func (v *Volume[P]) String() string { return v.inner().String() }

// Close frees the device memory once all work that uses it is done. Closing it
// again, or after the device, does nothing.
func (v *Volume[P]) Close() error { return v.inner().Close() }

// inner returns the underlying array, or an empty one for nil.
func (t *VolumeTable[S]) inner() *devmem.Array {
	if t == nil {
		return &devmem.Array{}
	}
	return inside.ArrayOf(&t.holder)
}

// Width returns the width of the volume, in voxels.
func (t *VolumeTable[S]) Width() int { return t.inner().Width }

// Height returns the height of the volume, in voxels.
func (t *VolumeTable[S]) Height() int { return t.inner().Height }

// Channels returns the number of values per voxel.
func (t *VolumeTable[S]) Channels() int { return t.inner().Channels }

// Depth returns the depth of the volume, in voxels.
func (t *VolumeTable[S]) Depth() int { return t.inner().Depth }

// String returns a description such as "table of 64×64×32 voxels with 1 channel
// of uint32".
func (t *VolumeTable[S]) String() string { return t.inner().String() }

// Close frees the device memory once all work that uses it is done. Closing it
// again, or after the device, does nothing.
func (t *VolumeTable[S]) Close() error { return t.inner().Close() }

// NewTable allocates device memory for the tables of count images of the given
// size. Zero channels means one. The contents are undefined until
// [IntegrateInto] is called.
func NewTable[S boxsum.Sum](d *Device, width, height, channels, count int) (*Table[S], error) {
	return wrapped[Table[S]](d.mem().Make(devmem.Array{Element: raster.TypeNamed[S](), Width: width, Height: height, Channels: channels, Count: count, Border: 1}))
}

// Integrate computes the tables of images on their device:
//
//	tables, err := gpu.Integrate[uint32](images, nil)
//
// It supports the same pairs of pixel and sum types as [boxsum.Integrate].
func Integrate[S boxsum.Sum, P boxsum.Pixel](src *Image[P], opt *Options) (*Table[S], error) {
	return filled(pairError[S, P](), func() (*Table[S], error) { return wrapped[Table[S]](tablesOf[S](src.inner())) },
		func(t *Table[S]) error { return IntegrateInto(t, src, opt) })
}

// IntegrateInto computes the tables of images and stores them in dst, which must
// be on the same device, have the same number and size of images, and must not
// overlap src. It returns when the work is queued. Later calls see the result,
// and [Device.Wait] waits for it.
func IntegrateInto[S boxsum.Sum, P boxsum.Pixel](dst *Table[S], src *Image[P], opt *Options) error {
	return tables{method: method.Plane{}, sums: dst.inner()}.integrate(src.inner(), opt)
}

// Download copies table i to a new table in host memory. It returns an error
// that wraps [boxsum.ErrInvalid] if i is out of range.
func (t *Table[S]) Download(i int) (*boxsum.Table[S], error) {
	a := t.inner()
	return onHost(numbered(a, i), func() (*boxsum.Table[S], error) { return boxsum.NewTable[S](a.Width, a.Height, a.Channels) },
		func(dst *boxsum.Table[S]) error { return t.DownloadInto(i, dst) })
}

// A SquaredTable holds the tables of images and the tables of their squares on a
// device.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable allocates device memory for the tables of count images of the
// given size and for the tables of their squares. Zero channels means one. The
// contents are undefined until [IntegrateSquaresInto] is called.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](d *Device, width, height, channels, count int) (*SquaredTable[S, Q], error) {
	sum, squares, err := both(func() (*Table[S], error) { return NewTable[S](d, width, height, channels, count) },
		func() (*Table[Q], error) { return NewTable[Q](d, width, height, channels, count) })
	if err != nil {
		return nil, err
	}
	return &SquaredTable[S, Q]{sum, squares}, nil
}

// IntegrateSquares computes the tables of images and of their squares together. The
// supported types are those of [boxsum.IntegrateSquares]. If all pixels are floats
// far from zero, an offset is subtracted first; see [Options].
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Image[P], opt *Options) (*SquaredTable[S, Q], error) {
	return filled(squaresError[S, Q, P](), func() (*SquaredTable[S, Q], error) {
		sum, squares, err := both(func() (*Table[S], error) { return wrapped[Table[S]](tablesOf[S](src.inner())) },
			func() (*Table[Q], error) { return wrapped[Table[Q]](tablesOf[Q](src.inner())) })
		return &SquaredTable[S, Q]{sum, squares}, err
	}, func(t *SquaredTable[S, Q]) error { return IntegrateSquaresInto(t, src, opt) })
}

// IntegrateSquaresInto is like [IntegrateSquares] but stores the tables in dst.
// Both tables of dst must be on the device of src, have the same number and size
// of images, and must not overlap src. It returns when the work is queued. Later
// calls see the result, and [Device.Wait] waits for it.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src *Image[P], opt *Options) error {
	if dst == nil {
		return errNoTable
	}
	return tables{method: method.Plane{}, sums: dst.Sum.inner(), squares: dst.Squares.inner()}.integrate(src.inner(), opt)
}

// Download copies both tables of image i to new tables in host memory. It
// returns an error that wraps [boxsum.ErrInvalid] if i is out of range.
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
	return boxsum.SquaredTableOf(sum, squares)
}

// Close frees the memory of both tables once all work that uses it is done.
// Closing them again, or after the device, does nothing.
func (t *SquaredTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return driver.FirstError(t.Sum.Close(), t.Squares.Close())
}

// NewTiltedTable allocates device memory for the tilted tables of count images
// of the given size. Zero channels means one. The contents are undefined until
// [IntegrateTiltedInto] is called.
func NewTiltedTable[S boxsum.Sum](d *Device, width, height, channels, count int) (*TiltedTable[S], error) {
	return wrapped[TiltedTable[S]](d.mem().Make(devmem.Array{Element: raster.TypeNamed[S](), Width: width, Height: height, Channels: channels, Count: count, Border: 1}))
}

// IntegrateTilted computes the tilted tables of images on their device:
//
//	tables, err := gpu.IntegrateTilted[uint32](images, nil)
//
// It supports the same pairs of pixel and sum types as [boxsum.Integrate]. It
// returns an error if opt has an offset or selects [Fast], because tilted tables
// have only one kind of kernel.
func IntegrateTilted[S boxsum.Sum, P boxsum.Pixel](src *Image[P], opt *Options) (*TiltedTable[S], error) {
	return filled(pairError[S, P](), func() (*TiltedTable[S], error) { return wrapped[TiltedTable[S]](tablesOf[S](src.inner())) },
		func(t *TiltedTable[S]) error { return IntegrateTiltedInto(t, src, opt) })
}

// IntegrateTiltedInto computes the tilted tables of images and stores them in
// dst, which must be on the same device, have the same number and size of images,
// and must not overlap src. It returns when the work is queued. Later calls see
// the result, and [Device.Wait] waits for it.
func IntegrateTiltedInto[S boxsum.Sum, P boxsum.Pixel](dst *TiltedTable[S], src *Image[P], opt *Options) error {
	return tables{method: method.Tilted{}, sums: dst.inner(), noOffset: noTiltedOffset}.integrate(src.inner(), opt)
}

// Download copies table i to a new table in host memory. It returns an error
// that wraps [boxsum.ErrInvalid] if i is out of range.
func (t *TiltedTable[S]) Download(i int) (*tilted.Table[S], error) {
	a := t.inner()
	return onHost(numbered(a, i), func() (*tilted.Table[S], error) { return tilted.NewTable[S](a.Width, a.Height, a.Channels) },
		func(dst *tilted.Table[S]) error { return t.DownloadInto(i, dst) })
}

// A SquaredTiltedTable holds the tilted tables of images and the tilted tables
// of their squares on a device.
type SquaredTiltedTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *TiltedTable[S]
	Squares *TiltedTable[Q]
}

// NewSquaredTiltedTable allocates device memory for the tilted tables of count
// images of the given size and for the tilted tables of their squares. Zero
// channels means one. The contents are undefined until
// [IntegrateTiltedSquaresInto] is called.
func NewSquaredTiltedTable[S boxsum.Sum, Q boxsum.Square](d *Device, width, height, channels, count int) (*SquaredTiltedTable[S, Q], error) {
	sum, squares, err := both(func() (*TiltedTable[S], error) { return NewTiltedTable[S](d, width, height, channels, count) },
		func() (*TiltedTable[Q], error) { return NewTiltedTable[Q](d, width, height, channels, count) })
	if err != nil {
		return nil, err
	}
	return &SquaredTiltedTable[S, Q]{sum, squares}, nil
}

// IntegrateTiltedSquares computes the tilted tables of images and of their squares
// together. The supported types are those of [boxsum.IntegrateSquares].
func IntegrateTiltedSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Image[P], opt *Options) (*SquaredTiltedTable[S, Q], error) {
	return filled(squaresError[S, Q, P](), func() (*SquaredTiltedTable[S, Q], error) {
		sum, squares, err := both(func() (*TiltedTable[S], error) { return wrapped[TiltedTable[S]](tablesOf[S](src.inner())) },
			func() (*TiltedTable[Q], error) { return wrapped[TiltedTable[Q]](tablesOf[Q](src.inner())) })
		return &SquaredTiltedTable[S, Q]{sum, squares}, err
	}, func(t *SquaredTiltedTable[S, Q]) error { return IntegrateTiltedSquaresInto(t, src, opt) })
}

// IntegrateTiltedSquaresInto is like [IntegrateTiltedSquares] but stores the
// tables in dst. Both tables of dst must be on the device of src, have the same
// number and size of images, and must not overlap src. It returns when the work
// is queued. Later calls see the result, and [Device.Wait] waits for it.
func IntegrateTiltedSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTiltedTable[S, Q], src *Image[P], opt *Options) error {
	if dst == nil {
		return errNoTable
	}
	return tables{method: method.Tilted{}, sums: dst.Sum.inner(), squares: dst.Squares.inner(), noOffset: noTiltedOffset}.integrate(src.inner(), opt)
}

// Download copies both tables of image i to new tables in host memory. It
// returns an error that wraps [boxsum.ErrInvalid] if i is out of range.
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
	return &tilted.SquaredTable[S, Q]{Sum: sum, Squares: squares}, nil
}

// Close frees the memory of both tables once all work that uses it is done.
// Closing them again, or after the device, does nothing.
func (t *SquaredTiltedTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return driver.FirstError(t.Sum.Close(), t.Squares.Close())
}

// NewVolumeTable allocates device memory for the table of a volume of the given
// size. Zero channels means one. The contents are undefined until
// [IntegrateVolumeInto] is called.
func NewVolumeTable[S boxsum.Sum](d *Device, width, height, depth, channels int) (*VolumeTable[S], error) {
	return wrapped[VolumeTable[S]](d.mem().Make(devmem.Array{Element: raster.TypeNamed[S](), Width: width, Height: height, Channels: channels, Volume: true, Depth: depth, Border: 1}))
}

// IntegrateVolume computes the table of a volume on its device:
//
//	table, err := gpu.IntegrateVolume[uint32](vol, nil)
//
// It supports the same pairs of voxel and sum types as [volume.Integrate].
func IntegrateVolume[S boxsum.Sum, P boxsum.Pixel](src *Volume[P], opt *Options) (*VolumeTable[S], error) {
	return filled(pairError[S, P](), func() (*VolumeTable[S], error) { return wrapped[VolumeTable[S]](tablesOf[S](src.inner())) },
		func(t *VolumeTable[S]) error { return IntegrateVolumeInto(t, src, opt) })
}

// IntegrateVolumeInto computes the table of a volume and stores it in dst, which
// must be on the same device, have the size of the volume, and must not overlap
// src. It returns when the work is queued. Later calls see the result, and
// [Device.Wait] waits for it.
func IntegrateVolumeInto[S boxsum.Sum, P boxsum.Pixel](dst *VolumeTable[S], src *Volume[P], opt *Options) error {
	return tables{method: method.Volume{}, sums: dst.inner()}.integrate(src.inner(), opt)
}

// Download copies the table to a new table in host memory.
func (t *VolumeTable[S]) Download() (*volume.Table[S], error) {
	a := t.inner()
	return onHost(numbered(a, 0), func() (*volume.Table[S], error) { return volume.NewTable[S](a.Width, a.Height, a.Depth, a.Channels) },
		func(dst *volume.Table[S]) error { return t.DownloadInto(dst) })
}

// A SquaredVolumeTable holds the table of a volume and the table of its squares
// on a device.
type SquaredVolumeTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *VolumeTable[S]
	Squares *VolumeTable[Q]
}

// NewSquaredVolumeTable allocates device memory for the table of a volume of the
// given size and for the table of its squares. Zero channels means one. The
// contents are undefined until [IntegrateVolumeSquaresInto] is called.
func NewSquaredVolumeTable[S boxsum.Sum, Q boxsum.Square](d *Device, width, height, depth, channels int) (*SquaredVolumeTable[S, Q], error) {
	sum, squares, err := both(func() (*VolumeTable[S], error) { return NewVolumeTable[S](d, width, height, depth, channels) },
		func() (*VolumeTable[Q], error) { return NewVolumeTable[Q](d, width, height, depth, channels) })
	if err != nil {
		return nil, err
	}
	return &SquaredVolumeTable[S, Q]{sum, squares}, nil
}

// IntegrateVolumeSquares computes the table of a volume and the table of its squares
// together. The supported types are those of [volume.IntegrateSquares]. If all
// voxels are floats far from zero, an offset is subtracted first; see [Options].
func IntegrateVolumeSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Volume[P], opt *Options) (*SquaredVolumeTable[S, Q], error) {
	return filled(squaresError[S, Q, P](), func() (*SquaredVolumeTable[S, Q], error) {
		sum, squares, err := both(func() (*VolumeTable[S], error) { return wrapped[VolumeTable[S]](tablesOf[S](src.inner())) },
			func() (*VolumeTable[Q], error) { return wrapped[VolumeTable[Q]](tablesOf[Q](src.inner())) })
		return &SquaredVolumeTable[S, Q]{sum, squares}, err
	}, func(t *SquaredVolumeTable[S, Q]) error { return IntegrateVolumeSquaresInto(t, src, opt) })
}

// IntegrateVolumeSquaresInto is like [IntegrateVolumeSquares] but stores the
// tables in dst. Both tables of dst must be on the device of src, have the size
// of the volume, and must not overlap src. It returns when the work is queued.
// Later calls see the result, and [Device.Wait] waits for it.
func IntegrateVolumeSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredVolumeTable[S, Q], src *Volume[P], opt *Options) error {
	if dst == nil {
		return errNoTable
	}
	return tables{method: method.Volume{}, sums: dst.Sum.inner(), squares: dst.Squares.inner()}.integrate(src.inner(), opt)
}

// Download copies both tables to new tables in host memory.
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
	return volume.SquaredTableOf(sum, squares)
}

// Close frees the memory of both tables once all work that uses it is done.
// Closing them again, or after the device, does nothing.
func (t *SquaredVolumeTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return driver.FirstError(t.Sum.Close(), t.Squares.Close())
}
