package tilted

import "github.com/boxsum/boxsum/internal/exact"

// A part is a box that has pixels in the image, or a part of one.
type part struct {
	in interface{ Area(Box) int } // the table
	Box
}

func (p part) Pixels() int { return p.in.Area(p.Box) }

// Halves are parts along the longer side.
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

// inside is a box, and whether it has pixels in the image.
func (t *Table[S]) inside(b Box) (part, bool) { return part{t, b}, t.Area(b) > 0 }

// clamped is the entry nearest to a corner.
func (t *Table[S]) clamped(x, y int) (int, int) {
	return min(max(x, 0), t.Width), min(max(y, 0), t.Height)
}

func (t *SquaredTable[S, Q]) rounding(b part, channel int) exact.Rounding {
	x, y := t.Sum.clamped(total(b.X, b.W, -b.H), total(b.Y, b.W, b.H))
	return exact.Rounding{Squares: float64(t.Squares.At(x, y, channel)), Pixels: y * t.Sum.Width, Steps: 4 * (t.Sum.Height + t.Sum.Width)}
}

// whole reports whether all entries that a box is read from are whole numbers.
func (t *SquaredTable[S, Q]) whole(b part, channel int) bool {
	for _, at := range [...][2]int{{b.X, b.Y}, {total(b.X, -b.H), total(b.Y, b.H)}, {total(b.X, b.W), total(b.Y, b.W)}, {total(b.X, b.W, -b.H), total(b.Y, b.W, b.H)}} {
		x, y := t.Sum.clamped(at[0], at[1])
		if !exact.IsWhole(t.Sum.At(x, y, channel), t.Squares.At(x, y, channel)) {
			return false
		}
	}
	return true
}
