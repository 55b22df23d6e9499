package haar

import (
	"fmt"
	"image"

	"github.com/boxsum/boxsum"
)

// Number is what a value is: int64 from tables of integers, float64 from any.
type Number interface{ int64 | float64 }

// A Plane is where features are evaluated: one channel of an image, by way of
// its table, along a pair of axes. V is the type of the values and S that of
// the sums.
//
// A plane shares the memory of its table. It stays good when the next image is
// integrated into the same table, and is safe for use by several goroutines as
// long as none does that.
type Plane[V Number, S boxsum.Sum] struct {
	table         *boxsum.Table[S]
	sums          []S // from the channel's entry (0, 0)
	stride, step  int // to the next entry down and across
	width, height int
}

// Upright is the plane of a channel along the rows and columns of its image:
//
//	plane, err := haar.Upright[int64](table, 0)
//
// Values of type int64 from a table of floats are a [boxsum.ErrTypes].
func Upright[V Number, S boxsum.Sum](table *boxsum.Table[S], channel int) (*Plane[V, S], error) {
	if table == nil {
		return nil, fmt.Errorf("haar: %w: no table", boxsum.ErrSize)
	}
	if S(1)/2 != 0 && V(1)/2 == 0 {
		return nil, fmt.Errorf("haar: %w: values of %T from sums of %T; ask for float64", boxsum.ErrTypes, V(0), S(0))
	}
	// No boxes at all: this only checks the table against its memory.
	if err := table.SumBoxes(nil, nil); err != nil {
		return nil, fmt.Errorf("haar: %w", err)
	}
	if channel < 0 || channel >= table.Channels {
		return nil, fmt.Errorf("haar: %w: channel %d of %d", boxsum.ErrSize, channel, table.Channels)
	}
	return &Plane[V, S]{
		table: table, sums: table.Sums[channel:],
		stride: table.Stride, step: table.Channels,
		width: table.Width, height: table.Height,
	}, nil
}

// check says whether windows of this size can start at a place.
func (p *Plane[V, S]) check(width, height int, at ...image.Point) error {
	if p == nil || p.table == nil {
		return fmt.Errorf("haar: %w: no plane; Upright makes one", boxsum.ErrSize)
	}
	for _, a := range at {
		if a.X < 0 || a.Y < 0 || a.X > p.width-width || a.Y > p.height-height {
			return fmt.Errorf("haar: %w: a window of %d×%d at %v is not inside of the image of %d×%d", boxsum.ErrSize, width, height, a, p.width, p.height)
		}
	}
	return nil
}

// start is where the entry at a window's top left corner lies in sums.
func (p *Plane[V, S]) start(at image.Point) int { return at.Y*p.stride + at.X*p.step }

// area is how many pixels a box has.
func (p *Plane[V, S]) area(box image.Rectangle) int { return box.Dx() * box.Dy() }
