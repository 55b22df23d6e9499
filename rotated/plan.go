package rotated

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

const (
	// bandRows is the maximum number of lines in a band.
	bandRows = 64
	// tileBytes is the maximum size of a row of sums in a tile: two of them,
	// and two of the sums of rows, stay in the first-level cache.
	tileBytes = 8 << 10
	// leastTile is the minimum width of a tile in blocks: with narrower tiles
	// workers spend more time waiting for each other than working.
	leastTile = 16
)

// A plan describes how to cut an image. Its unit is elements: pixels times
// channels.
type plan struct {
	engine.Plan
	block  int // distance that tiles move where lines step, and room that kernels need
	shift  int // distance to the entry over a pixel where a line steps
	length int // length of a line, in whole blocks

	// Room for the sums of a line and for those of rows up to its runs, and the
	// number of the latter that a tile leaves for the next.
	sumsLen, rowsLen, rowEnd int
}

func newPlan(f *frame, channels, pixelBytes, sumBytes, workers int) plan {
	all := engine.Work{
		Rows: f.height, N: f.width * channels, Channels: channels,
		PixelBytes: pixelBytes, SumBytes: sumBytes, Workers: workers,
	}.Plan()
	if all.Rows == 0 || all.N == 0 {
		return plan{Plan: engine.Plan{Workers: 1}}
	}
	workers = all.Workers
	p := plan{block: kernel.RotatedSlack(channels), shift: -channels}
	if f.falling {
		p.shift = channels
	}
	p.length = raster.RoundUp(f.width*channels, p.block)
	p.sumsLen = p.length + 4*p.block
	// The runs that start in a block, the next one and one that is cut.
	p.rowEnd = raster.RoundUp(p.block+2*channels, kernel.RotatedBlock)
	p.rowsLen = raster.RoundUp(f.runs*channels, kernel.RotatedBlock) + 2*p.block + 2*p.rowEnd
	p.Writes = all.Writes

	// In the lines of a band a tile moves by less than its width. The band
	// below is then two tiles behind, so there should be two tiles for each
	// worker.
	tile := tileBytes / sumBytes
	for ; workers > 1; workers-- {
		if share := p.length / (2 * workers); share >= leastTile*p.block {
			tile = min(tile, share)
			break
		}
	}
	tile = raster.RoundUp(max(tile, leastTile*p.block), p.block)
	p.Grid = engine.Grid{Rows: f.height, BandRows: f.linesOf(tile / p.block), TileWidth: tile, Lead: 1}
	most := 0
	for y := 0; y < f.height; y += p.BandRows {
		most = max(most, int(f.overs[min(y+p.BandRows, f.height)-1]-f.overs[y]))
	}
	p.N, p.Workers = p.length+most*p.block, workers
	return p
}

// linesOf returns the largest number of lines in a band of which, wherever it
// begins, fewer than blocks step. The larger it is, the less often workers
// wait.
func (f *frame) linesOf(blocks int) int {
	lines := min(bandRows, f.height)
	for y := 0; y < f.height; y++ {
		for end := min(y+lines, f.height) - 1; lines > 1 && int(f.overs[end]-f.overs[y]) >= blocks; end-- {
			lines = end - y
		}
	}
	return lines
}

func (p *plan) bands() int { return (p.Rows + p.BandRows - 1) / p.BandRows }
