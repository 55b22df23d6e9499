package engine

import "github.com/boxsum/boxsum/internal/kernel"

const (
	// tileBytes is the width of a tile's sums: its part of the carry row stays
	// in the first-level cache while the rows of the band go by.
	tileBytes = 16 << 10
	// bandRows shares one trip of the carry row between two cores among that
	// many rows, and keeps a band's pixels in the second-level cache.
	bandRows = 64
	// workerBytes is how much output makes another worker worth waking.
	workerBytes = 1 << 20
	// streamBytes is where writing past the caches starts to pay: well before
	// the last-level cache is full, because a store that misses the
	// second-level cache reads the line first. BenchmarkStream shows it.
	streamBytes = 4 << 20
)

// A Plan is how to integrate one image.
type Plan struct {
	Grid
	Workers int
	Stream  bool
}

// NewPlan decides how to cut an image of rows × n elements, whose sums take
// sumBytes each, for at most that many workers.
func NewPlan(rows, n, channels, sumBytes, workers int) Plan {
	out := rows * n * sumBytes
	p := Plan{Workers: max(1, min(workers, out/workerBytes)), Stream: out >= streamBytes}
	p.Rows, p.N = rows, n
	p.BandRows = bandRows
	tiles := max(1, (n*sumBytes+tileBytes-1)/tileBytes)
	if p.Workers > 1 {
		// Workers follow each other half a band apart or less, and the last
		// bands should end at about the same time.
		tiles = max(tiles, 2*p.Workers)
		p.BandRows = min(bandRows, max(16, rows/(8*p.Workers)&^3))
	}
	p.TileWidth = roundUp((n+tiles-1)/tiles, kernel.Align(channels))
	return p
}

func roundUp(n, to int) int { return max(1, (n+to-1)/to) * to }
