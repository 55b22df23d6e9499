package engine

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// BenchmarkWrites shows the size from which each way of writing is the fastest.
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
				l := new(upright)
				l.find(raster.U8, raster.U32, kernel.Best(), false)
				plane := raster.PlaneExtent(side, side, 1, 0)
				to := plane
				plane.Stride, to.Stride = side, stride
				var e Engine
				p := Work{Rows: side, N: side, Channels: 1, PixelBytes: 1, SumBytes: 4, Workers: 1}.Plan()
				b.SetBytes(5 * int64(side) * int64(side))
				raw := raster.ArrayOf(src, plane)
				for b.Loop() {
					l.aim(new(raw), &Table{Array: raster.ArrayOf(dst, to)})
					p.Writes = kernel.Writes(w)
					if err := e.Fill(&Settings{}, &p, l); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
