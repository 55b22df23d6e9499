package grid

import (
	"math"
	"runtime"
	"testing"
	"unsafe"
)

// Dirty memory is as long as asked for and can be written from end to end, by types
// that need their alignment.
func TestMakeDirty(t *testing.T) {
	for _, n := range []int{0, 1, dirtyBytes/8 - 1, dirtyBytes / 8, 1 << 20, 1<<20 + 3} {
		s, err := MakeDirty[uint64](n)
		if err != nil || len(s) != n || uintptr(unsafe.Pointer(unsafe.SliceData(s)))%8 != 0 {
			t.Fatalf("%d elements for %d at %p, %v", len(s), n, unsafe.SliceData(s), err)
		}
		for i := range s {
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
		if _, err := MakeDirty[uint64](n); err == nil {
			t.Errorf("%d elements were to be had", n)
		}
	}
}

func TestMake(t *testing.T) {
	if s, err := Make[uint32](1000); err != nil || len(s) != 1000 {
		t.Errorf("%d elements, %v", len(s), err)
	}
	for _, n := range []int{-1, math.MaxInt, math.MaxInt / 8, math.MaxInt / 64} {
		if _, err := Make[uint64](n); err == nil {
			t.Errorf("%d elements were to be had", n)
		}
	}
}
