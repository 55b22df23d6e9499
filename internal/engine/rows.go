package engine

import "github.com/boxsum/boxsum/internal/grid"

// Rows makes a table row by row: what streams are made of.
type Rows[S any] struct {
	layer interface{ Row(row []byte, y int) }
	sums  []S // the row just made
	n     int // elements of a row of pixels
	pixel int // bytes
	y     int
	set   Settings
}

// A RowLayer is a layer that can go on from a row to the next.
type RowLayer[L, S any] interface {
	TableLayer[L, S]
	// Row makes row y of the table in the second row of the target.
	Row(row []byte, y int)
}

// NewRows starts a table for rows like those of a source, as a job has found it
// good.
func NewRows[S, L any, PL RowLayer[L, S]](set Settings, squares bool, src *Raw, offset float32, l PL) (*Rows[S], error) {
	sums, e, err := grid.NewSums[S](grid.Plane(src.Width, 1, src.Channels, 0))
	if err != nil {
		return nil, err
	}
	l.Find(src.Type, set.Level, squares)
	l.Aim(&Raw{Type: src.Type}, &Target[S]{Sums: sums, Extent: e, Offset: offset})
	n := e.Width * e.Channels
	err = l.Prepare(&Plan{Grid: Grid{Rows: 1, N: n, BandRows: 1}, Workers: 1})
	return &Rows[S]{layer: l, sums: sums[e.Stride:][:n+e.Channels], n: n, pixel: src.Type.Bytes(), set: set}, err
}

// Push takes the next row of pixels, as bytes, and gives the next row of the table.
func (r *Rows[S]) Push(row []byte) ([]S, error) {
	if r == nil || r.layer == nil {
		return nil, grid.Invalid("a stream that was not made by its constructor")
	}
	if n := len(row) / r.pixel; n != r.n {
		return nil, grid.Invalid("a row of %d values, the stream takes %d", n, r.n)
	}
	if err := r.set.Stopped(); err != nil {
		return nil, err
	}
	r.layer.Row(row, r.y)
	r.y++
	return r.sums, nil
}
