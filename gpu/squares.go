package gpu

import (
	"github.com/boxsum/boxsum"
)

// A SquaredTable is the tables of images beside those of their squares.
type SquaredTable[S boxsum.Sum, Q boxsum.Square] struct {
	Sum     *Table[S]
	Squares *Table[Q]
}

// NewSquaredTable takes device memory for both tables of count images of this
// size.
func NewSquaredTable[S boxsum.Sum, Q boxsum.Square](d *Device, width, height, channels, count int) (*SquaredTable[S, Q], error) {
	sum, err := NewTable[S](d, width, height, channels, count)
	if err != nil {
		return nil, err
	}
	squares, err := NewTable[Q](d, width, height, channels, count)
	if err != nil {
		return nil, firstError(err, sum.Close())
	}
	return &SquaredTable[S, Q]{sum, squares}, nil
}

// IntegrateSquares makes the tables of images and those of their squares
// together. The types go together as in [boxsum.IntegrateSquares].
func IntegrateSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](src *Image[P], opt *Options) (*SquaredTable[S, Q], error) {
	if src == nil || src.device == nil {
		return nil, errNoImage
	}
	if err := pairError(elementOf[P](), elementOf[S](), elementOf[Q]()); err != nil {
		return nil, err
	}
	t, err := NewSquaredTable[S, Q](src.device, src.width, src.height, src.channels, src.count)
	if err != nil {
		return nil, err
	}
	if err := IntegrateSquaresInto(t, src, opt); err != nil {
		return nil, firstError(err, t.Close())
	}
	return t, nil
}

// IntegrateSquaresInto makes both tables of images in dst, as [IntegrateInto]
// does one.
func IntegrateSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](dst *SquaredTable[S, Q], src *Image[P], opt *Options) error {
	if src == nil || src.device == nil {
		return errNoImage
	}
	if dst == nil || dst.Sum == nil || dst.Squares == nil || dst.Sum.device == nil || dst.Squares.device == nil {
		return errNoTable
	}
	return integrate(&dst.Sum.array, &dst.Squares.array, &src.array, opt,
		func(offset float32) { dst.Sum.offset, dst.Squares.offset = offset, 0 })
}

// Download copies both tables of image i to the host.
func (t *SquaredTable[S, Q]) Download(i int) (*boxsum.SquaredTable[S, Q], error) {
	if t == nil {
		return nil, errNoTable
	}
	sum, err := t.Sum.Download(i)
	if err != nil {
		return nil, err
	}
	squares, err := t.Squares.Download(i)
	if err != nil {
		return nil, err
	}
	return &boxsum.SquaredTable[S, Q]{Sum: sum, Squares: squares}, nil
}

// Close frees both tables.
func (t *SquaredTable[S, Q]) Close() error {
	if t == nil {
		return nil
	}
	return firstError(t.Sum.Close(), t.Squares.Close())
}
