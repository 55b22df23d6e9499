package engine

import "github.com/boxsum/boxsum/internal/kernel"

const (
	// tiltedTileBytes is the width of a tile's sums: two rows of them, the sums and the
	// diagonals, stay in the first-level cache while rows are processed.
	tiltedTileBytes = 8 << 10
	// tiltedBandRows is like bandRows. Higher bands lean further, which makes the worker
	// of the next band wait longer.
	tiltedBandRows = 32
	// tiltedLeast is the minimum width of a tile if there are many workers, in units of
	// its shift to the left per row.
	tiltedLeast = 16
	// tiltedWorkerBytes is like workerBytes. It is larger because workers wait longer for
	// each other.
	tiltedWorkerBytes = 3 << 20
)

// PlanTilted is like [Work.Plan] for a 45° table. The rows of a tile begin further left
// from row to row, so a band is wider than the image, and the band above must be ahead
// by that much.
func (w Work) PlanTilted() Plan {
	p := w.Plan()
	if w.N == 0 {
		return p
	}
	skew := kernel.TiltedSkew(w.Channels, w.SumBytes)
	width := tiltedTileBytes / w.SumBytes
	p.Workers = max(1, min(p.Workers, w.Rows*w.N*(w.PixelBytes+w.SumBytes)/tiltedWorkerBytes))
	p.BandRows = min(tiltedBandRows, max(1, w.Rows))
	if p.Workers > 1 {
		// A band leans by one tile at most, and the next band begins when two of its
		// tiles are done. Smaller tiles shorten this wait, but with the smallest tiles
		// workers wait longer than they work.
		p.Workers = min(p.Workers, max(2, w.N/(2*tiltedLeast*skew)))
		width = atLeastOne(min(3*width/8, w.N/(2*p.Workers)), 4*skew)
		p.BandRows = max(4, min(p.BandRows, w.Rows/(8*p.Workers), width/skew)&^3)
	}
	over := (p.BandRows - 1) * skew
	p.N += over
	if p.Workers == 1 && w.N <= 2*width {
		width = p.N // a tile spans the whole row
	}
	p.TileWidth = atLeastOne(width, 4*skew) // so that four rows begin together
	p.Lead = (w.Channels + over + p.TileWidth - 1) / p.TileWidth
	p.Workers = max(1, min(p.Workers, (w.Rows+p.BandRows-1)/p.BandRows))
	return p
}
