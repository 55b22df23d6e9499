package haar

import (
	"fmt"
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// A window holds the lines between which the features of a set may lie, counted
// from its top left corner.
//
// A plain window is width×height lines along the axes of its plane, whatever
// these are. A turned window is width×height pixels, upright, for features
// along the lines of a rotation. Digital lines are anchored at the origin of
// the image, so the cells of its pixels depend on the position of the window.
// rows holds, for each y from top on, the cells that contain no pixel outside
// the window wherever it is placed.
type window struct {
	width, height int32
	rot           rotated.Rotation // zero for a plain window
	top           int32
	rows          []span
}

// A span contains the cells lo ≤ x < hi.
type span struct{ lo, hi int32 }

func (s span) intersect(o span) span { return span{max(s.lo, o.lo), min(s.hi, o.hi)} }

// len returns the number of cells in the span.
func (s span) len() int32 { return max(0, s.hi-s.lo) }

func (w *window) turned() bool { return w.rows != nil }

// maxTurned is the maximum side of a turned window. It ensures that everything
// computed from it fits 32 bits.
const maxTurned = 1 << 20

// upright is the absence of rotation.
var upright = rotated.Rotation{A: 0, B: 1}

// newWindow returns an upright window for features along a rotation. Without
// rotation, it is a plain window.
func newWindow(rot rotated.Rotation, width, height int) (window, error) {
	w := window{width: int32(width), height: int32(height)}
	if width < 1 || height < 1 || width > math.MaxInt32 || height > math.MaxInt32 {
		return w, raster.Invalid("window is %d×%d pixels, want sides of 1 to %d", width, height, math.MaxInt32)
	}
	rot, err := rot.Reduce()
	if err != nil || rot.A == 0 {
		return w, err
	}
	if width > maxTurned || height > maxTurned {
		return w, raster.Invalid("window is %d×%d pixels for features along %v, want sides of at most %d", width, height, rot, maxTurned)
	}
	w.rot = rot
	axes := axesOf(rot)
	u, v := axes.offset(0, 0), axes.offset(width-1, height-1)
	inside := image.Rect(u.X, u.Y, v.X, v.Y) // offsets in the view, both ends included
	low, _ := axes.cells(inside.Min.X, inside.Min.Y)
	_, high := axes.cells(inside.Max.X, inside.Max.Y)
	// Along 1/1, the first and the last row may have a cell that never contains
	// a pixel.
	w.top = int32(low.Y) - 1
	if w.rows, err = raster.Make[span](high.Y + 3 - low.Y); err != nil {
		return w, raster.OutOfMemory("%w", err)
	}
	w.cut(axes, inside)
	return w, nil
}

// cut removes the cells that pixels around the window may occupy. In the view,
// rows rise to the right by at most 45°: they enter from the left and from
// below, and leave to the right and at the top. A row that misses the window
// passes its upper left or lower right corner within the two pixels that cut
// examines.
func (w *window) cut(axes axes, inside image.Rectangle) {
	const far = math.MaxInt32
	for i := range w.rows {
		w.rows[i] = span{-far, far}
	}
	const round = 2
	outer := inside.Inset(-round)
	mark := func(u, v int) {
		before := u < inside.Min.X || v > inside.Max.Y && u <= inside.Max.X
		low, high := axes.cells(u, v)
		for r := max(low.Y, int(w.top)); r <= min(high.Y, int(w.top)+len(w.rows)-1); r++ {
			s := &w.rows[r-int(w.top)]
			if before {
				s.lo = max(s.lo, int32(high.X)+1)
			} else {
				s.hi = min(s.hi, int32(low.X))
			}
		}
	}
	for v := outer.Min.Y; v <= outer.Max.Y; v++ {
		for i := range round {
			mark(outer.Min.X+i, v)
			mark(outer.Max.X-i, v)
		}
	}
	for u := inside.Min.X; u <= inside.Max.X; u++ {
		for i := range round {
			mark(u, outer.Min.Y+i)
			mark(u, outer.Max.Y-i)
		}
	}
	for i, s := range w.rows {
		switch {
		case s.lo >= s.hi || s.lo == -far || s.hi == far:
			w.rows[i] = span{}
		case axes.reverse:
			w.rows[i] = span{1 - s.hi, 1 - s.lo}
		}
	}
}

// end returns the line below the last row.
func (w *window) end() int32 {
	if !w.turned() {
		return w.height
	}
	return w.top + int32(len(w.rows))
}

func (w *window) row(y int32) span {
	switch {
	case !w.turned():
		return span{0, w.width}
	case y < w.top || y >= w.end():
		return span{}
	}
	return w.rows[y-w.top]
}

func (w *window) holds(box image.Rectangle) bool {
	if !w.turned() {
		return box.In(image.Rect(0, 0, int(w.width), int(w.height)))
	}
	if box.Min.Y < int(w.top) || box.Max.Y > int(w.end()) {
		return false
	}
	for _, s := range w.rows[box.Min.Y-int(w.top) : box.Max.Y-int(w.top)] {
		if box.Min.X < int(s.lo) || box.Max.X > int(s.hi) {
			return false
		}
	}
	return true
}

func (w *window) bounds() image.Rectangle {
	if !w.turned() {
		return image.Rect(0, 0, int(w.width), int(w.height))
	}
	var all image.Rectangle
	for i, s := range w.rows {
		y := int(w.top) + i
		all = all.Union(image.Rect(int(s.lo), y, int(s.hi), y+1))
	}
	return all
}

// String returns the size of the window and its unit.
func (w *window) String() string {
	if w.turned() {
		return fmt.Sprintf("%d×%d pixels along %v", w.width, w.height, w.rot)
	}
	return fmt.Sprintf("%d×%d", w.width, w.height)
}
