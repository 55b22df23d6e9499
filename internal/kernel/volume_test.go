package kernel_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// testVolume compares slices at every level, for many shapes, bit for bit with plane tables that
// are added one after the other, with guards around all buffers.
func testVolume[P kernel.Pixel, S kernel.Sum](t *testing.T, find func(kernel.Level) kernel.VolumeFunc, plane func(kernel.Level) kernel.Func) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, width := range widths {
		for _, c := range channels {
			rows := 1 + rng.IntN(10)
			var slices [3]raster.Array
			var want [3][]S
			var sum []S
			for z := range slices {
				pix := randomPixels[P](rng, rows, width*c)
				if rng.IntN(3) == 0 {
					spoil(rng, pix)
				}
				slices[z] = arrayOf(pix)
				want[z] = run[S](t, plane(kernel.Portable), slices[z], rows, width, c, kernel.Ahead)
				if sum == nil {
					sum = make([]S, len(want[z]))
				}
				for i := range sum {
					sum[i] += want[z][i]
					want[z][i] = sum[i]
				}
			}
			for _, level := range levels() {
				way := volumeWay(rng.IntN(4))
				got := runVolume[S](t, find(level), slices[:], rows, width, c, way)
				for z := range want {
					for i := range want[z] {
						if !same(got[z][i], want[z][i]) {
							t.Fatalf("level %d, %d rows of %d×%d, way %v: entry %d of slice %d is %v, want %v",
								level, rows, width, c, way, i, z, got[z][i], want[z][i])
						}
					}
				}
			}
		}
	}
}

// volumeWay is a way to write.
type volumeWay int

const (
	inTiles volumeWay = iota // two tiles, if rows are wide enough, with cached stores
	cached
	beyond
	whole // with the gaps between rows
)

// runVolume passes slices through a kernel one after the other, with guards around all buffers, and
// returns the sums of each.
func runVolume[S kernel.Sum](t *testing.T, f kernel.VolumeFunc, slices []raster.Array, rows, width, c int, way volumeWay) (sums [][]S) {
	t.Helper()
	n := width * c
	line := kernel.LineBytes / int(unsafe.Sizeof(*new(S)))
	stride := (n+c+line-1)/line*line + way.gap(line)
	mark := S(77)
	scratch := func(n int) []S {
		s := make([]S, n+guard)
		for i := n; i < len(s); i++ {
			s[i] = mark
		}
		return s
	}
	first := n
	if half := n / 2 / kernel.Align(c) * kernel.Align(c); way == inTiles && half > 0 {
		first = half
	}
	over := [][]S{scratch(kernel.OverLen(rows, first)), scratch(kernel.OverLen(rows, n-first))}
	carry, above := scratch(rows*kernel.CarryLen(c)), scratch(n+kernel.Slack)
	for _, pix := range slices {
		buf := make([]S, guard+rows*stride+guard+line)
		for i := range buf {
			buf[i] = mark
		}
		at := guard
		for uintptr(unsafe.Pointer(&buf[at]))%kernel.LineBytes != 0 {
			at++
		}
		if way < beyond {
			at-- // not aligned to a cache line
		}
		clear(carry[:len(carry)-guard])
		clear(above[:n])
		srcStride := pix.Len() / rows
		for i, x := range []int{0, first} {
			if x == n {
				break
			}
			tile := kernel.VolumeTile{Over: raster.Bytes(over[i][:len(over[i])-guard]), Whole: way == whole}
			tile.Dst, tile.DstStride = raster.Bytes(buf[at+x:]), stride
			tile.Src, tile.SrcStride = pix.From(x), srcStride
			tile.Above, tile.Carry = raster.Bytes(above[x:]), raster.Bytes(carry)
			tile.Rows, tile.N, tile.Channels = rows, []int{first, n - first}[i], c
			if way >= beyond {
				tile.Writes = kernel.Stream
			}
			f(&tile)
		}
		for _, s := range [][]S{over[0], over[1], carry, above} {
			for _, v := range s[len(s)-guard:] {
				if v != mark {
					t.Fatalf("%d rows of %d×%d, way %v: written beyond a scratch buffer", rows, width, c, way)
				}
			}
		}
		var slice []S
		for i, v := range buf {
			i -= at
			outside := mark
			if i >= 0 && i < rows*stride {
				if i%stride < n {
					slice = append(slice, v)
					continue
				}
				if way == whole {
					outside = 0
				}
			}
			if v != outside {
				t.Fatalf("%d rows of %d×%d, way %v: %v outside of the rows, at %d", rows, width, c, way, v, i)
			}
		}
		sums = append(sums, slice)
	}
	return sums
}

// gap returns the number of additional elements between rows.
func (w volumeWay) gap(line int) int {
	if w == inTiles {
		return line
	}
	return 0
}
