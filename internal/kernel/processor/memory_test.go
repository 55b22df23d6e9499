package processor_test

import (
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// guard is the number of elements around every buffer, which must not be written.
const guard = 64

// TestStreamFill checks that fills write every byte of dst and nothing else, for any start and end.
func TestStreamFill(t *testing.T) {
	src := make([]byte, 3000)
	for _, n := range []int{0, 1, 63, 256, 319, 320, 1000, 2048} {
		for _, at := range []int{guard, guard + 1, guard + 40} {
			for _, fill := range []func(dst []byte){
				processor.StreamFill,
				func(dst []byte) { processor.StreamFillRead(dst, src[:len(dst)/4]) },
				func(dst []byte) { processor.StreamFillRead(dst, src[:len(dst)]) },
			} {
				buf := make([]byte, at+n+guard)
				fill(buf[at:][:n])
				for i, b := range buf {
					want := byte(0)
					if i >= at && i < at+n {
						want = 0xff
					}
					if b != want {
						t.Fatalf("%d bytes from %d on: byte %d is %#x, want %#x", n, at, i, b, want)
					}
				}
			}
		}
	}
}

func TestStreamCopy(t *testing.T) {
	testStreamCopy[uint32](t)
	testStreamCopy[float64](t)
}

func testStreamCopy[S raster.Number](t *testing.T) {
	src := make([]S, 500)
	for i := range src {
		src[i] = S(i + 1)
	}
	for _, n := range []int{0, 1, 3, 15, 16, 17, 31, 64, 65, 127, 128, 400} {
		for at := range 17 {
			dst := make([]S, n+2*guard)
			processor.StreamCopy(dst[guard+at:][:n], src[at/2:])
			processor.StoreFence()
			for i, v := range dst {
				var want S
				if j := i - guard - at; j >= 0 && j < n {
					want = src[at/2+j]
				}
				if v != want {
					t.Fatalf("%d elements to %d: element %d is %v, want %v", n, at, i-guard-at, v, want)
				}
			}
		}
	}
}
