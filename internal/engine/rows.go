package engine

import "github.com/boxsum/boxsum/internal/grid"

// Rows makes a table row by row: what streams are made of.
type Rows[P, S any] struct {
	layer interface{ Row(row []P, y int) }
	sums  []S // the row just made
	n     int // elements of a row of pixels
	y     int
	set   Settings
}

// A RowLayer is a layer that can go on from a row to the next.
type RowLayer[L, P, S any] interface {
	TableLayer[L, P, S]
	// Row makes row y of the table in the second row of the target.
	Row(row []P, y int)
}

// NewRows starts a table for rows like those of a source, as a job has found it
// good.
func NewRows[P, S, L any, PL RowLayer[L, P, S]](set Settings, squares bool, src *grid.Extent, offset float32, l PL) (r Rows[P, S], err error) {
	sums, e, err := grid.NewSums[S](grid.Plane(src.Width, 1, src.Channels, 0))
	if err != nil {
		return r, err
	}
	l.Find(set.Level, squares)
	l.Aim(new(Source[P]), &Target[S]{Sums: sums, Extent: e, Offset: offset})
	n := e.Width * e.Channels
	err = l.Prepare(&Plan{Grid: Grid{Rows: 1, N: n, BandRows: 1}, Workers: 1})
	return Rows[P, S]{layer: l, sums: sums[e.Stride:][:n+e.Channels], n: n, set: set}, err
}

// Push takes the next row of pixels and gives the next row of the table.
func (r *Rows[P, S]) Push(row []P) ([]S, error) {
	if r.layer == nil {
		return nil, grid.Invalid("a stream that was not made by its constructor")
	}
	if len(row) != r.n {
		return nil, grid.Invalid("a row of %d values, the stream takes %d", len(row), r.n)
	}
	if err := r.set.Stopped(); err != nil {
		return nil, err
	}
	r.layer.Row(row, r.y)
	r.y++
	return r.sums, nil
}
