package processor

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/raster"
)

type memoryRoutines struct {
	fill, read func(at *byte, n int)
	fillRead   func(dst, src *byte, blocks, ratio int)
	copy       func(dst, src *byte, lines int)
}

// StreamFill writes every byte of dst once, with non-temporal stores if it can.
func StreamFill(dst []byte) {
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst))) % raster.LineBytes)
	if memory[best].fill == nil || len(dst) < head+256 {
		fillBytes(dst)
		return
	}
	body := (len(dst) - head) &^ 255
	fillBytes(dst[:head])
	fillBytes(dst[head+body:])
	memory[best].fill(&dst[head], body)
}

// StreamFillRead writes every byte of dst once, with non-temporal stores if it can, while it reads
// every byte of src once. Its time is a lower bound for computing a table of the size of dst from
// pixels of the size of src.
func StreamFillRead(dst, src []byte) {
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst))) % raster.LineBytes)
	if memory[best].fill == nil || len(src) < raster.LineBytes || len(dst) < head+raster.LineBytes {
		streamRead(src)
		StreamFill(dst)
		return
	}
	ratio := max(1, (len(dst)-head)/len(src))
	blocks := min(len(src)/raster.LineBytes, (len(dst)-head)/raster.LineBytes/ratio)
	memory[best].fillRead(&dst[head], &src[0], blocks, ratio)
	fillBytes(dst[:head])
	StreamFill(dst[head+blocks*ratio*raster.LineBytes:])
	streamRead(src[blocks*raster.LineBytes:])
}

func streamRead(src []byte) {
	body := len(src) &^ 255
	if body == 0 || memory[best].read == nil {
		readBytes(src)
		return
	}
	memory[best].read(&src[0], body)
}

// StreamCopy is like copy for slices that do not overlap, but uses non-temporal stores if it can.
// Other goroutines may read the result after a StoreFence.
func StreamCopy[T raster.Number](dst, src []T) {
	n := min(len(dst), len(src))
	size := int(unsafe.Sizeof(*new(T)))
	if n == 0 {
		return
	}
	head := min(n, int(-uintptr(unsafe.Pointer(&dst[0]))%raster.LineBytes)/size)
	lines := (n - head) * size / raster.LineBytes
	body := head + lines*raster.LineBytes/size
	to := unsafe.Pointer(&dst[min(head, n-1)])
	if lines == 0 || memory[best].copy == nil || uintptr(to)%raster.LineBytes != 0 {
		copy(dst[:n], src[:n])
		return
	}
	memory[best].copy((*byte)(to), (*byte)(unsafe.Pointer(&src[head])), lines)
	copy(dst[:head], src)
	copy(dst[body:n], src[body:n])
}

// Streams reports whether [StreamCopy] uses non-temporal stores on this machine.
func Streams() bool { return memory[best].copy != nil }

func fillBytes(dst []byte) {
	for i := range dst {
		dst[i] = 0xff
	}
}

// readBytes must not be inlined: the compiler would see that its result is unused.
//
//go:noinline
func readBytes(src []byte) (all byte) {
	for _, b := range src {
		all |= b
	}
	return all
}
