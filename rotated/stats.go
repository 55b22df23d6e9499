package rotated

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// area returns the number of pixels in a box, or 0 for a nil table.
func (t *Table[S]) area(box Box) int64 {
	if t == nil || t.Lattice == nil {
		return 0
	}
	return t.Area(box)
}

// A part is a box with pixels, or a part of such a box.
type part struct {
	in *Lattice
	Box
}

func (p part) Pixels() int { return int(p.in.Area(p.Box)) }

// Halves splits the box in two across its longer side. ok is false if the box is too
// small to split.
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

// inside returns the part of box inside the lattice, and whether it has pixels.
func (t *Table[S]) inside(box Box) (part, bool) {
	if t.area(box) == 0 {
		return part{}, false
	}
	return part{t.Lattice, box.Intersect(t.Bounds())}, true
}

// A SquaredTable holds the table of an image and the table of its squares, along the
// same rotation, which together give the variance and standard deviation of any
// box.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// IntegrateSquares returns the table of an image and the table of its squares, both
// along the same rotation. The squares are uint64 or float64 for 8- and 16-bit
// pixels, and float64 for all others. During the call, IntegrateSquares needs
// additional memory for an image of the squares.
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](img boxsum.Image[P], rot Rotation, opt *Options) (*SquaredTable[S, Q], error) {
	src := arrayOf(&img)
	set, err := check(&src, raster.TypeOf[S](), opt.engine())
	if err != nil {
		return nil, err
	}
	squared, err := raster.SquaredPixels(&src, raster.TypeOf[Q]())
	if err != nil {
		return nil, err
	}
	sum, err := NewTable[S](img.Width, img.Height, img.Channels, rot)
	if err == nil {
		err = sum.fill(set, src)
	}
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](img.Width, img.Height, img.Channels, rot)
	if err == nil {
		err = squares.fill(set, squared)
	}
	return raster.OrNil(&SquaredTable[S, Q]{sum, squares}, err)
}

func (t *SquaredTable[S, Q]) rounding(_ part, channel int) stats.Rounding {
	squares := float64(t.Squares.SumChannel(t.Sum.Bounds(), channel))
	return stats.Rounding{Entries: 4, Squares: squares, Pixels: t.Sum.Width * t.Sum.Height, Steps: 4 * (t.Sum.Height + t.Sum.Width)}
}

// whole reports whether the sums of all pixels are whole numbers.
func (t *SquaredTable[S, Q]) whole(_ part, channel int) bool {
	all := t.Sum.Bounds()
	return stats.IsWhole(float64(t.Sum.SumChannel(all, channel)), float64(t.Squares.SumChannel(all, channel)), raster.TypeOf[S]())
}
