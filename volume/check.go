package volume

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/kernel"
)

// maxElements keeps every byte offset of the widest element inside an int.
const maxElements = math.MaxInt / 32

// orOne is the number of channels that zero stands for.
func orOne(channels int) int {
	if channels == 0 {
		return 1
	}
	return channels
}

// checkSize says whether the table of a volume of this size has a number of
// entries.
func checkSize(width, height, depth, channels int) error {
	if width < 0 || height < 0 || depth < 0 || channels < 1 {
		return fmt.Errorf("volume: %w: %d×%d×%d voxels of %d channels: none may be negative", boxsum.ErrInvalid, width, height, depth, channels)
	}
	n := channels
	for _, side := range []int{width, height, depth} {
		if side >= maxElements/n {
			return fmt.Errorf("volume: %w: %d×%d×%d with %d channels is more than memory can hold", boxsum.ErrInvalid, width, height, depth, channels)
		}
		n *= side + 1
	}
	return nil
}

// checked fills in the defaults of a volume and says what is wrong with the
// rest.
func (v Volume[P]) checked() (Volume[P], error) {
	v.Channels = orOne(v.Channels)
	if err := checkSize(v.Width, v.Height, v.Depth, v.Channels); err != nil {
		return v, err
	}
	if v.Stride == 0 {
		v.Stride = v.Width * v.Channels
	}
	rows := v.Height
	if v.Depth == 0 {
		rows = 0
	}
	slice, err := fits("volume", "row", v.Stride, v.Width*v.Channels, rows, len(v.Pix))
	if err != nil {
		return v, err
	}
	if v.SliceStride == 0 {
		v.SliceStride = v.Height * v.Stride
	}
	_, err = fits("volume", "slice", v.SliceStride, slice, v.Depth, len(v.Pix))
	return v, err
}

// accepts fills in the defaults of a table and says whether it can take the
// sums of a volume of this size.
func (t *Table[S]) accepts(width, height, depth, channels int) error {
	if t == nil {
		return fmt.Errorf("volume: %w: no table", boxsum.ErrInvalid)
	}
	t.Channels = orOne(t.Channels)
	if t.Width != width || t.Height != height || t.Depth != depth || t.Channels != channels {
		return fmt.Errorf("volume: %w: a table for %d×%d×%d with %d channels cannot take a volume of %d×%d×%d with %d",
			boxsum.ErrInvalid, t.Width, t.Height, t.Depth, t.Channels, width, height, depth, channels)
	}
	if t.Stride == 0 {
		t.Stride = (width + 1) * channels
	}
	if t.SliceStride == 0 && t.Stride > 0 && height+1 <= maxElements/t.Stride {
		t.SliceStride = (height + 1) * t.Stride
	}
	return t.check()
}

// check says what is wrong with a table.
func (t *Table[S]) check() error {
	if err := checkSize(t.Width, t.Height, t.Depth, t.Channels); err != nil {
		return err
	}
	slice, err := fits("table", "row", t.Stride, (t.Width+1)*t.Channels, t.Height+1, len(t.Sums))
	if err != nil {
		return err
	}
	_, err = fits("table", "slice", t.SliceStride, slice, t.Depth+1, len(t.Sums))
	return err
}

// fits says whether so many parts of part elements, stride apart, fit in have
// elements, and how many they take.
func fits(what, of string, stride, part, parts, have int) (int, error) {
	switch {
	case stride < 0 || parts > 1 && stride < part:
		return 0, fmt.Errorf("volume: %w: a stride of %d from %s to %s of the %s is shorter than the %d of one", boxsum.ErrInvalid, stride, of, of, what, part)
	case parts == 0 || part == 0:
		return 0, nil
	case have < part || parts > 1 && (have-part)/(parts-1) < stride: // divided, for the product may be more than an int
		return 0, fmt.Errorf("volume: %w: %d %ss of %d elements, %d apart, do not fit in the %d of the %s", boxsum.ErrInvalid, parts, of, part, stride, have, what)
	}
	return (parts-1)*stride + part, nil
}

// apart says whether two buffers share no memory.
func apart[A, B any](a []A, b []B) error {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	a1, b1 := a0+uintptr(len(a))*unsafe.Sizeof(a[0]), b0+uintptr(len(b))*unsafe.Sizeof(b[0])
	if a0 < b1 && b0 < a1 {
		return fmt.Errorf("volume: %w: a table may not lie in the memory of its volume or of another table", boxsum.ErrInvalid)
	}
	return nil
}

// settings are options that are known to be good.
type settings struct {
	level   kernel.Level
	workers int
	offset  float32
}

// checkedOptions finds the level and the workers, and says what is wrong.
func checkedOptions[S boxsum.Sum](opt *boxsum.Options) (settings, error) {
	s := settings{level: kernel.Best(), workers: runtime.GOMAXPROCS(0)}
	if opt == nil {
		return s, nil
	}
	if opt.Workers < 0 {
		return s, fmt.Errorf("volume: %w: %d workers", boxsum.ErrInvalid, opt.Workers)
	}
	if opt.Workers > 0 {
		s.workers = opt.Workers
	}
	if opt.Level != boxsum.Auto {
		i := slices.Index(boxsum.Levels(), opt.Level)
		if i < 0 {
			return s, fmt.Errorf("volume: this machine has no %v: use one of %v", opt.Level, boxsum.Levels())
		}
		s.level = kernel.Level(i)
	}
	if offset := float64(opt.Offset); offset-offset != 0 {
		return s, fmt.Errorf("volume: %w: an offset of %v", boxsum.ErrInvalid, offset)
	}
	if _, ok := any(*new(S)).(float32); opt.Offset != 0 && !ok {
		return s, fmt.Errorf("volume: %w: an offset is for tables of float32, not of %T", boxsum.ErrTypes, *new(S))
	}
	s.offset = opt.Offset
	return s, nil
}

// sumKernel is the kernel of a pair of types.
func sumKernel[S boxsum.Sum, P boxsum.Pixel](level kernel.Level) (kernel.VolumeFunc[P, S], error) {
	f := kernel.VolumeSums[P, S](level)
	if f == nil {
		return nil, fmt.Errorf("volume: %w: no table of %T from voxels of %T", boxsum.ErrTypes, *new(S), *new(P))
	}
	return f, nil
}

// squareKernel is the kernel of the squares of a pair of types.
func squareKernel[Q boxsum.Square, P boxsum.Pixel](level kernel.Level) (kernel.VolumeFunc[P, Q], error) {
	f := kernel.VolumeSquares[P, Q](level)
	if f == nil {
		return nil, fmt.Errorf("volume: %w: no squares of %T in %T: integer voxels take uint64; float voxels, int32 and uint32 take float64",
			boxsum.ErrTypes, *new(P), *new(Q))
	}
	return f, nil
}
