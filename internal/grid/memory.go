package grid

import (
	"fmt"
	"runtime/debug"
	"unsafe"
)

const (
	// LineBytes is a cache line.
	LineBytes = 64
	// hugePageBytes is where asking the system for huge pages starts to pay: both
	// workers together gain about a tenth on images and tables of this size and
	// more.
	hugePageBytes = 4 << 20
	// largeBytes is where memory is asked about before it is taken: running out of
	// it ends a Go process. To ask takes about a hundredth of the time in which as
	// much is written once.
	largeBytes = 64 << 20
	// shortRow is how many lines a row takes for the gap after it to be small.
	shortRow = 8
)

// NewSums allocates the table of an image or volume, and says how it lies there.
// Unless they are short, its rows are laid out so that the entry after column 0
// of each starts a cache line, which lets kernels write past the caches.
func NewSums[S any](e Extent) ([]S, Extent, error) {
	if err := e.Sized(); err != nil {
		return nil, e, err
	}
	line := LineBytes / SizeOf[S]()
	lead := (line - e.Channels%line) % line // column 1 is Channels after the lead
	e.Stride = (e.Width + 1) * e.Channels
	if e.Stride > shortRow*line {
		e.Stride = RoundUp(e.Stride, line)
	}
	e.SliceStride = (e.Height + 1) * e.Stride
	if (e.Height+1)*e.slices() >= maxElements/e.Stride-1 {
		return nil, e, Invalid("a table of %v is more than memory can hold", e)
	}
	sums, err := Make[S](lead + e.slices()*e.SliceStride)
	if err != nil {
		return nil, e, OutOfMemory("a table of %v: %w", e, err)
	}
	return sums[lead:], e, nil
}

// Fit is an error that wraps [ErrMemory] where there is no memory for all tables of an
// image or volume, whose entries take this many bytes together. The system counts what
// is written: to ask for one table after the other would find room for each.
func Fit(e Extent, bytes int) error {
	if err := e.Sized(); err != nil {
		return err
	}
	err := Enough((e.Width+1)*(e.Height+1)*e.slices()*e.Channels, bytes)
	if err != nil {
		return OutOfMemory("tables of %v: %w", e, err)
	}
	return nil
}

// NewPixels allocates an image or a volume, and says how it lies there.
func NewPixels[P any](e Extent) ([]P, Extent, error) {
	if err := e.Sized(); err != nil {
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

// Make is n zeros that start a cache line, on huge pages if they are many, or an
// error that wraps [ErrMemory] where the machine has no memory for them.
func Make[T any](n int) (s []T, err error) {
	size := SizeOf[T]()
	line := (LineBytes + size - 1) / size
	if err := Enough(n, size); err != nil {
		return nil, err
	}
	defer recovered(&err)
	s = make([]T, n+line)
	if n >= hugePageBytes/size {
		AdviseHugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size))
	}
	return OnLine(s, n, 0), nil
}

// OnLine is n elements of s of which the one at this index starts a cache line,
// as far as the elements' size allows that. There must be a line more of them.
func OnLine[T any](s []T, n, at int) []T {
	size := uintptr(SizeOf[T]())
	first := uintptr(unsafe.Pointer(unsafe.SliceData(s))) + uintptr(at)*size
	skip := 0
	if over := first % LineBytes; over != 0 && LineBytes%size == 0 {
		skip = int((LineBytes - over) / size)
	}
	return s[skip:][:n:n]
}

// Enough is an error that wraps [ErrMemory] where there is no memory for n elements of
// this size.
func Enough(n, size int) error {
	if n >= 0 && n < largeBytes/size {
		return nil
	}
	need := float64(n) * float64(size)
	if have := total(); n < 0 || uint64(n) > have/uint64(size) {
		return scarce(fmt.Sprintf("%.1f GB are more memory than this machine has, %.1f GB", need/1e9, float64(have)/1e9))
	}
	if check(need, true, current().limits()) == nil {
		return nil
	}
	debug.FreeOSMemory() // what is only garbage may make room
	return check(need, true, current().limits())
}

// scarce is an error that is [ErrMemory] and does not repeat its text.
type scarce string

func (s scarce) Error() string { return string(s) }
func (s scarce) Unwrap() error { return ErrMemory }

// recovered makes an error of a panic.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = scarce(fmt.Sprint(r))
	}
}

// Check is an error that wraps [ErrMemory] where fewer bytes than these are free
// now, see [Available], unless they are few: those come from the reserve.
func Check(bytes float64) error {
	if bytes < largeBytes {
		return nil
	}
	return check(bytes, false, current().limits())
}

// CheckMap is the same for a file of which as much is to be mapped: it takes addresses
// of the process, and no memory that the system could not have back. For few bytes too it
// asks whether the reserve remains.
func CheckMap(bytes float64) error { return check(bytes, false, current().process()) }

// check is the error about the limit that leaves least.
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

// SizeOf is the bytes of a T.
func SizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// RoundUp is the least multiple that is n or more.
func RoundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
