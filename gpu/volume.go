package gpu

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/volume"
)

// A Volume is voxels on a device: slice after slice, each as an [Image] lies.
type Volume[P boxsum.Pixel] struct{ solid }

// A VolumeTable is the table of a volume on a device. It holds what a
// [volume.Table] does: all entries with a zero among x, y and z are zero.
type VolumeTable[S boxsum.Sum] struct {
	solid
	offset float32 // taken from every voxel
}

// A solid is a volume, or its table, which has a slice more.
type solid struct {
	slices array
	depth  int
	gaps   bool // between rows are ours too: kernels may write there
}

// String says what it is, for errors.
func (s *solid) String() string {
	what := "volume"
	if s.slices.border != 0 {
		what = "table"
	}
	return fmt.Sprintf("%s of %d×%d×%d voxels with %s of %s", what, s.slices.width, s.slices.height, s.depth,
		several(s.slices.channels, "channel"), elements[s.slices.element].long)
}

// open says whether it can be used.
func (s *solid) open() error {
	if s.slices.at.memory == 0 {
		return fmt.Errorf("gpu: %s %w", s, ErrClosed)
	}
	return nil
}

var (
	errNoVolume      = fmt.Errorf("gpu: %w: no volume: make one with NewVolume or UploadVolume", boxsum.ErrInvalid)
	errNoVolumeTable = fmt.Errorf("gpu: %w: no table: make one with NewVolumeTable or IntegrateVolume", boxsum.ErrInvalid)
)

// newSolid takes memory for a volume or, with a border of 1, its table.
func newSolid(d *Device, e element, width, height, depth, channels, border int) (solid, error) {
	if err := d.enter(); err != nil {
		return solid{}, err
	}
	defer d.leave()
	if depth < 0 || depth > math.MaxInt32-2 {
		return solid{}, fmt.Errorf("gpu: %w: a volume of %d×%d×%d: its sides must not be negative, and below 2^31", boxsum.ErrInvalid, width, height, depth)
	}
	count := depth + border
	if count == 0 {
		count = 1 // memory has to be somewhere
	}
	a, err := d.newArray(e, width, height, channels, count, border)
	return solid{a, depth, true}, err
}

// NewVolume takes device memory for a volume of this size; zero channels stand for
// one. What it holds is undefined until [Volume.Set].
func NewVolume[P boxsum.Pixel](d *Device, width, height, depth, channels int) (*Volume[P], error) {
	s, err := newSolid(d, elementOf[P](), width, height, depth, channels, 0)
	if err != nil {
		return nil, err
	}
	return &Volume[P]{s}, nil
}

// UploadVolume copies a volume to a device.
func UploadVolume[P boxsum.Pixel](d *Device, src volume.Volume[P]) (*Volume[P], error) {
	if _, err := checkedVolume(src); err != nil {
		return nil, err
	}
	v, err := NewVolume[P](d, src.Width, src.Height, src.Depth, src.Channels)
	if err != nil {
		return nil, err
	}
	if err := v.Set(src); err != nil {
		return nil, firstError(err, v.Close())
	}
	return v, nil
}

// Set copies src into the volume, which must have its size.
func (v *Volume[P]) Set(src volume.Volume[P]) error {
	if v == nil || v.slices.device == nil {
		return errNoVolume
	}
	src, err := checkedVolume(src)
	if err != nil {
		return err
	}
	if src.Width != v.slices.width || src.Height != v.slices.height || src.Depth != v.depth || src.Channels != v.slices.channels {
		return fmt.Errorf("gpu: %w: a volume of %d×%d×%d voxels with %d channels does not go into a %s",
			boxsum.ErrInvalid, src.Width, src.Height, src.Depth, src.Channels, v)
	}
	return v.slices.device.use(func() error {
		if err := v.open(); err != nil {
			return err
		}
		for z := range v.depth {
			slice := src.Slice(z)
			if err := v.slices.copyIn(z, hostRows(slice.Pix, slice.Stride)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (v *Volume[P]) Close() error {
	if v == nil {
		return nil
	}
	return v.slices.close()
}

// NewVolumeTable takes device memory for the table of a volume of this size; zero
// channels stand for one. What it holds is undefined until [IntegrateVolumeInto].
func NewVolumeTable[S boxsum.Sum](d *Device, width, height, depth, channels int) (*VolumeTable[S], error) {
	s, err := newSolid(d, elementOf[S](), width, height, depth, channels, 1)
	if err != nil {
		return nil, err
	}
	return &VolumeTable[S]{solid: s}, nil
}

// IntegrateVolume makes the table of a volume, on its device:
//
//	table, err := gpu.IntegrateVolume[uint32](vol, nil)
//
// The pairs of voxel and sum types are those of [volume.Integrate].
func IntegrateVolume[S boxsum.Sum, P boxsum.Pixel](src *Volume[P], opt *Options) (*VolumeTable[S], error) {
	return newVolumeTable[S](src, opt, false)
}

// IntegrateVolumeSquares makes the table of the squares of the voxels, with the
// types of [volume.IntegrateSquares].
func IntegrateVolumeSquares[Q boxsum.Square, P boxsum.Pixel](src *Volume[P], opt *Options) (*VolumeTable[Q], error) {
	return newVolumeTable[Q](src, opt, true)
}

func newVolumeTable[S boxsum.Sum, P boxsum.Pixel](src *Volume[P], opt *Options, squares bool) (*VolumeTable[S], error) {
	if src == nil || src.slices.device == nil {
		return nil, errNoVolume
	}
	if err := tiltedPairError(elementOf[P](), elementOf[S](), squares); err != nil {
		return nil, err
	}
	t, err := NewVolumeTable[S](src.slices.device, src.slices.width, src.slices.height, src.depth, src.slices.channels)
	if err != nil {
		return nil, err
	}
	if err := volumeInto(t, src, opt, squares); err != nil {
		return nil, firstError(err, t.Close())
	}
	return t, nil
}

// IntegrateVolumeInto makes the table of a volume in dst, which must be on the same
// device, have its size and lie in other memory. It returns when the work is queued.
func IntegrateVolumeInto[S boxsum.Sum, P boxsum.Pixel](dst *VolumeTable[S], src *Volume[P], opt *Options) error {
	return volumeInto(dst, src, opt, false)
}

// IntegrateVolumeSquaresInto is [IntegrateVolumeInto] for the squares of the voxels.
func IntegrateVolumeSquaresInto[Q boxsum.Square, P boxsum.Pixel](dst *VolumeTable[Q], src *Volume[P], opt *Options) error {
	return volumeInto(dst, src, opt, true)
}

func volumeInto[S boxsum.Sum, P boxsum.Pixel](dst *VolumeTable[S], src *Volume[P], opt *Options, squares bool) error {
	if src == nil || src.slices.device == nil {
		return errNoVolume
	}
	if dst == nil || dst.slices.device == nil {
		return errNoVolumeTable
	}
	if err := tiltedPairError(elementOf[P](), elementOf[S](), squares); err != nil {
		return err
	}
	o, err := volumeOptions(opt, elementOf[S](), squares)
	if err != nil {
		return err
	}
	if dst.slices.device != src.slices.device {
		return fmt.Errorf("gpu: %w: a table on %s cannot take a volume on %s: both must be on one open device",
			boxsum.ErrInvalid, dst.slices.device.Info().Name, src.slices.device.Info().Name)
	}
	if dst.slices.width != src.slices.width || dst.slices.height != src.slices.height || dst.depth != src.depth || dst.slices.channels != src.slices.channels {
		return fmt.Errorf("gpu: %w: a %s cannot take the sums of a %s", boxsum.ErrInvalid, dst, src)
	}
	d := src.slices.device
	return d.use(func() error {
		if err := firstError(dst.open(), src.open()); err != nil {
			return err
		}
		if src.depth > 0 && !dst.slices.apart(&src.slices) {
			return errOverlap
		}
		dst.offset = o.Offset
		return d.volumeIntegrate(volumeJob{
			integrateJob: integrateJob{
				stream: d.stream, pixel: src.slices.element, sum: dst.slices.element, channels: src.slices.channels,
				width: src.slices.width, height: src.slices.height, count: src.depth,
				in: src.slices.at, out: dst.slices.at, offset: float64(o.Offset), gaps: dst.gaps,
			},
			squared: squares,
		}, o.Kernels)
	})
}

// volumeOptions says what is wrong with the options of a volume.
func volumeOptions(opt *Options, sum element, squares bool) (Options, error) {
	o, err := opt.check(sum)
	if err == nil && squares && o.Offset != 0 {
		err = fmt.Errorf("gpu: %w: squares are of the voxels as they are: leave out the offset", boxsum.ErrTypes)
	}
	return o, err
}

// Offset is what was subtracted from every voxel before summing, see
// [Options.Offset].
func (t *VolumeTable[S]) Offset() float32 {
	if t == nil || t.slices.device == nil {
		return 0
	}
	t.slices.device.queue.Lock() // IntegrateVolumeInto may be setting it
	defer t.slices.device.queue.Unlock()
	return t.offset
}

// Download copies the table to the host.
func (t *VolumeTable[S]) Download() (*volume.Table[S], error) {
	if t == nil || t.slices.device == nil {
		return nil, errNoVolumeTable
	}
	dst, err := volume.NewTable[S](t.slices.width, t.slices.height, t.depth, t.slices.channels)
	if err != nil {
		return nil, err
	}
	if err := t.DownloadInto(dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// DownloadInto copies the table into dst, which must have its size.
func (t *VolumeTable[S]) DownloadInto(dst *volume.Table[S]) error {
	if t == nil || t.slices.device == nil {
		return errNoVolumeTable
	}
	if err := acceptsVolume(dst, t.slices.width, t.slices.height, t.depth, t.slices.channels); err != nil {
		return err
	}
	return t.slices.device.use(func() error {
		if err := t.open(); err != nil {
			return err
		}
		dst.Offset = t.offset
		for z := range t.depth + 1 {
			if err := t.slices.copyOut(z, hostRows(dst.Slice(z).Sums, dst.Stride)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close frees the memory on the device, after the work that uses it. Closing
// again, or after the device was closed, does nothing.
func (t *VolumeTable[S]) Close() error {
	if t == nil {
		return nil
	}
	return t.slices.close()
}

// checkedVolume fills in what zeros stand for and says what is wrong with the
// rest.
func checkedVolume[P boxsum.Pixel](v volume.Volume[P]) (volume.Volume[P], error) {
	slice, err := checkedImage(boxsum.Image[P]{Stride: v.Stride, Width: v.Width, Channels: v.Channels})
	if err != nil {
		return v, err
	}
	v.Stride, v.Channels = slice.Stride, slice.Channels
	if v.Height < 0 || v.Depth < 0 || v.Height > math.MaxInt32-2 || v.Depth > math.MaxInt32-2 {
		return v, fmt.Errorf("gpu: %w: a volume of %d×%d×%d: its sides must not be negative, and below 2^31", boxsum.ErrInvalid, v.Width, v.Height, v.Depth)
	}
	if v.SliceStride == 0 {
		v.SliceStride = v.Height * v.Stride
	}
	return v, fitsSlices("volume", len(v.Pix), v.Stride, v.SliceStride, v.Width*v.Channels, v.Height, v.Depth)
}

// fitsSlices says whether slices of rows lie in have elements.
func fitsSlices(what string, have, stride, sliceStride, row, rows, slices int) error {
	if slices == 0 || rows == 0 || row == 0 {
		return nil
	}
	if err := fits(what, have, stride, row, rows); err != nil {
		return err
	}
	return fits("slices of the "+what+", a slice as a row,", have, sliceStride, (rows-1)*stride+row, slices)
}

// acceptsVolume says whether a table of the host can take that of a volume of this
// size, and fills in what zeros stand for.
func acceptsVolume[S boxsum.Sum](t *volume.Table[S], width, height, depth, channels int) error {
	if t == nil {
		return fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)
	}
	if t.Channels == 0 {
		t.Channels = 1
	}
	if t.Width != width || t.Height != height || t.Depth != depth || t.Channels != channels {
		return fmt.Errorf("gpu: %w: a table for %d×%d×%d with %d channels cannot take one of %d×%d×%d with %d",
			boxsum.ErrInvalid, t.Width, t.Height, t.Depth, t.Channels, width, height, depth, channels)
	}
	row := (width + 1) * channels
	if t.Stride == 0 {
		t.Stride = row
	}
	if t.SliceStride == 0 {
		t.SliceStride = (height + 1) * t.Stride
	}
	return fitsSlices("table", len(t.Sums), t.Stride, t.SliceStride, row, height+1, depth+1)
}
