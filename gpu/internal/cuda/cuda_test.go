package cuda

import (
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// TestCopy2DLayout checks that a Copy2D has the layout of CUDA_MEMCPY2D_v2.
func TestCopy2DLayout(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("needs a 64-bit platform, which CUDA has")
	}
	var c Copy2D
	for _, field := range []struct {
		name      string
		got, want uintptr
	}{
		{"srcXInBytes", unsafe.Offsetof(c.SrcX), 0},
		{"srcY", unsafe.Offsetof(c.SrcY), 8},
		{"srcMemoryType", unsafe.Offsetof(c.SrcType), 16},
		{"srcHost", unsafe.Offsetof(c.SrcHost), 24},
		{"srcDevice", unsafe.Offsetof(c.SrcDevice), 32},
		{"srcArray", unsafe.Offsetof(c.srcArray), 40},
		{"srcPitch", unsafe.Offsetof(c.SrcPitch), 48},
		{"dstXInBytes", unsafe.Offsetof(c.DstX), 56},
		{"dstY", unsafe.Offsetof(c.DstY), 64},
		{"dstMemoryType", unsafe.Offsetof(c.DstType), 72},
		{"dstHost", unsafe.Offsetof(c.DstHost), 80},
		{"dstDevice", unsafe.Offsetof(c.DstDevice), 88},
		{"dstArray", unsafe.Offsetof(c.dstArray), 96},
		{"dstPitch", unsafe.Offsetof(c.DstPitch), 104},
		{"WidthInBytes", unsafe.Offsetof(c.Width), 112},
		{"Height", unsafe.Offsetof(c.Height), 120},
		{"the end", unsafe.Sizeof(c), 128},
	} {
		if field.got != field.want {
			t.Errorf("%s is at byte %d, want %d", field.name, field.got, field.want)
		}
	}
}

// TestTable checks that every function is declared once, under distinct names.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range functions {
		for _, name := range f.names {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
}

func TestMissingLibraries(t *testing.T) {
	if _, err := openAny(nil); err == nil {
		t.Error("opened nothing")
	}
	_, err := openAny([]string{"libno-such-driver.so.1", "libno-such-driver.so"})
	if err == nil || !strings.Contains(err.Error(), "no NVIDIA driver") {
		t.Errorf("the error does not say that there is no driver: %v", err)
	}
	if err := Result(OutOfMemory); !strings.Contains(err.Error(), "2") && !strings.Contains(err.Error(), "MEMORY") {
		t.Errorf("a result must say which it is: %v", err)
	}
}
