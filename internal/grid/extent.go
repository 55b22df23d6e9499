package grid

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// An Extent is the size of an image or a volume and how its pixels, or the sums
// of its table, lie in a buffer. Zero Channels stands for one, and a zero stride
// for no gap.
type Extent struct {
	Width, Height, Depth int // in pixels; Depth is 1 in the plane
	Channels             int // interleaved values of a pixel
	Stride, SliceStride  int // elements from one row or slice to the next
	solid                bool
}

// Plane is the extent of an image.
func Plane(width, height, channels, stride int) (e Extent) {
	e.SetPlane(width, height, channels, stride)
	return e
}

// SetPlane makes it that of an image, in place: copying one right after it was
// made costs as much as all of its checks.
func (e *Extent) SetPlane(width, height, channels, stride int) {
	e.Width, e.Height, e.Depth, e.Channels = width, height, 1, channels
	e.Stride, e.SliceStride, e.solid = stride, 0, false
}

// Volume is the extent of a volume.
func Volume(width, height, depth, channels, stride, sliceStride int) Extent {
	return Extent{Width: width, Height: height, Depth: depth, Channels: channels, Stride: stride, SliceStride: sliceStride, solid: true}
}

// maxElements keeps every byte offset of the widest element inside an int.
const maxElements = math.MaxInt / 32

// Sized fills in the number of channels and reports whether a table of this size
// has a number of entries.
func (e *Extent) Sized() error {
	if e.Channels == 0 {
		e.Channels = 1
	}
	if e.Width < 0 || e.Height < 0 || e.Depth < 0 || e.Channels < 0 {
		return Invalid("%v: none may be negative", *e)
	}
	n := uint64(e.Channels)
	for _, side := range [...]int{e.Width, e.Height, e.Depth} {
		var over uint64
		if over, n = bits.Mul64(n, uint64(side)+1); over != 0 || n > maxElements { // a division takes longer
			return Invalid("%v is more than memory can hold", *e)
		}
	}
	return nil
}

// String is the size in words.
func (e Extent) String() string {
	s := fmt.Sprintf("%d×%d", e.Width, e.Height)
	if e.solid {
		s += fmt.Sprintf("×%d", e.Depth)
	}
	return fmt.Sprintf("%s with %d channels", s, e.Channels)
}

// kind is what has such an extent.
func (e *Extent) kind() string {
	if e.solid {
		return "volume"
	}
	return "image"
}

// Pixels fills in the defaults of an image or a volume, and reports what is wrong
// with it or with a buffer of this many elements.
func (e *Extent) Pixels(have int) error {
	if err := e.Sized(); err != nil {
		return err
	}
	return e.lay(e.kind(), have, e.Width, e.Height, e.Depth)
}

// Sums does the same for a table, which has a row, a column and in a volume a
// slice more.
func (e *Extent) Sums(have int) error {
	if err := e.Sized(); err != nil {
		return err
	}
	return e.lay("table", have, e.Width+1, e.Height+1, e.slices())
}

// slices is how many slices a table has.
func (e *Extent) slices() int {
	if e.solid {
		return e.Depth + 1
	}
	return 1
}

// Accept is [Extent.Sums] for the table that is to take the sums of an image or
// volume, which must be of the same size and known to be good.
func (e *Extent) Accept(src *Extent, have int) error {
	if e.Channels == 0 {
		e.Channels = 1
	}
	if err := e.Same(src); err != nil {
		return err
	}
	return e.lay("table", have, e.Width+1, e.Height+1, e.slices())
}

// Same is an error where a table is not of the size of an image or volume.
func (e *Extent) Same(src *Extent) error {
	if e.Width != src.Width || e.Height != src.Height || e.Depth != src.Depth || e.Channels != src.Channels {
		return Invalid("a table for %v cannot take one %s of %v", *e, src.kind(), *src)
	}
	return nil
}

// lay fills in the strides and reports whether these sides fit in a buffer.
func (e *Extent) lay(what string, have, width, rows, slices int) error {
	row := width * e.Channels
	if e.Stride == 0 {
		e.Stride = row
	}
	high := rows
	if slices == 0 {
		high = 0
	}
	slice, err := fits(what, "row", e.Stride, row, high, have)
	if err != nil || !e.solid {
		return err
	}
	if e.SliceStride == 0 {
		e.SliceStride = rows * e.Stride
	}
	_, err = fits(what, "slice", e.SliceStride, slice, slices, have)
	return err
}

// fits is how many elements of have these parts take, stride apart, or why they
// do not fit.
func fits(what, of string, stride, part, parts, have int) (int, error) {
	over, rest := bits.Mul64(uint64(max(stride, 0)), uint64(max(parts-1, 0)))
	switch {
	case stride < 0 || parts > 1 && stride < part:
		return 0, Invalid("the %s's stride of %d elements from %s to %s is shorter than one of %d", what, stride, of, of, part)
	case parts == 0 || part == 0:
		return 0, nil
	case have < part || over != 0 || rest > uint64(have-part):
		return 0, Invalid("the %s has %d %ss of %d elements, %d apart: they do not fit in the %d of its buffer", what, parts, of, part, stride, have)
	}
	return (parts-1)*stride + part, nil
}

// Overlap is an error that wraps [ErrOverlap] where two buffers share memory.
func Overlap[A, B any](a []A, b []B) error {
	return overlap(unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(a))*unsafe.Sizeof(*new(A)), uintptr(len(b))*unsafe.Sizeof(*new(B)))
}

func overlap(a, b unsafe.Pointer, aBytes, bBytes uintptr) error {
	if aBytes == 0 || bBytes == 0 {
		return nil
	}
	if uintptr(a) < uintptr(b)+bBytes && uintptr(b) < uintptr(a)+aBytes {
		return fmt.Errorf("boxsum: %w: a table may not lie in the memory of its image or of another table: give it memory of its own", ErrOverlap)
	}
	return nil
}

// Room reports whether a slice of have elements has room for n times this many.
func Room(have, n, of int) error {
	if n > 0 && of > have/n {
		return Invalid("%d boxes with %d values each do not fit in %d", n, of, have)
	}
	return nil
}
