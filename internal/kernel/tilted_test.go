package kernel_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// testTilted compares every level with the portable one bit for bit, with tiles of any width and
// bands of any height, and with guards around all buffers. Package tilted tests the portable level.
func testTilted[P kernel.Pixel, S kernel.Sum](t *testing.T, find func(kernel.Level) kernel.TiltedFunc) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, width := range widths {
		for _, c := range channels {
			rows := 1 + rng.IntN(14)
			pix := randomPixels[P](rng, rows, width*c)
			if rng.IntN(2) == 0 {
				spoil(rng, pix)
			}
			spec := runTilted[S](t, find(kernel.Portable), arrayOf(pix), rows, width, c, rows, 1<<20, kernel.Ahead)
			for _, level := range levels() {
				band, tile := 1+rng.IntN(rows), (1+rng.IntN(8))*kernel.TiltedSkew(c, 12)
				writes := kernel.Writes(rng.IntN(3))
				got := runTilted[S](t, find(level), arrayOf(pix), rows, width, c, band, tile, writes)
				for i := range spec {
					if !same(got[i], spec[i]) {
						t.Fatalf("level %d, %d rows of %d×%d in bands of %d and tiles of %d, writes %v: entry %d is %v, want %v",
							level, rows, width, c, band, tile, writes, i, got[i], spec[i])
					}
				}
			}
		}
	}
}

// runTilted computes a table in bands and tiles, and returns it without gaps, with column 0.
func runTilted[S kernel.Sum](t *testing.T, f kernel.TiltedFunc, pix raster.Array, rows, width, c, band, tile int, writes kernel.Writes) []S {
	t.Helper()
	n, row := width*c, (width+1)*c
	line := kernel.LineBytes / int(unsafe.Sizeof(*new(S)))
	stride := (row+line-1)/line*line + line
	mark := S(77)
	buf := make([]S, guard+c+rows*stride+line+guard)
	for i := range buf {
		buf[i] = mark
	}
	at := guard
	for uintptr(unsafe.Pointer(&buf[at+c]))%kernel.LineBytes != 0 {
		at++
	}
	if writes == kernel.Ahead {
		at-- // not aligned to a cache line
	}
	scratch := func(n int) []S {
		s := make([]S, n+guard)
		kernel.TiltedZero(raster.Bytes(s[:n]), raster.TypeOf[S]())
		for i := n; i < len(s); i++ {
			s[i] = mark
		}
		return s
	}
	whole := kernel.TiltedLead(c) + n + kernel.TiltedSlack(c)
	sums, diagonals := scratch(whole), scratch(whole)
	edge := scratch(band * kernel.CarryLen(c))
	srcStride := pix.Len() / rows
	for y := 0; y < rows; y += band {
		for x := 0; x < n+band*kernel.TiltedSkew(c, 12); x += tile {
			f(&kernel.TiltedTile{
				Dst: raster.Bytes(buf[at+y*stride:]), DstStride: stride,
				Src: pix.From(y * srcStride), SrcStride: srcStride,
				Sums: raster.Bytes(sums[:len(sums)-guard]), Diagonals: raster.Bytes(diagonals[:len(diagonals)-guard]), Edge: raster.Bytes(edge[:len(edge)-guard]),
				X: x, Width: tile, Rows: min(band, rows-y), N: n, Channels: c, First: y == 0, Writes: writes,
			})
		}
	}
	for name, s := range map[string][]S{"sums": sums, "diagonals": diagonals, "edge": edge} {
		for _, v := range s[len(s)-guard:] {
			if v != mark {
				t.Fatalf("%d rows of %d×%d: written beyond %s", rows, width, c, name)
			}
		}
	}
	table := make([]S, 0, rows*row)
	for i, v := range buf {
		if i -= at; i >= 0 && i < rows*stride && i%stride < row {
			table = append(table, v)
		} else if v != mark {
			t.Fatalf("%d rows of %d×%d, writes %v: written outside, at %d", rows, width, c, writes, i)
		}
	}
	return table
}
