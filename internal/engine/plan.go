package engine

import (
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

const (
	// tileBytes is the width of a tile's sums: its part of the carry row stays in the
	// first-level cache while the rows of the band are processed.
	tileBytes = 16 << 10
	// bandRows amortizes one transfer of the carry row between two cores over a band of
	// this many rows, and keeps the pixels of a band in the second-level cache.
	bandRows = 64
	// workerBytes is the number of bytes to read and write that justifies waking a worker.
	workerBytes = 3 << 19
	// With two workers and a table of less than pairBytes, bands have up to pairRows
	// rows: the whole computation is so short that every synchronization counts.
	pairBytes, pairRows = 16 << 20, 128
	// mixBytes is the size from which a table exceeds the nearer caches. Every store then
	// reads its cache line first, so writing every other row past the caches is faster,
	// as BenchmarkWrites shows.
	mixBytes = 3 << 20
)

// Work describes an image to integrate.
type Work struct {
	Rows, N, Channels    int  // size of the image; N is in elements
	PixelBytes, SumBytes int  // size of an element of the image, and of its sums in all tables
	Workers              int  // maximum number of workers; 0 means GOMAXPROCS
	Batch                int  // number of images in the batch
	Exact                bool // sums add up in any order, as two passes require
}

// WorkOf returns the work of integrating pixels of type P into sums of the given size.
// Zero workers means GOMAXPROCS.
func WorkOf[P any](e *raster.Extent, sumBytes, workers int) Work {
	return workOf(e, raster.SizeOf[P](), sumBytes, workers)
}

func workOf(e *raster.Extent, pixelBytes, sumBytes, workers int) Work {
	return Work{
		Rows: e.Height, N: e.Width * e.Channels, Channels: e.Channels,
		PixelBytes: pixelBytes, SumBytes: sumBytes, Workers: workers,
	}
}

// A Plan describes how to divide the computation of a table.
type Plan struct {
	Grid
	Workers int
	TwoPass bool          // fill bands in two passes, see twoPass
	Shares  bool          // give each worker a range of independent bands, see share
	Writes  kernel.Writes // how to write, as far as the layout of the table allows
	Slices  int           // number of times to fill the grid, for a volume that is made slice by slice
}

// Plan decides how to divide the image into tiles and how to write the table.
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
		// Workers follow each other at most half a band apart, and the last bands
		// should end at about the same time.
		tiles = max(tiles, 2*p.Workers)
		p.BandRows = min(bandRows, max(4, w.Rows/(8*p.Workers)&^3))
		if p.Workers == 2 && out < pairBytes {
			p.BandRows = min(pairRows, max(4, w.Rows/6&^3))
		}
	}
	p.BandRows = min(p.BandRows, max(1, w.Rows))
	p.Workers = max(1, min(p.Workers, (w.Rows+p.BandRows-1)/p.BandRows))
	p.TileWidth = DivUp(w.N, tiles)
	p.setTwoPass(w)
	p.TileWidth = atLeastOne(p.TileWidth, kernel.Align(w.Channels))
}

// evenBands divides the rows into bands of at most the given height, such that all
// workers have the same number of bands of about the same height.
func (p *Plan) evenBands(most int) {
	rounds := DivUp(p.Rows, p.Workers*most)
	p.BandRows = DivUp(p.Rows, p.Workers*rounds)
}

// minEntries is the minimum width of a tile in entries, so that the carries that rows
// pass from tile to tile are small compared with the tile.
const minEntries = 16

// PlanEntries is like [Work.Plan] for tables with several sums per entry, which take
// SumBytes together. N and tiles are counted in pixels. With several workers, bands have
// up to maxBand rows, because a band's carry row is large here and is transferred between
// two cores once per band.
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

// writes selects how to write a table of the given size in bytes, in a batch of the given
// number of images.
func writes(out, batch int) kernel.Writes {
	switch {
	case batch > 1 && out < mixBytes && out > mixBytes/batch:
		return kernel.Stream // a table that its reader will not find in a nearer cache anyway
	case out < mixBytes:
		return kernel.Ahead
	case out <= processor.LastLevelCache()/2:
		return kernel.Mixed
	}
	return kernel.Stream
}

// atLeastOne returns n rounded up to a multiple of to, which is at least to.
func atLeastOne(n, to int) int { return max(1, DivUp(n, to)) * to }

// DivUp returns n/by rounded up.
func DivUp(n, by int) int { return (n + by - 1) / by }
