package engine

import (
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

const (
	// overBytes is the size of the part of the previous slice that a worker keeps, a
	// fraction of its second-level cache. High bands read long runs of voxels.
	overBytes = 512 << 10
	// volumeTileBytes is the amount that a worker writes between two checks of the
	// progress of the band above.
	volumeTileBytes = 64 << 10
)

// PlanVolume is like [Work.Plan] for a volume of slices of Rows rows. It is cut in one
// of two ways.
//
// By bands: a band of rows goes through all slices, which take the place of columns, so
// the sums of the previous slice that it needs are in its worker's cache.
//
// By slices, if there are few: each is cut into tiles like an image, and Plan.Slices is
// the number of slices.
func (w Work) PlanVolume(depth int) Plan {
	if w.N == 0 || w.Rows == 0 || depth == 0 {
		return Plan{Workers: 1, Grid: Grid{BandRows: 1, TileWidth: 1}}
	}
	height := w.Rows
	w.Rows = height * depth
	p := w.Plan()
	if depth < 2*p.Workers && p.Workers > 1 {
		w.Rows = height
		slice := w.Plan()
		slice.Writes, slice.Slices = p.Writes, depth
		return slice
	}
	row := kernel.OverLen(1, w.N) * w.SumBytes
	band := max(4, overBytes/row)
	p.Rows, p.N = height, depth
	p.evenBands(band)
	p.BandRows = min(raster.RoundUp(p.BandRows, 4), height)
	p.TileWidth = max(1, volumeTileBytes/(p.BandRows*row))
	if p.Workers > 1 {
		p.TileWidth = min(p.TileWidth, max(1, depth/(4*p.Workers)))
	}
	p.Workers = min(p.Workers, DivUp(height, p.BandRows))
	return p
}
