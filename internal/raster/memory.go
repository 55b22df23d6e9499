package raster

import (
	"fmt"
	"runtime/debug"
	"unsafe"
)

const (
	// LineBytes is the size of a cache line.
	LineBytes = 64
	// hugePageBytes is the size from which requesting huge pages pays off: two workers
	// together gain about a tenth on images and tables of at least this size.
	hugePageBytes = 4 << 20
	// largeBytes is the size from which available memory is checked before an
	// allocation, because running out of memory ends a Go process. The check takes
	// about a hundredth of the time to write that much memory once.
	largeBytes = 64 << 20
	// shortRow is the minimum length of a row, in cache lines, for the gap after it to
	// be small.
	shortRow = 8
)

// NewSums is like [NewTable] with the type of the sums known at compile time.
func NewSums[S Number](e Extent) ([]S, Extent, error) {
	t, err := NewTable(TypeOf[S](), e)
	if err != nil {
		return nil, t.Extent, err
	}
	return Elems[S](t.Data), t.Extent, nil
}

// NewTable allocates the table of an image or volume of this extent. Unless its rows
// are short, they are laid out so that the entry after column 0 of each starts a cache
// line, which lets kernels write past the caches.
func NewTable(sum Type, e Extent) (Array, error) {
	if err := e.CheckSize(); err != nil {
		return Array{Extent: e}, err
	}
	size := sum.Bytes()
	line := LineBytes / size
	lead := (line - e.Channels%line) % line // column 1 is Channels after the lead
	e.Stride = (e.Width + 1) * e.Channels
	if e.Stride > shortRow*line {
		e.Stride = RoundUp(e.Stride, line)
	}
	e.SliceStride = (e.Height + 1) * e.Stride
	if (e.Height+1)*e.slices() >= maxElements/e.Stride-1 {
		return Array{Extent: e}, Invalid("a table of %v does not fit in memory", e)
	}
	data, err := Make[byte]((lead + e.slices()*e.SliceStride) * size)
	if err != nil {
		return Array{Extent: e}, OutOfMemory("a table of %v: %w", e, err)
	}
	return Array{data[lead*size:], sum, e}, nil
}

// Fit returns an error that wraps [ErrMemory] if there is not enough memory for all
// tables of an image or volume, whose entries take the given number of bytes together.
// The system counts memory when it is written, so checking one table after the other
// would find room for each.
func Fit(e Extent, bytes int) error {
	if err := e.CheckSize(); err != nil {
		return err
	}
	err := CheckMemory((e.Width+1)*(e.Height+1)*e.slices()*e.Channels, bytes)
	if err != nil {
		return OutOfMemory("tables of %v: %w", e, err)
	}
	return nil
}

// NewPixels allocates an image or a volume, and returns its extent.
func NewPixels[P any](e Extent) ([]P, Extent, error) {
	if err := e.CheckSize(); err != nil {
		return nil, e, err
	}
	e.Stride = e.Width * e.Channels
	e.SliceStride = e.Height * e.Stride
	pix, err := Make[P](e.Depth * e.SliceStride)
	if err != nil {
		return nil, e, OutOfMemory("%v: %w", e, err)
	}
	return pix, e, nil
}

// NewPixelArray allocates an image or a volume of the given pixel type.
func NewPixelArray(pixel Type, e Extent) (Array, error) {
	if err := e.CheckSize(); err != nil {
		return Array{}, err
	}
	e.Stride = e.Width * e.Channels
	e.SliceStride = e.Height * e.Stride
	data, err := Make[byte](e.Depth * e.SliceStride * pixel.Bytes())
	if err != nil {
		return Array{}, OutOfMemory("%v: %w", e, err)
	}
	return Array{data, pixel, e}, nil
}

// Make returns n zeros that start a cache line, on huge pages if there are many. It
// returns an error that wraps [ErrMemory] if the machine does not have enough memory.
func Make[T any](n int) (s []T, err error) {
	size := SizeOf[T]()
	line := (LineBytes + size - 1) / size
	if err := CheckMemory(n, size); err != nil {
		return nil, err
	}
	defer recovered(&err)
	s = make([]T, n+line)
	if n >= hugePageBytes/size {
		AdviseHugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size))
	}
	return OnLine(s, n, 0), nil
}

// OnLine returns n elements of s such that element at starts a cache line, if the size
// of the elements divides that of a line. s must be longer than n by a cache line.
func OnLine[T any](s []T, n, at int) []T {
	size := uintptr(SizeOf[T]())
	first := uintptr(unsafe.Pointer(unsafe.SliceData(s))) + uintptr(at)*size
	skip := 0
	if over := first % LineBytes; over != 0 && LineBytes%size == 0 {
		skip = int((LineBytes - over) / size)
	}
	return s[skip:][:n:n]
}

// CheckMemory returns an error that wraps [ErrMemory] if there is not enough memory for n
// elements of this size.
func CheckMemory(n, size int) error {
	if n >= 0 && n < largeBytes/size {
		return nil
	}
	need := float64(n) * float64(size)
	if have := total(); n < 0 || uint64(n) > have/uint64(size) {
		return scarce(fmt.Sprintf("this needs %.1f GB of memory and the machine has %.1f GB", need/1e9, float64(have)/1e9))
	}
	if check(need, true, current().limits()) == nil {
		return nil
	}
	debug.FreeOSMemory() // freeing garbage may make room
	return check(need, true, current().limits())
}

// scarce is an error that wraps [ErrMemory] without repeating its text.
type scarce string

func (s scarce) Error() string { return string(s) }
func (s scarce) Unwrap() error { return ErrMemory }

// recovered converts a panic to an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = scarce(fmt.Sprint(r))
	}
}

// Check returns an error that wraps [ErrMemory] if less memory than this is available;
// see [Available]. Small amounts are not checked: the reserve suffices for them.
func Check(bytes float64) error {
	if bytes < largeBytes {
		return nil
	}
	return check(bytes, false, current().limits())
}

// CheckMap is like Check for mapping a file of this size, which takes addresses of the
// process but no memory that the system could not reclaim. It also checks small
// amounts, to keep the reserve.
func CheckMap(bytes float64) error { return check(bytes, false, current().process()) }

// check returns an error for the limit that leaves the least, if that is not enough.
func check(bytes float64, swaps bool, all []limit) (err error) {
	least := bytes
	for _, l := range all {
		have := l.bytes
		if swaps {
			have += l.swap
		}
		if have < least {
			least = have
			err = scarce(fmt.Sprintf("this needs %.1f GB of memory and "+l.says, bytes/1e9, have/1e9))
		}
	}
	return err
}

// SizeOf returns the size of a T in bytes.
func SizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// RoundUp returns n rounded up to a multiple.
func RoundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
