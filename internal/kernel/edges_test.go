//go:build linux

package kernel_test

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestReadsWithinImage checks that no level reads before the first pixel of an image or beyond the
// last: the pages there are not mapped. The rows have no gaps between them.
func TestReadsWithinImage(t *testing.T) {
	testReads[uint8, uint32](t)
	testReads[uint8, float64](t)
	testReads[uint16, uint64](t)
	testReads[uint32, uint32](t)
	testReads[float32, float32](t)
	testReads[float32, float64](t)
}

func testReads[P kernel.Pixel, S kernel.Sum](t *testing.T) {
	page := os.Getpagesize()
	all, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(all)
	for _, edge := range [][]byte{all[:page], all[2*page:]} {
		if err := syscall.Mprotect(edge, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inside := unsafe.Slice((*P)(unsafe.Pointer(&all[page])), page/int(unsafe.Sizeof(*new(P))))
	rng := rand.New(rand.NewPCG(9, 10))
	for _, channels := range []int{1, 2, 3, 4} {
		for _, width := range []int{1, 7, 16, 33, 49} {
			for _, rows := range []int{1, 4, 5} {
				n := width * channels
				pix := randomPixels[P](rng, 1, rows*n)[:rows*n]
				for _, src := range [][]P{inside[:len(pix)], inside[len(inside)-len(pix):]} {
					copy(src, pix)
					for _, level := range levels() {
						kernel.Plane(raster.TypeOf[P](), raster.TypeOf[S](), level, false)(&kernel.Tile{
							Dst: raster.Bytes(make([]S, rows*n)), DstStride: n, Src: raster.Bytes(src), SrcStride: n,
							Above: raster.Bytes(make([]S, n+kernel.Slack)), Carry: raster.Bytes(make([]S, rows*kernel.CarryLen(channels))),
							Rows: rows, N: n, Channels: channels,
						})
					}
				}
			}
		}
	}
}
