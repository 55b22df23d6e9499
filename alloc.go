package boxsum

import (
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/memory"
)

// hugePageBytes is where asking the system for huge pages starts to pay: both
// workers together gain about a tenth on images and tables of this size and
// more.
const hugePageBytes = 4 << 20

// allocate is a slice of n zeros, on huge pages if it is large.
func allocate[T any](n int) ([]T, error) {
	s, err := memory.Make[T](n)
	if err != nil {
		return nil, fmt.Errorf("boxsum: %w: %w", ErrInvalid, err)
	}
	if size := int(unsafe.Sizeof(*new(T))); n >= hugePageBytes/size {
		memory.AdviseHugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), n*size))
	}
	return s, nil
}

// allocateOnLine is a slice of n zeros that starts on a cache line.
func allocateOnLine[S Sum](n int) ([]S, error) {
	size := int(unsafe.Sizeof(*new(S)))
	line := kernel.LineBytes / size
	buf, err := allocate[S](n + line)
	if err != nil {
		return nil, err
	}
	skip := 0
	if over := int(uintptr(unsafe.Pointer(unsafe.SliceData(buf))) % kernel.LineBytes); over != 0 {
		skip = (kernel.LineBytes - over) / size
	}
	return buf[skip:][:n:n], nil
}
