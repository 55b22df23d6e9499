package engine

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
)

// BenchmarkWrites shows from which size on which way of writing wins.
func BenchmarkWrites(b *testing.B) {
	for _, side := range []int{512, 700, 900, 1400, 2048, 4096, 8192} {
		for w, name := range []string{kernel.Ahead: "ahead", kernel.Mixed: "mixed", kernel.Stream: "stream"} {
			b.Run(fmt.Sprintf("%.1fMB/%s", float64(4*side*side)/1e6, name), func(b *testing.B) {
				src := make([]uint8, side*side)
				for i := range src {
					src[i] = uint8(i % 251)
				}
				line := kernel.LineBytes / 4
				stride := side + line
				dst := make([]uint32, stride*(side+1)+2*line)
				for uintptr(unsafe.Pointer(&dst[1]))%kernel.LineBytes != 0 {
					dst = dst[1:]
				}
				l := &Sums[uint8, uint32]{
					Kernel: kernel.Sums[uint8, uint32](kernel.Best()),
					Src:    src, SrcStride: side, Dst: dst, DstStride: stride, Channels: 1,
				}
				e := Engine{Layers: []Layer{l}}
				p := Work{Rows: side, N: side, Channels: 1, PixelBytes: 1, SumBytes: 4, Workers: 1}.Plan()
				b.SetBytes(5 * int64(side) * int64(side))
				for b.Loop() {
					l.Writes = kernel.Writes(w)
					l.Prepare(p.Grid, 1)
					e.Run(p.Grid, 1)
				}
			})
		}
	}
}
