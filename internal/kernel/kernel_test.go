package kernel_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// levels returns every level of this machine.
func levels() []kernel.Level {
	return kernel.Levels()
}

var (
	rowCounts = []int{1, 2, 3, 4, 5, 7, 8, 9}
	widths    = []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 100, 129}
	channels  = []int{1, 2, 3, 4, 5, 17}
)

// testKernel compares a pair of types with the reference, at every level and for many shapes, and
// with the portable level bit for bit.
func testKernel[P kernel.Pixel, S kernel.Sum](t *testing.T, find func(kernel.Level) kernel.Func, square bool) {
	rng := rand.New(rand.NewPCG(1, 2))
	rowCounts := rowCounts
	if testing.Short() {
		rowCounts = []int{1, 6}
	}
	for _, rows := range rowCounts {
		for _, width := range widths {
			for _, c := range channels {
				for _, writes := range []kernel.Writes{kernel.Ahead, kernel.Mixed, kernel.Stream} {
					pix := randomPixels[P](rng, rows, width*c)
					if writes == kernel.Stream {
						spoil(rng, pix)
					}
					spec := run[S](t, find(kernel.Portable), arrayOf(pix), rows, width, c, writes)
					if writes != kernel.Stream {
						compareWithReference(t, spec, pix, rows, width, c, square)
					}
					for _, level := range levels()[1:] {
						got := run[S](t, find(level), arrayOf(pix), rows, width, c, writes)
						if bytes.Equal(raster.Bytes(got), raster.Bytes(spec)) {
							continue
						}
						for i := range spec { // NaNs may have other bits
							if !same(got[i], spec[i]) {
								t.Fatalf("level %d, %d rows of %d×%d, writes %v: entry %d is %v, the portable loop has %v",
									level, rows, width, c, writes, i, got[i], spec[i])
							}
						}
					}
				}
			}
		}
	}
}

// arrayOf returns pixels, whose layout the caller knows.
func arrayOf[P kernel.Pixel](pix []P) raster.Array { return raster.ArrayOf(pix, raster.Extent{}) }

// guard is the number of elements around every buffer, which kernels must not write.
const guard = 64

// run passes the rows through a kernel twice, as two bands of two tiles if they are wide enough,
// with guards around all buffers, and returns the sums.
func run[S kernel.Sum](t *testing.T, f kernel.Func, pix raster.Array, rows, width, c int, writes kernel.Writes) []S {
	t.Helper()
	n := width * c
	line := kernel.LineBytes / int(unsafe.Sizeof(*new(S)))
	dstStride := (n+line-1)/line*line + line
	mark := S(77)
	buf := make([]S, guard+rows*dstStride+guard+line)
	for i := range buf {
		buf[i] = mark
	}
	at := guard
	for uintptr(unsafe.Pointer(&buf[at]))%kernel.LineBytes != 0 {
		at++
	}
	if writes < kernel.Mixed {
		at-- // not aligned to a cache line
	}
	above := make([]S, n+kernel.Slack+guard)
	for i := n + kernel.Slack; i < len(above); i++ {
		above[i] = mark
	}
	srcStride := pix.Len() / rows
	first := n / 2 / kernel.Align(c) * kernel.Align(c)
	for y := 0; y < rows; y += 5 {
		band := min(5, rows-y)
		carry := make([]S, band*kernel.CarryLen(c)+guard)
		for i := band * kernel.CarryLen(c); i < len(carry); i++ {
			carry[i] = mark
		}
		for _, x := range []int{0, first} {
			end := n
			if x == 0 && first > 0 {
				end = first
			} else if first == 0 && x == 0 {
				end = n
			}
			f(&kernel.Tile{
				Dst: raster.Bytes(buf[at+y*dstStride+x:]), DstStride: dstStride,
				Src: pix.From(y*srcStride + x), SrcStride: srcStride,
				Above: raster.Bytes(above[x:]), Carry: raster.Bytes(carry),
				Rows: band, N: end - x, Channels: c, Writes: writes,
			})
			if first == 0 {
				break
			}
		}
		for _, v := range carry[band*kernel.CarryLen(c):] {
			if v != mark {
				t.Fatalf("%d rows of %d×%d: written beyond the carries", rows, width, c)
			}
		}
	}
	for _, v := range above[n+kernel.Slack:] {
		if v != mark {
			t.Fatalf("%d rows of %d×%d: written beyond the row above", rows, width, c)
		}
	}
	sums := make([]S, 0, rows*n)
	from := 0 // of the elements before a row, or after the last
	for y := range rows + 1 {
		to, next := len(buf), 0
		if y < rows {
			to = at + y*dstStride
			next = to + n
		}
		for i, v := range buf[from:to] {
			if v != mark {
				t.Fatalf("%d rows of %d×%d, writes %v: written outside, at %d", rows, width, c, writes, from+i-at)
			}
		}
		sums = append(sums, buf[to:max(to, next)]...)
		from = next
	}
	return sums
}

// compareWithReference allows float sums the rounding of one addition per pixel to the left and
// above.
func compareWithReference[P kernel.Pixel, S kernel.Sum](t *testing.T, got []S, pix []P, rows, width, c int, square bool) {
	t.Helper()
	im := ref.Image[P]{Pix: pix, Stride: len(pix) / rows, Width: width, Height: rows, Channels: c}
	want := ref.Table[S](im, square)
	epsilon, largest := 0.0, 65536.0
	switch any(*new(P)).(type) {
	case int32, uint32:
		largest = 1 << 32
	}
	if square {
		largest *= largest
	}
	if ref.IsFloat[S]() {
		epsilon = math.Pow(2, -53)
		if unsafe.Sizeof(*new(S)) == 4 {
			epsilon = math.Pow(2, -24)
		}
	}
	for y := range rows {
		for i := range width * c {
			g, w := got[y*width*c+i], want[(y+1)*(width+1)*c+c+i]
			if g != w && !(math.Abs(float64(g)-float64(w)) <= 2*epsilon*float64(rows+width)*float64(width*rows)*largest) {
				t.Fatalf("%d rows of %d×%d: entry (%d,%d) is %v, want %v", rows, width, c, i, y, g, w)
			}
		}
	}
}

// same distinguishes -0 from 0, but treats all NaNs as equal.
func same[S kernel.Sum](a, b S) bool {
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b
}

// spoil replaces some floats by special values.
func spoil[P kernel.Pixel](rng *rand.Rand, pix []P) {
	odd := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 1e-310, 1e-42, math.MaxFloat32}
	for i := range pix {
		switch p := any(&pix[i]).(type) {
		case *float32:
			if rng.IntN(40) == 0 {
				*p = float32(odd[rng.IntN(len(odd))])
			}
		case *float64:
			if rng.IntN(40) == 0 {
				*p = odd[rng.IntN(len(odd))]
			}
		}
	}
}

// randomPixels returns rows of n pixels with a gap between them. Integers cover their whole range,
// so that sums wrap.
func randomPixels[P kernel.Pixel](rng *rand.Rand, rows, n int) []P {
	pix := make([]P, rows*(n+rng.IntN(5)))
	for i := range pix {
		switch p := any(&pix[i]).(type) {
		case *float32:
			*p = float32(rng.Float64()*60 - 30)
		case *float64:
			*p = rng.Float64()*60 - 30
		default:
			pix[i] = P(rng.Uint64())
		}
	}
	return pix
}

// TestOffset checks that every level subtracts the offset as the portable loop does.
func TestOffset(t *testing.T) {
	testOffset[uint8](t)
	testOffset[float32](t)
}

func testOffset[P kernel.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 8, 15, 16, 17, 33, 100} {
		for _, rows := range []int{1, 4, 5} {
			pix := randomPixels[P](rng, rows, n)
			var want []float32
			for _, level := range levels() {
				dst := make([]float32, rows*n)
				tile := kernel.Tile{
					Dst: raster.Bytes(dst), DstStride: n,
					Src: raster.Bytes(pix), SrcStride: len(pix) / rows,
					Above: make([]byte, 4*(n+kernel.Slack)), Carry: make([]byte, 4*rows*kernel.CarryLen(1)),
					Rows: rows, N: n, Channels: 1, Offset: 12.5,
				}
				kernel.Plane(raster.TypeOf[P](), raster.F32, level, false)(&tile)
				if want == nil {
					want = dst
					if first := float32(pix[0]) - 12.5; want[0] != first {
						t.Fatalf("the first sum is %v, want %v", want[0], first)
					}
				}
				for i, w := range want {
					if dst[i] != w {
						t.Fatalf("level %d, %d rows of %d: sum %d is %v, want %v", level, rows, n, i, dst[i], w)
					}
				}
			}
		}
	}
}
