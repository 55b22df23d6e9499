package sketch

import (
	"math"

	"github.com/boxsum/boxsum/rotated"
)

// A Point is a point in the plane of the image: pixel (x, y) covers [x, x+1)×[y, y+1).
type Point struct{ X, Y float64 }

// Corners returns the corners of the ideal rectangle of a box, at (C0, R0), (C1, R0), (C1, R1) and (C0, R1). Its edges
// lie midway between the last pixels of one side and the first of the other, as in [rotated.Lattice.FromRectangle].
func Corners(l *rotated.Lattice, box rotated.Box) [4]Point {
	rot := l.Rotation()
	a, b := math.Abs(float64(rot.A)), float64(rot.B)
	exchange := a > b
	if exchange {
		a, b = b, a
	}
	t, half := a/b, 0.5/b
	width, _ := l.Size()
	at := func(c, r int) Point {
		column, row := float64(c)-1+half, float64(r)-half
		u, v := (column+t*row)/(1+t*t), (row-t*column)/(1+t*t)
		if exchange {
			u, v = v, u
		}
		if rot.A < 0 {
			u = float64(width-1) - u
		}
		return Point{u + 0.5, v + 0.5} // pixels are squares, with their points in the center
	}
	return [4]Point{at(box.C0, box.R0), at(box.C1, box.R0), at(box.C1, box.R1), at(box.C0, box.R1)}
}

// rectangleCorners returns the corners of a rectangle in order.
func rectangleCorners(r rotated.Rectangle) [4]Point {
	sin, cos := math.Sincos(r.Degrees * math.Pi / 180)
	at := func(along, across float64) Point {
		return Point{r.X + along*cos + across*sin, r.Y - along*sin + across*cos}
	}
	w, h := r.Width/2, r.Height/2
	return [4]Point{at(-w, -h), at(w, -h), at(w, h), at(-w, h)}
}

// clampInt returns v rounded down, within the range of coordinates in pictures.
func clampInt(v float64) int {
	const far = 1 << 29
	return int(math.Floor(min(max(v, -far), far)))
}
