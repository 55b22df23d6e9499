package rotated

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// area is how many pixels a box has, none if there is no table.
func (t *Table[S]) area(box Box) int64 {
	if t == nil || t.Lattice == nil {
		return 0
	}
	return t.Area(box)
}

// A part is a box with pixels, or a part of one.
type part struct {
	in *Lattice
	Box
}

func (p part) Pixels() int { return int(p.in.Area(p.Box)) }

// Halves are parts along the longer side.
func (p part) Halves() (one, other part, ok bool) {
	one, other = p, p
	if p.C1-p.C0 > p.R1-p.R0 {
		one.C1 = p.C0 + (p.C1-p.C0)/2
		other.C0 = one.C1
	} else {
		one.R1 = p.R0 + (p.R1-p.R0)/2
		other.R0 = one.R1
	}
	return one, other, true // a pixel always fits
}

// inside is what of a box is in the lattice, and whether it has pixels.
func (t *Table[S]) inside(box Box) (part, bool) {
	if t.area(box) == 0 {
		return part{}, false
	}
	return part{t.Lattice, box.Intersect(t.Bounds())}, true
}

// A SquaredTable is the table of an image beside that of its squares, along the same
// rotation, from which come the variance and standard deviation of any box.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// IntegrateSquares makes both tables of an image. Squares are uint64 for pixels of 8
// and 16 bits, and float64 for any. It takes memory for an image of the squares
// while it works.
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](img boxsum.Image[P], rot Rotation, opt *Options) (*SquaredTable[S, Q], error) {
	set, src, err := check[S](rawOf(&img), opt)
	if err != nil {
		return nil, err
	}
	sum, err := NewTable[S](img.Width, img.Height, img.Channels, rot)
	if err == nil {
		err = fillOnce(sum, set, src)
	}
	if err != nil {
		return nil, err
	}
	var squares *Table[Q]
	switch p := pairs.Of[P](); {
	case pairs.Of[Q]() == pairs.F64:
		squares, err = squaresOf[Q, float64](img, rot, opt)
	case p == pairs.U8:
		squares, err = squaresOf[Q, uint16](img, rot, opt)
	case p == pairs.U16 || p == pairs.I16:
		squares, err = squaresOf[Q, uint32](img, rot, opt)
	default:
		err = grid.Types("no squares of %T in %T: use float64", *new(P), *new(Q))
	}
	return grid.OrNil(&SquaredTable[S, Q]{sum, squares}, err)
}

// squaresOf makes the table of the squares of pixels, each of which fits a T.
func squaresOf[Q boxsum.Square, T, P boxsum.Pixel](img boxsum.Image[P], rot Rotation, opt *Options) (*Table[Q], error) {
	squares, err := boxsum.NewImage[T](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, err
	}
	for y := range img.Height {
		to := squares.Row(y)
		for i, p := range img.Row(y) {
			f := float64(p)
			to[i] = T(f * f)
		}
	}
	return Integrate[Q](squares, rot, opt)
}

func (t *SquaredTable[S, Q]) rounding(_ part, channel int) exact.Rounding {
	squares := float64(t.Squares.SumChannel(t.Sum.Bounds(), channel))
	return exact.Rounding{Entries: 4, Squares: squares, Pixels: t.Sum.Width * t.Sum.Height, Steps: 4 * (t.Sum.Height + t.Sum.Width)}
}

// whole reports whether the sums of all pixels are whole numbers.
func (t *SquaredTable[S, Q]) whole(_ part, channel int) bool {
	all := t.Sum.Bounds()
	return exact.IsWhole(t.Sum.SumChannel(all, channel), t.Squares.SumChannel(all, channel))
}
