package measure

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// rotatedCells returns the number of sums in a rotated table: one for every pixel and, above 3/4, one
// for every empty cell between them.
func rotatedCells(rot rotated.Rotation, size Size) int64 {
	if rot, err := rot.Reduce(); err == nil {
		a, b := max(rot.A, -rot.A), rot.B
		a, b = min(a, b), max(a, b)
		if slope := func(n int) int64 { return int64(a) * int64(n) / int64(b) }; 4*int64(a) > 3*int64(b) {
			return int64(size.Pixels()) + slope(size.Width-1)*slope(size.Height-1)
		}
	}
	return int64(size.Pixels())
}

// verifyRotated compares the sum above and left of every cell with a reference that uses only the
// definition of rows and columns.
func verifyRotated[S boxsum.Sum](t *rotated.Table[S], src *raster.Array) error {
	var size Size
	var n int
	size.Width, size.Height, n = src.Width, src.Height, src.Channels
	var pixel [1]float64
	rot, bounds := t.Rotation(), t.Bounds()
	a, b, width, height := rot.A, rot.B, size.Width, size.Height
	mirror := a < 0
	if mirror {
		a = -a
	}
	exchange := a > b
	if exchange {
		a, b, width, height = b, a, height, width
	}
	slope := func(n int) int { return int(int64(a) * int64(n) / int64(b)) }
	columns := make([]S, (bounds.C1-bounds.C0)*n) // running sums of columns
	for r := bounds.R0; r < bounds.R1; r++ {
		for u := range width {
			v := r - slope(u)
			if v < 0 || v >= height {
				continue
			}
			x, y := u, v
			if exchange {
				x, y = v, u
			}
			if mirror {
				x = size.Width - 1 - x
			}
			c := u - slope(v) - bounds.C0
			for ch := range n {
				columns[c*n+ch] += S(src.Floats(pixel[:0], y, x*n+ch, x*n+ch+1, 1)[0])
			}
		}
		for ch := range n {
			sum := S(0)
			for c := bounds.C0; c < bounds.C1; c++ {
				sum += columns[(c-bounds.C0)*n+ch]
				box := rotated.Box{C0: bounds.C0, R0: bounds.R0, C1: c + 1, R1: r + 1}
				if got, want := t.SumChannel(box, ch), sum; got != want {
					return differs("the reference", (c-bounds.C0)*n+ch, r, n, got, want)
				}
			}
		}
	}
	return nil
}
