package raster

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"unsafe"
)

// TestMake tests that memory has the requested length, starts a cache line, is
// zero, and is writable from end to end.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1 << 20, 1<<20 + 3} {
		s, err := Make[uint64](n)
		if err != nil || len(s) != n || uintptr(unsafe.Pointer(unsafe.SliceData(s)))%LineBytes != 0 {
			t.Fatalf("%d elements for %d at %p, %v", len(s), n, unsafe.SliceData(s), err)
		}
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("element %d of %d is %d", i, n, s[i])
			}
			s[i] = uint64(i)
		}
		runtime.GC()
		for i, v := range s {
			if v != uint64(i) {
				t.Fatalf("element %d of %d became %d", i, n, v)
			}
		}
	}
	for _, n := range []int{-1, math.MaxInt, math.MaxInt / 8, math.MaxInt / 64} {
		if _, err := Make[uint64](n); !errors.Is(err, ErrMemory) {
			t.Errorf("%d elements: error is %v", n, err)
		}
	}
}
