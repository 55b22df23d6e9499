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

// A Plan is how to integrate one image.
type Plan struct {
	Grid
	Workers int
	Writes  kernel.Writes
}

// NewPlan decides how to cut an image of rows × n elements of pixelBytes each,
// whose sums take sumBytes each, for at most that many workers.
func NewPlan(rows, n, channels, pixelBytes, sumBytes, workers int) Plan {
	all := rows * n * (pixelBytes + sumBytes)
	p := Plan{Workers: max(1, min(workers, all/workerBytes)), Writes: writes(rows * n * sumBytes)}
	p.Rows, p.N = rows, n
	p.BandRows = bandRows
	tiles := max(1, (n*sumBytes+tileBytes-1)/tileBytes)
	if p.Workers > 1 {
		// Workers follow each other half a band apart or less, and the last
		// bands should end at about the same time.
		tiles = max(tiles, 2*p.Workers)
		p.BandRows = min(bandRows, max(4, rows/(8*p.Workers)&^3))
	}
	p.BandRows = min(p.BandRows, max(1, rows))
	p.Workers = max(1, min(p.Workers, (rows+p.BandRows-1)/p.BandRows))
	p.TileWidth = roundUp((n+tiles-1)/tiles, kernel.Align(channels))
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
