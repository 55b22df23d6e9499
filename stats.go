package boxsum

import (
	"image"

	"github.com/boxsum/boxsum/internal/exact"
)

// A rectangle is a box inside of the image.
type rectangle image.Rectangle

func (r rectangle) Pixels() int {
	if image.Rectangle(r).Empty() {
		return 0
	}
	return (r.Max.X - r.Min.X) * (r.Max.Y - r.Min.Y)
}

func (r rectangle) Halves() (one, other rectangle, ok bool) {
	one, other = r, r
	if width, height := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y; width > height {
		one.Max.X = r.Min.X + width/2
		other.Min.X = one.Max.X
	} else {
		one.Max.Y = r.Min.Y + height/2
		other.Min.Y = one.Max.Y
	}
	return one, other, true // a pixel always fits
}

// clip is what of a box is in the image.
func (t *Table[S]) clip(box image.Rectangle) image.Rectangle {
	box.Min.X, box.Max.X = max(box.Min.X, 0), min(box.Max.X, t.Width)
	box.Min.Y, box.Max.Y = max(box.Min.Y, 0), min(box.Max.Y, t.Height)
	return box
}

func (t *SquaredTable[S, Q]) rounding(r rectangle, channel int) exact.Rounding {
	// Rows are summed by blocks of four sums at least, and then added to the row above.
	steps := r.Max.Y + r.Max.X*min(t.Sum.Channels, 4)/4 + 8
	return exact.Rounding{Entries: 4, Squares: float64(t.Squares.At(r.Max.X, r.Max.Y, channel)), Pixels: r.Max.X * r.Max.Y, Steps: steps}
}

// whole reports whether all entries that a box is read from are whole numbers.
func (t *SquaredTable[S, Q]) whole(r rectangle, channel int) bool {
	for _, x := range [...]int{r.Min.X, r.Max.X} {
		for _, y := range [...]int{r.Min.Y, r.Max.Y} {
			if !exact.IsWhole(t.Sum.At(x, y, channel), t.Squares.At(x, y, channel)) {
				return false
			}
		}
	}
	return true
}
