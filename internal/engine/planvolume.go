package engine

import (
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
)

const (
	// overBytes is how much of the slice before a worker keeps at hand: a part
	// of its second-level cache. High bands read long runs of voxels.
	overBytes = 512 << 10
	// volumeTileBytes is how much a worker writes between looks at the one before.
	volumeTileBytes = 64 << 10
)

// PlanVolume is [Work.Plan] for a volume of slices of Rows rows. It is cut in one
// of two ways.
//
// By bands: a band of rows goes through all slices, which take the place of the
// columns, so that what it needs of the slice before is in its worker's cache.
//
// By slices, where there are few: each is cut into tiles as a plane is, and
// Plan.Slices is their number.
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
	p.BandRows = min(grid.RoundUp(p.BandRows, 4), height)
	p.TileWidth = max(1, volumeTileBytes/(p.BandRows*row))
	if p.Workers > 1 {
		p.TileWidth = min(p.TileWidth, max(1, depth/(4*p.Workers)))
	}
	p.Workers = min(p.Workers, DivUp(height, p.BandRows))
	return p
}
