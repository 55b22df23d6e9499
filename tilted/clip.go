package tilted

import (
	"math"
	"math/bits"

	"github.com/boxsum/boxsum"
)

// Contains reports whether the four corners of a box are entries of the table. If so,
// all pixels of the box are in the image, and its sum takes four reads.
func (t *Table[S]) Contains(b Box) bool {
	// Compared one by one, because sums of them may overflow an int.
	return t != nil && b.W >= 0 && b.H >= 0 && b.Y >= 0 && b.H <= b.X && b.X <= t.Width && b.W <= t.Width-b.X &&
		b.Y <= t.Height && b.W <= t.Height-b.Y && b.H <= t.Height-b.Y-b.W
}

// Area returns the number of pixels of a box that are inside the image, or 0 if W or H
// is not positive.
func (t *Table[S]) Area(b Box) int {
	if t.Contains(b) {
		return b.Area()
	}
	d, ok := t.clip(b)
	if !ok {
		return 0
	}
	n := 0
	for y := max(0, (d.u0-d.v1)/2-1); y < min(t.Height, (d.u1-d.v0)/2+1); y++ {
		from, to := max(d.u0-y, d.v0+y, 0), min(d.u1-y, d.v1+y, t.Width)
		n += max(0, to-from)
	}
	return n
}

// diagonals describes the pixels of a box: u0 ≤ x+y < u1 and v0 ≤ x−y < v1. Either u0
// and u1 are odd and v0 and v1 even, or the other way round.
type diagonals struct{ u0, u1, v0, v1 int }

// clip moves the sides of a box that lie beyond the image to just outside it. It
// reports whether the image and what is left of the box are not empty.
func (t *Table[S]) clip(b Box) (diagonals, bool) {
	if t == nil || t.Width <= 0 || t.Height <= 0 || b.W <= 0 || b.H <= 0 {
		return diagonals{}, false
	}
	odd := (b.X ^ b.Y) & 1
	u := func(n int) int { return between(n, 0, t.Width+t.Height, 1-odd) }
	v := func(n int) int { return between(n, -t.Height, t.Width, odd) }
	d := diagonals{
		u0: u(total(b.X, b.Y, -1)), u1: u(total(b.X, b.Y, -1, b.W, b.W)),
		v0: v(total(b.X, ^b.Y, 1, -b.H, -b.H)), v1: v(total(b.X, ^b.Y, 1)), // ^Y+1 is −Y
	}
	return d, d.u0 < d.u1 && d.v0 < d.v1
}

// total returns the sum of terms, clamped to the range of int.
func total(terms ...int) int {
	var hi, lo, carry uint64
	for _, t := range terms {
		lo, carry = bits.Add64(lo, uint64(t), 0)
		hi += uint64(int64(t)>>63) + carry
	}
	switch {
	case int64(hi) > 0 || hi == 0 && lo > math.MaxInt:
		return math.MaxInt
	case int64(hi) < -1 || hi == math.MaxUint64 && (int64(lo) >= 0 || int64(lo) < math.MinInt):
		return math.MinInt
	}
	return int(lo)
}

// between returns n if low ≤ n ≤ high. Otherwise it returns the limit or the number just
// beyond it, whichever has the parity of odd.
func between(n, low, high, odd int) int {
	switch {
	case n < low:
		return low - (low^odd)&1
	case n > high:
		return high + (high^odd)&1
	}
	return n
}

func clipped[S boxsum.Sum](t *Table[S], b Box, channel int) S {
	d, ok := t.clip(b)
	if !ok {
		return 0
	}
	// Entry (x, y) sums the pixels with x+y < u and x−y ≥ v, where
	corner := func(u, v int) S { return t.belowEntry((u+1+v)/2, (u+1-v)/2, channel) }
	return corner(d.u0, d.v1) - corner(d.u0, d.v0) - corner(d.u1, d.v1) + corner(d.u1, d.v0)
}

// besideEntry returns entry (x, y), where x may be outside the table. A triangle whose tip
// is beside the image has the same pixels as one whose tip is at its edge.
func (t *Table[S]) besideEntry(x, y, channel int) S {
	if x < 0 {
		x, y = 0, y+x
	} else if x > t.Width {
		x, y = t.Width, y-(x-t.Width)
	}
	if y <= 0 {
		return 0
	}
	return t.Sums[y*t.Stride+x*t.Channels+channel]
}

// belowEntry returns entry (x, y), which may be outside the table on any side.
//
// An entry k rows below the image sums a triangle that is cut off, 2k+1 pixels wide in
// the last row. With z for a step up and s(k) for steps of −k to k to the side, it is
// the entry of the last row, times
//
//	(s(k) − z·s(k−1)) / (1 + z) = s(k) − (z − z² + z³ − …)·(s(k) + s(k−1))
//
// because an entry T and its pixels I satisfy T·(1 − z·x)·(1 − z/x) = I·(1 + z). The
// division is why all rows count: a table can tell a pixel from the one above it only
// from the first row on.
func (t *Table[S]) belowEntry(x, y, channel int) S {
	if x < 0 {
		x, y = 0, y+x
	} else if x > t.Width {
		x, y = t.Width, y-(x-t.Width)
	}
	k := y - t.Height
	if k <= 0 {
		return t.besideEntry(x, y, channel)
	}
	var sum S
	for i := -k; i <= k; i++ {
		sum += t.besideEntry(x+i, t.Height, channel)
	}
	for up := 1; up < t.Height; up++ {
		var row S
		for i := -k; i < k; i++ { // twice but for the ends
			row += t.besideEntry(x+i, t.Height-up, channel) + t.besideEntry(x+i+1, t.Height-up, channel)
		}
		if up%2 == 1 {
			row = -row
		}
		sum += row
	}
	return sum
}
