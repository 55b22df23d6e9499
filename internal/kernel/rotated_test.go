package kernel_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// testRotated computes two lines, in one stretch and in several, at every level, and compares them
// bit for bit with each other and, for integers, with brute force.
func testRotated[P kernel.Pixel, S kernel.Sum](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		width, channels, longest := 1+rng.IntN(90), []int{1, 1, 2, 3, 4, 5, 17}[rng.IntN(7)], 1+rng.IntN(20)
		runs := kernel.RotatedRuns{Run: make([]int32, width), Channels: channels, Falling: rng.IntN(2) == 0}
		for x := 1; x < width; x++ {
			if runs.Run[x] = runs.Run[x-1]; rng.IntN(longest) == 0 {
				runs.Run[x]++
			}
		}
		img := randomPixels[P](rng, 2, width*channels)
		if rng.IntN(2) == 0 {
			spoil(rng, img)
		}
		whole := S(1)/S(2) == 0
		var first []S
		for _, level := range levels() {
			for _, cuts := range []int{0, 3} {
				got := rotatedLines[S](t, rng, level, runs, arrayOf(img), cuts)
				if first == nil {
					first = got
					if whole {
						rotatedBrute(t, runs, img, got)
					}
				}
				for i := range got {
					if !same(got[i], first[i]) {
						t.Fatalf("%+v, level %v, %d cuts: value %d is %v, else %v", runs, level, cuts, i, got[i], first[i])
					}
				}
			}
		}
	}
}

// rotatedLines returns the sums of two lines and, of the second, the sums on empty cells and the
// row sums.
func rotatedLines[S kernel.Sum](t *testing.T, rng *rand.Rand, level kernel.Level, runs kernel.RotatedRuns, img raster.Array, cuts int) []S {
	t.Helper()
	n, width := runs.Channels, len(runs.Run)
	count := int(runs.Run[width-1]) + 1
	const block = kernel.RotatedBlock
	slack := kernel.RotatedSlack(n)
	length := (width*n + block - 1) / block * block
	mark := S(77)
	var buffers [][]S
	// guarded returns zeros that start at a cache line, with marks around them.
	guarded := func(size int) []S {
		line := kernel.LineBytes / int(unsafe.Sizeof(mark))
		buf := make([]S, size+2*guard+line)
		at := guard
		for uintptr(unsafe.Pointer(&buf[at]))%kernel.LineBytes != 0 {
			at++
		}
		for i := range buf {
			buf[i] = mark
		}
		clear(buf[at:][:size])
		buffers = append(buffers, buf[:at], buf[at+size:])
		return buf[at:][:size:size]
	}
	k := kernel.NewRotatedKernel(img.Type, raster.TypeOf[S](), level, runs)
	above, over := guarded(count*n+2*slack), guarded(length+2*slack)
	var got []S
	for y := range 2 {
		dst, keep, rows := guarded(length), guarded(length+2*slack), guarded(count*n+2*slack)
		l := kernel.RotatedLine{
			Src: img.From(y * img.Len() / 2),
			Dst: raster.Bytes(dst), Over: raster.Bytes(over), Keep: raster.Bytes(keep),
			Rows: raster.Bytes(rows), RowsAbove: raster.Bytes(above), Carry: raster.Bytes(guarded(kernel.RotatedCarry(n))),
			Stream: rng.IntN(2) == 0,
		}
		var empty []S
		if y == 1 {
			empty = guarded(count*n + 2*slack)
			l.Empty = raster.Bytes(empty)
		}
		ends := []int{0, length}
		for range cuts {
			ends = append(ends, rng.IntN(length/block+1)*block)
		}
		for done := 0; done < length; {
			next := length
			for _, end := range ends {
				if end > done && end < next {
					next = end
				}
			}
			l.From, l.To = done, next
			if !runs.Falling {
				l.From, l.To = length-next, length-done
			}
			k.Line(&l)
			done = next
		}
		kernel.StoreFence()
		got = append(got, dst[:width*n]...)
		for i, v := range keep[slack:][:width*n] {
			if !same(v, dst[i]) {
				t.Fatalf("%+v, level %v: kept %v of %v", runs, level, v, dst[i])
			}
		}
		if y == 1 {
			inside := empty[slack:][:count*n]
			if runs.Falling { // no line is above the first pixel
				inside = inside[:(count-1)*n]
			} else {
				inside = inside[n:]
			}
			got = append(append(got, inside...), rows[slack:][:count*n]...)
		}
		// Elements beside the rows are unspecified, and zero beyond them.
		if runs.Falling {
			clear(rows[slack+count*n:])
		} else {
			clear(rows[:slack])
		}
		above, over = rows, keep
	}
	for _, buf := range buffers {
		for _, v := range buf {
			if v != mark {
				t.Fatalf("%+v, level %v: written outside", runs, level)
			}
		}
	}
	return got
}

// rotatedBrute compares two lines with sums of their pixels.
func rotatedBrute[P kernel.Pixel, S kernel.Sum](t *testing.T, runs kernel.RotatedRuns, img []P, got []S) {
	t.Helper()
	n, width := runs.Channels, len(runs.Run)
	count := int(runs.Run[width-1]) + 1
	pixel := func(x, y, c int) S { return S(img[y*len(img)/2+x*n+c]) }
	step := 1
	if runs.Falling {
		step = -1
	}
	// row returns the sum from a pixel of line y on, along its row.
	row := func(x, y, c int) (s S) {
		for ; x >= 0 && x < width && y >= 0; x += step {
			s += pixel(x, y, c)
			if next := x + step; next >= 0 && next < width && runs.Run[next] != runs.Run[x] {
				y--
			}
		}
		return s
	}
	for c := range n {
		for x := range width {
			first := row(x, 0, c)
			if v := got[x*n+c]; v != first {
				t.Fatalf("%+v: pixel %d of the first line is %v, want %v", runs, x, v, first)
			}
			second := first + row(x, 1, c)
			run, before := int(runs.Run[x]), x-step
			if before >= 0 && before < width && int(runs.Run[before]) != run {
				second += first // on the empty cell
				at := run
				if !runs.Falling {
					at--
				}
				if v := got[2*width*n+at*n+c]; v != 2*first {
					t.Fatalf("%+v: the cell above run %d is %v, want %v", runs, run, v, 2*first)
				}
			}
			if v := got[(width+x)*n+c]; v != second {
				t.Fatalf("%+v: pixel %d of the second line is %v, want %v", runs, x, v, second)
			}
		}
	}
	if len(got) != (2*width+2*count-1)*n {
		t.Fatalf("%d values", len(got))
	}
}
