package engine

import (
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
)

const (
	// tileBytes is the width of a tile's sums: its part of the carry row stays
	// in the first-level cache while the rows of the band go by.
	tileBytes = 16 << 10
	// bandRows shares one trip of the carry row between two cores among that
	// many rows, and keeps a band's pixels in the second-level cache.
	bandRows = 64
	// workerBytes is how much to read and write makes a worker worth waking.
	workerBytes = 3 << 19
	// Two workers at a table of less than pairBytes have bands of up to pairRows:
	// it takes so little time that each meeting counts.
	pairBytes, pairRows = 16 << 20, 128
	// mixBytes is where a table outgrows the nearer caches: from there on a
	// store reads the line first, and writing every other row past the caches
	// is faster. BenchmarkWrites shows it.
	mixBytes = 3 << 20
)

// Work is an image to integrate.
type Work struct {
	Rows, N, Channels    int  // N in elements
	PixelBytes, SumBytes int  // of an element, and of all its sums
	Workers              int  // at most; 0 stands for GOMAXPROCS
	Batch                int  // images, of which this is one
	Exact                bool // sums add up in any order: see apart
}

// WorkOf is the work of integrating pixels of type P, of which each makes sums of
// this many bytes. Zero workers stand for GOMAXPROCS.
func WorkOf[P any](e *grid.Extent, sumBytes, workers int) Work {
	return workOf(e, grid.SizeOf[P](), sumBytes, workers)
}

func workOf(e *grid.Extent, pixelBytes, sumBytes, workers int) Work {
	return Work{
		Rows: e.Height, N: e.Width * e.Channels, Channels: e.Channels,
		PixelBytes: pixelBytes, SumBytes: sumBytes, Workers: workers,
	}
}

// A Plan is how to integrate an image.
type Plan struct {
	Grid
	Workers int
	Apart   bool          // see apart
	Shares  bool          // see share: bands do not need each other
	Writes  kernel.Writes // as far as the layout of the table allows
	Slices  int           // how often to fill the grid, where a volume goes slice by slice
}

// Plan decides how to cut the image and how to write the table.
func (w Work) Plan() (p Plan) {
	w.plan(&p)
	return p
}

func (w *Work) plan(p *Plan) {
	out := w.Rows * w.N * w.SumBytes
	all := out + w.Rows*w.N*w.PixelBytes
	*p = Plan{Grid: Grid{Rows: w.Rows, N: w.N, BandRows: bandRows}, Workers: 1, Writes: writes(out, w.Batch)}
	if most := all / workerBytes; most > 1 {
		p.Workers = min(atOnce(w.Workers), most)
	}
	tiles := max(1, (w.N*w.SumBytes+tileBytes-1)/tileBytes)
	if p.Workers > 1 {
		// Workers follow each other half a band apart or less, and the last
		// bands should end at about the same time.
		tiles = max(tiles, 2*p.Workers)
		p.BandRows = min(bandRows, max(4, w.Rows/(8*p.Workers)&^3))
		if p.Workers == 2 && out < pairBytes {
			p.BandRows = min(pairRows, max(4, w.Rows/6&^3))
		}
	}
	p.BandRows = min(p.BandRows, max(1, w.Rows))
	p.Workers = max(1, min(p.Workers, (w.Rows+p.BandRows-1)/p.BandRows))
	p.TileWidth = DivUp(w.N, tiles)
	p.setApart(w)
	p.TileWidth = atLeastOne(p.TileWidth, kernel.Align(w.Channels))
}

// evenBands makes bands of at most these rows so that all workers have as many of
// them, of about as many rows.
func (p *Plan) evenBands(most int) {
	rounds := DivUp(p.Rows, p.Workers*most)
	p.BandRows = DivUp(p.Rows, p.Workers*rounds)
}

// minEntries is how many entries wide a tile is at least: it keeps what rows hand
// from tile to tile small beside the tile.
const minEntries = 16

// PlanEntries is [Work.Plan] for tables that have several sums for every value,
// together of SumBytes: N and tiles are counted in pixels. With several workers,
// bands may have up to maxBand rows: these share one trip of the carry row
// between two cores, and it is a large one here.
func (w Work) PlanEntries(maxBand int) Plan {
	p := w.Plan()
	p.N = w.N / w.Channels
	p.TileWidth = max(minEntries, tileBytes/(w.Channels*w.SumBytes))
	if p.Workers > 1 {
		p.TileWidth = max(1, min(p.TileWidth, p.N/(2*p.Workers)))
		p.evenBands(max(p.BandRows, min(maxBand, p.Rows/(4*p.Workers))))
	}
	return p
}

// writes picks how to write a table of that many bytes, one of a batch.
func writes(out, batch int) kernel.Writes {
	switch {
	case batch > 1 && out < mixBytes && out > mixBytes/batch:
		return kernel.Stream // none stays in a nearer cache for its reader
	case out < mixBytes:
		return kernel.Ahead
	case out <= kernel.LastLevelCache()/2:
		return kernel.Mixed
	}
	return kernel.Stream
}

// atLeastOne is the least multiple of to that is n or more, and not zero.
func atLeastOne(n, to int) int { return max(1, DivUp(n, to)) * to }

// DivUp is n/by, rounded up.
func DivUp(n, by int) int { return (n + by - 1) / by }
