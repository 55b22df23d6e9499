package rotated

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
)

const (
	// bandRows is how many lines of the image make a band, at most.
	bandRows = 64
	// tileBytes is the width of a tile's sums, at most: two lines of them, and
	// of the sums of rows, stay in the first-level cache.
	tileBytes = 8 << 10
	// leastTile is how many blocks wide a tile is at least: with narrower ones
	// workers wait longer for each other than they work.
	leastTile = 16
)

// A plan is how to cut an image, in elements: pixels times channels.
type plan struct {
	engine.Plan
	block  int // by which tiles begin further on, and the room that kernels want
	shift  int // to what is over a pixel where a line steps
	length int // of a line, in whole blocks

	// How much room the sums of a line and those of rows up to its runs take,
	// and how many of the latter a tile leaves for the next.
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
	p.length = grid.RoundUp(f.width*channels, p.block)
	p.sumsLen = p.length + 4*p.block
	// The runs that start in a block, the one after and one that is cut.
	p.rowEnd = grid.RoundUp(p.block+2*channels, kernel.RotatedBlock)
	p.rowsLen = grid.RoundUp(f.runs*channels, kernel.RotatedBlock) + 2*p.block + 2*p.rowEnd
	p.Writes = all.Writes

	// A tile begins further on by less than its width in the lines of a band. The
	// band below is then two tiles behind, so that there should be two for each
	// worker.
	tile := tileBytes / sumBytes
	for ; workers > 1; workers-- {
		if share := p.length / (2 * workers); share >= leastTile*p.block {
			tile = min(tile, share)
			break
		}
	}
	tile = grid.RoundUp(max(tile, leastTile*p.block), p.block)
	p.Grid = engine.Grid{Rows: f.height, BandRows: f.linesOf(tile / p.block), TileWidth: tile, Lead: 1}
	most := 0
	for y := 0; y < f.height; y += p.BandRows {
		most = max(most, int(f.overs[min(y+p.BandRows, f.height)-1]-f.overs[y]))
	}
	p.N, p.Workers = p.length+most*p.block, workers
	return p
}

// linesOf is how many lines a band may have that step fewer times than it has
// blocks, wherever it begins: the more, the less often workers wait.
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
