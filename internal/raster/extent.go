package raster

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// An Extent is the size of an image or a volume and the layout of its pixels, or of the
// sums of its table, in a buffer. Zero Channels means one, and a zero stride means no
// gap.
type Extent struct {
	Width, Height, Depth int // in pixels; Depth is 1 for an image
	Channels             int // interleaved values per pixel
	Stride, SliceStride  int // elements from one row or slice to the next
	solid                bool
}

// PlaneExtent returns the extent of an image.
func PlaneExtent(width, height, channels, stride int) (e Extent) {
	e.SetPlane(width, height, channels, stride)
	return e
}

// SetPlane sets e to the extent of an image, in place: copying an extent that was just
// made costs as much as all of its checks.
func (e *Extent) SetPlane(width, height, channels, stride int) {
	e.Width, e.Height, e.Depth, e.Channels = width, height, 1, channels
	e.Stride, e.SliceStride, e.solid = stride, 0, false
}

// VolumeExtent returns the extent of a volume.
func VolumeExtent(width, height, depth, channels, stride, sliceStride int) Extent {
	return Extent{Width: width, Height: height, Depth: depth, Channels: channels, Stride: stride, SliceStride: sliceStride, solid: true}
}

// maxElements ensures that every byte offset of the widest element fits an int.
const maxElements = math.MaxInt / 32

// CheckSize sets the default of Channels and returns an error if the number of entries of a
// table of this size overflows.
func (e *Extent) CheckSize() error {
	if e.Channels == 0 {
		e.Channels = 1
	}
	if e.Width < 0 || e.Height < 0 || e.Depth < 0 || e.Channels < 0 {
		return Invalid("size is %v, want 0 or more", *e)
	}
	n := uint64(e.Channels)
	for _, side := range [...]int{e.Width, e.Height, e.Depth} {
		var over uint64
		if over, n = bits.Mul64(n, uint64(side)+1); over != 0 || n > maxElements { // a division takes longer
			return Invalid("%v does not fit in memory", *e)
		}
	}
	return nil
}

// String returns a description of the size.
func (e Extent) String() string {
	s := fmt.Sprintf("%d×%d", e.Width, e.Height)
	if e.solid {
		s += fmt.Sprintf("×%d", e.Depth)
	}
	if e.Channels == 1 {
		return s + " with 1 channel"
	}
	return fmt.Sprintf("%s with %d channels", s, e.Channels)
}

// kind returns the noun for an error message: image or volume.
func (e *Extent) kind() string {
	if e.solid {
		return "volume"
	}
	return "image"
}

// Pixels sets the defaults of an image or a volume, and returns an error if the extent
// is invalid or does not fit a buffer of the given number of elements.
func (e *Extent) Pixels(have int) error {
	if err := e.CheckSize(); err != nil {
		return err
	}
	return e.setStrides(e.kind(), have, e.Width, e.Height, e.Depth)
}

// Sums is like Pixels for a table, which has one more row and column and, for a volume,
// one more slice.
func (e *Extent) Sums(have int) error {
	if err := e.CheckSize(); err != nil {
		return err
	}
	return e.setStrides("table", have, e.Width+1, e.Height+1, e.slices())
}

// slices returns the number of slices of a table.
func (e *Extent) slices() int {
	if e.solid {
		return e.Depth + 1
	}
	return 1
}

// Accept is like [Extent.Sums] for the table of an image or volume that has been
// checked. The sizes must be equal.
func (e *Extent) Accept(src *Extent, have int) error {
	if e.Channels == 0 {
		e.Channels = 1
	}
	if err := e.Same(src); err != nil {
		return err
	}
	return e.setStrides("table", have, e.Width+1, e.Height+1, e.slices())
}

// Like returns an error if an image that goes with a first one, such as "the second image",
// does not have its size.
func (e *Extent) Like(first *Extent, name string) error {
	if e.Width != first.Width || e.Height != first.Height || e.Depth != first.Depth || e.Channels != first.Channels {
		return Invalid("%s is %v, want %v like the first", name, *e, *first)
	}
	return nil
}

// Same returns an error if a table does not have the size of an image or volume.
func (e *Extent) Same(src *Extent) error {
	if e.Width != src.Width || e.Height != src.Height || e.Depth != src.Depth || e.Channels != src.Channels {
		return Invalid("table is for %v, want %v", *e, *src)
	}
	return nil
}

// setStrides sets the default strides and returns an error if the buffer is too short.
func (e *Extent) setStrides(what string, have, width, rows, slices int) error {
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

// fits returns the number of elements that the given parts occupy, stride apart, or an
// error if they exceed have.
func fits(what, of string, stride, part, parts, have int) (int, error) {
	over, rest := bits.Mul64(uint64(max(stride, 0)), uint64(max(parts-1, 0)))
	switch {
	case stride < 0 || parts > 1 && stride < part:
		return 0, Invalid("%s has a stride of %d elements from %s to %s, want at least %d", what, stride, of, of, part)
	case parts == 0 || part == 0:
		return 0, nil
	case have < part || over != 0 || rest > uint64(have-part):
		return 0, Invalid("%s has a buffer of %[6]d elements, too short for %[2]d %[3]ss of %[4]d elements with a stride of %[5]d", what, parts, of, part, stride, have)
	}
	return (parts-1)*stride + part, nil
}

// Overlap returns an error that wraps [ErrOverlap] if two buffers share memory.
func Overlap[A, B any](a []A, b []B) error {
	return overlap(unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(a))*unsafe.Sizeof(*new(A)), uintptr(len(b))*unsafe.Sizeof(*new(B)))
}

func overlap(a, b unsafe.Pointer, aBytes, bBytes uintptr) error {
	if aBytes == 0 || bBytes == 0 {
		return nil
	}
	if uintptr(a) < uintptr(b)+bBytes && uintptr(b) < uintptr(a)+aBytes {
		return Overlapping("the table shares memory with its image or another table")
	}
	return nil
}

// CheckRoom returns an error if a slice of length have is too short for n results of the given
// number of elements each.
func CheckRoom(have, n, of int) error {
	if n > 0 && of > have/n {
		return Invalid("destination has length %[3]d, want %[2]d for each of %[1]d boxes", n, of, have)
	}
	return nil
}
