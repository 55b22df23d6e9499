package kernel_test

import (
	"testing"

	"github.com/boxsum/boxsum/internal/kernel"
)

// Fills write every byte of dst and none beside it, wherever it starts and ends.
func TestStreamFill(t *testing.T) {
	src := make([]byte, 3000)
	for _, n := range []int{0, 1, 63, 256, 319, 320, 1000, 2048} {
		for _, at := range []int{guard, guard + 1, guard + 40} {
			for _, fill := range []func(dst []byte){
				kernel.StreamFill,
				func(dst []byte) { kernel.StreamFillRead(dst, src[:len(dst)/4]) },
				func(dst []byte) { kernel.StreamFillRead(dst, src[:len(dst)]) },
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
