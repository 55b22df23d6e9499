package boxsum

import (
	"image"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A rectangle is a box inside the image.
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

// clip returns the part of box that is inside the image.
func (t *Table[S]) clip(box image.Rectangle) image.Rectangle {
	box.Min.X, box.Max.X = max(box.Min.X, 0), min(box.Max.X, t.Width)
	box.Min.Y, box.Max.Y = max(box.Min.Y, 0), min(box.Max.Y, t.Height)
	return box
}

func (t *SquaredTable[S, Q]) rounding(r rectangle, channel int) stats.Rounding {
	// Rows are summed in blocks of at least four sums, and then added to the row above.
	steps := r.Max.Y + r.Max.X*min(t.Sum.Channels, 4)/4 + 8
	return stats.Rounding{Entries: 4, Squares: float64(t.Squares.At(r.Max.X, r.Max.Y, channel)), Pixels: r.Max.X * r.Max.Y, Steps: steps}
}

// whole reports whether all entries at the corners of a box are whole numbers.
func (t *SquaredTable[S, Q]) whole(r rectangle, channel int) bool {
	for _, x := range [...]int{r.Min.X, r.Max.X} {
		for _, y := range [...]int{r.Min.Y, r.Max.Y} {
			if !stats.IsWhole(float64(t.Sum.At(x, y, channel)), float64(t.Squares.At(x, y, channel)), raster.TypeOf[S]()) {
				return false
			}
		}
	}
	return true
}
