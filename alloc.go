package boxsum

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
)

// hugePageBytes is where asking the system for huge pages starts to pay: both
// workers together gain about a tenth on tables of this size and more.
const hugePageBytes = 4 << 20

// alignedSlice is a slice of n zeros that starts on a cache line.
func alignedSlice[S Sum](n int) []S {
	size := int(unsafe.Sizeof(*new(S)))
	line := kernel.LineBytes / size
	buf := make([]S, n+line)
	if (n+line)*size >= hugePageBytes {
		adviseHugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), len(buf)*size))
	}
	skip := 0
	if over := int(uintptr(unsafe.Pointer(unsafe.SliceData(buf))) % kernel.LineBytes); over != 0 {
		skip = (kernel.LineBytes - over) / size
	}
	return buf[skip:][:n:n]
}
