package tilted

import (
	"math"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A part is a box that has pixels in the image, or a part of such a box.
type part struct {
	in interface{ Area(Box) int } // the table
	Box
}

func (p part) Pixels() int { return p.in.Area(p.Box) }

// Halves splits the box in two across its longer side. ok is false if the box is too
// small to split.
func (p part) Halves() (one, other part, ok bool) {
	one, other = p, p
	if p.W > p.H {
		one.W = p.W / 2
		other.X, other.Y, other.W = p.X+one.W, p.Y+one.W, p.W-one.W
	} else {
		one.H = p.H / 2
		other.X, other.Y, other.H = p.X-one.H, p.Y+one.H, p.H-one.H
	}
	return one, other, p.W > 1 || p.H > 1 // the smallest box has two pixels
}

// inside returns a box as a part, and whether it has pixels in the image.
func (t *Table[S]) inside(b Box) (part, bool) { return part{t, b}, t.Area(b) > 0 }

// clamped returns the entry nearest to a corner.
func (t *Table[S]) clamped(x, y int) (int, int) {
	return min(max(x, 0), t.Width), min(max(y, 0), t.Height)
}

// reads returns the number of entries that the sum of a box is computed from, and calls
// largest for those of the last row: no other entry sums more pixels. A box that does
// not extend below the image takes four reads, and largest is not called.
func (t *Table[S]) reads(b Box, largest func(x int)) int {
	d, ok := t.clip(b)
	if t.Contains(b) || !ok {
		return 4
	}
	n := 0
	for _, corner := range [...][2]int{{d.u0, d.v1}, {d.u0, d.v0}, {d.u1, d.v1}, {d.u1, d.v0}} {
		x, y := (corner[0]+1+corner[1])/2, (corner[0]+1-corner[1])/2
		if x < 0 {
			x, y = 0, y+x
		} else if x > t.Width {
			x, y = t.Width, y-(x-t.Width)
		}
		k := y - t.Height
		if k <= 0 {
			n++
			continue
		}
		n += 2*k + 1 + 4*k*(t.Height-1)
		for i := max(x-k, 0); i <= min(x+k, t.Width); i++ {
			largest(i)
		}
	}
	return n
}

func (t *SquaredTable[S, Q]) rounding(b part, channel int) stats.Rounding {
	x, y := t.Sum.clamped(total(b.X, b.W, -b.H), total(b.Y, b.W, b.H))
	squares := t.Squares.At(x, y, channel)
	reads := t.Sum.reads(b.Box, func(x int) { squares = max(squares, t.Squares.At(x, t.Sum.Height, channel)) })
	return stats.Rounding{Entries: reads, Squares: float64(squares), Pixels: y * t.Sum.Width, Steps: 4 * (t.Sum.Height + t.Sum.Width)}
}

// whole reports whether all entries that the sum of a box is computed from are whole
// numbers, and adding them up is exact.
func (t *SquaredTable[S, Q]) whole(b part, channel int) bool {
	for _, at := range [...][2]int{{b.X, b.Y}, {total(b.X, -b.H), total(b.Y, b.H)}, {total(b.X, b.W), total(b.Y, b.W)}, {total(b.X, b.W, -b.H), total(b.Y, b.W, b.H)}} {
		x, y := t.Sum.clamped(at[0], at[1])
		if !stats.IsWhole(float64(t.Sum.At(x, y, channel)), float64(t.Squares.At(x, y, channel)), raster.TypeOf[S]()) {
			return false
		}
	}
	var sum, squares float64
	whole := true
	reads := float64(t.Sum.reads(b.Box, func(x int) {
		s, q := float64(t.Sum.At(x, t.Sum.Height, channel)), float64(t.Squares.At(x, t.Sum.Height, channel))
		sum, squares, whole = max(sum, math.Abs(s)), max(squares, q), whole && stats.IsWhole(s, q, raster.TypeOf[S]())
	}))
	return whole && stats.StaysExact(reads*sum, raster.TypeOf[S]()) && stats.StaysExact(reads*squares, raster.TypeOf[Q]())
}
