package engine

import "github.com/boxsum/boxsum/internal/kernel"

const (
	// tileBytes is the width of a tile's sums: its part of the carry row stays
	// in the first-level cache while the rows of the band go by.
	tileBytes = 16 << 10
	// bandRows shares one trip of the carry row between two cores among that
	// many rows, and keeps a band's pixels in the second-level cache.
	bandRows = 64
	// workerBytes is how much to read and write makes a worker worth waking.
	workerBytes = 3 << 19
	// mixBytes is where a table outgrows the nearer caches: from there on a
	// store reads the line first, and writing every other row past the caches
	// is faster. BenchmarkWrites shows it.
	mixBytes = 3 << 20
)

// Work is an image to integrate.
type Work struct {
	Rows, N, Channels    int // N in elements
	PixelBytes, SumBytes int // of an element, and of all its sums
	Workers              int // at most
}

// A Plan is how to integrate an image.
type Plan struct {
	Grid
	Workers int
	Writes  kernel.Writes
}

// Plan decides how to cut the image and how to write the table.
func (w Work) Plan() Plan {
	out := w.Rows * w.N * w.SumBytes
	all := out + w.Rows*w.N*w.PixelBytes
	p := Plan{
		Grid:    Grid{Rows: w.Rows, N: w.N, BandRows: bandRows},
		Workers: max(1, min(w.Workers, all/workerBytes)),
		Writes:  writes(out),
	}
	tiles := max(1, (w.N*w.SumBytes+tileBytes-1)/tileBytes)
	if p.Workers > 1 {
		// Workers follow each other half a band apart or less, and the last
		// bands should end at about the same time.
		tiles = max(tiles, 2*p.Workers)
		p.BandRows = min(bandRows, max(4, w.Rows/(8*p.Workers)&^3))
	}
	p.BandRows = min(p.BandRows, max(1, w.Rows))
	p.Workers = max(1, min(p.Workers, (w.Rows+p.BandRows-1)/p.BandRows))
	p.TileWidth = roundUp((w.N+tiles-1)/tiles, kernel.Align(w.Channels))
	return p
}

// writes picks how to write a table of that many bytes.
func writes(out int) kernel.Writes {
	switch {
	case out < mixBytes:
		return kernel.Ahead
	case out <= kernel.LastLevelCache()/2:
		return kernel.Mixed
	}
	return kernel.Stream
}

func roundUp(n, to int) int { return max(1, (n+to-1)/to) * to }
