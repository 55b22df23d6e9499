package haar

import "github.com/boxsum/boxsum"

// A mesh is the entries of a summed-area table about a window: all that
// features are read from, whatever the axes of their plane.
type mesh[S boxsum.Sum] struct {
	sums         []S
	stride, step int // to the next entry down and across
	origin       int // where the entry at the window's corner is
}

// row is the entries of line y from a line on.
func (g *mesh[S]) row(x, y int32) []S { return g.sums[g.origin+int(y)*g.stride+int(x)*g.step:] }

// read is the sums for and against a feature, times their weights. Each box
// is taken in the type of the table, where it may wrap and come out right, and
// widened before it meets another. Of floats, that goes the same way as in the
// loops over all features: down first, then across.
func read[V Number, S boxsum.Sum](g *mesh[S], f *Feature) (plus, minus V) {
	left := f.x[0]
	at := func(i int) int { return int(f.x[i]-left) * g.step }
	switch f.kind {
	case EdgeX:
		top, bottom := g.row(left, f.y[0]), g.row(left, f.y[1])
		a, b, c := bottom[0]-top[0], bottom[at(1)]-top[at(1)], bottom[at(2)]-top[at(2)]
		return V(c - b), V(b - a)
	case LineX, LineX4:
		top, bottom := g.row(left, f.y[0]), g.row(left, f.y[1])
		a, b := bottom[0]-top[0], bottom[at(1)]-top[at(1)]
		c, d := bottom[at(2)]-top[at(2)], bottom[at(3)]-top[at(3)]
		return V(c - b), V(b-a) + V(d-c)
	case EdgeY:
		r0, r1, r2 := g.row(left, f.y[0]), g.row(left, f.y[1]), g.row(left, f.y[2])
		x := at(1)
		return V((r2[x] - r1[x]) - (r2[0] - r1[0])), V((r1[x] - r0[x]) - (r1[0] - r0[0]))
	case LineY, LineY4:
		r0, r1, r2, r3 := g.row(left, f.y[0]), g.row(left, f.y[1]), g.row(left, f.y[2]), g.row(left, f.y[3])
		x := at(1)
		return V((r2[x] - r1[x]) - (r2[0] - r1[0])),
			V((r1[x]-r0[x])-(r1[0]-r0[0])) + V((r3[x]-r2[x])-(r3[0]-r2[0]))
	case Diagonal:
		var d [2][3]S
		top, middle, bottom := g.row(left, f.y[0]), g.row(left, f.y[1]), g.row(left, f.y[2])
		for i := range 3 {
			x := at(i)
			d[0][i], d[1][i] = middle[x]-top[x], bottom[x]-middle[x]
		}
		return V(d[0][2]-d[0][1]) + V(d[1][1]-d[1][0]), V(d[0][1]-d[0][0]) + V(d[1][2]-d[1][1])
	default: // CentreSurround
		top, bottom := g.row(left, f.y[0]), g.row(left, f.y[3])
		whole := (bottom[at(3)] - top[at(3)]) - (bottom[0] - top[0])
		top, bottom = g.row(left, f.y[1]), g.row(left, f.y[2])
		centre := (bottom[at(2)] - top[at(2)]) - (bottom[at(1)] - top[at(1)])
		return 2 * V(centre), V(whole)
	}
}

// correct scales the boxes that count for a feature to the area of those that
// count against it. With f and A of both that is A₋·f₊/A₊ − f₋, the same as
// Aα·fβ/Aβ − fα: where the boxes lie side by side, Aα is A₊+A₋ and fα is
// f₊+f₋; where one lies in the other, α is − and β is +. What was subtracted
// from every pixel, [boxsum.Table.Offset], cancels.
func correct[V Number](plus, minus V, plusArea, minusArea int64) float64 {
	if plusArea == 0 {
		return 0 // there is nothing to compare
	}
	return float64(minusArea)*float64(plus)/float64(plusArea) - float64(minus)
}
