package volume

import (
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

const (
	// overBytes is how much of the slice before a worker keeps at hand: a part
	// of its second-level cache. High bands read long runs of voxels.
	overBytes = 512 << 10
	// tileBytes is how much a worker writes between looks at the one before.
	tileBytes = 64 << 10
)

// A plan is how to make a table: see layer.
type plan struct {
	grid     engine.Grid // of rows and slices, or of a slice
	workers  int
	writes   kernel.Writes
	depth    int
	bySlices bool
	whole    bool // see kernel.VolumeTile
	empty    bool // there are no voxels
}

// planFor decides how to cut a volume whose sums take so many bytes a value.
func planFor[P boxsum.Pixel](src Volume[P], workers, sumBytes int) plan {
	return planSize(src.Width, src.Height, src.Depth, src.Channels, sizeOf[P](), sumBytes, workers)
}

func planSize(width, height, depth, channels, pixelBytes, sumBytes, workers int) plan {
	n := width * channels
	p := plan{depth: depth, empty: n == 0 || height == 0 || depth == 0, workers: 1}
	if p.empty {
		return p
	}
	work := engine.Work{
		Rows: height * depth, N: n, Channels: channels,
		PixelBytes: pixelBytes, SumBytes: sumBytes, Workers: workers,
	}
	all := work.Plan()
	p.workers, p.writes = all.Workers, all.Writes
	if depth < 2*p.workers && p.workers > 1 {
		work.Rows = height
		slice := work.Plan()
		p.grid, p.workers, p.bySlices = slice.Grid, slice.Workers, true
		return p
	}
	row := kernel.OverLen(1, n) * sumBytes
	band := max(4, overBytes/row)
	// As many bands for everyone, of about as many rows.
	bands := p.workers * divUp(height, p.workers*band)
	band = min(roundUp(divUp(height, bands), 4), height)
	p.grid = engine.Grid{Rows: height, N: depth, BandRows: band, TileWidth: max(1, tileBytes/(band*row))}
	if p.workers > 1 {
		p.grid.TileWidth = min(p.grid.TileWidth, max(1, depth/(4*p.workers)))
	}
	p.workers = min(p.workers, divUp(height, band))
	return p
}

func divUp(n, by int) int { return (n + by - 1) / by }

func roundUp(n, to int) int { return divUp(n, to) * to }

func sizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// WorkersFor is how many workers make a table of this size: not more than the
// options ask for, and fewer where more would not help. With squares, sumBytes
// is that of both sums together.
func WorkersFor(opt *boxsum.Options, width, height, depth, channels, pixelBytes, sumBytes int) int {
	set, err := checkedOptions[float32](opt)
	channels = orOne(channels)
	if err != nil || checkSize(width, height, depth, channels) != nil {
		return 0
	}
	return planSize(width, height, depth, channels, pixelBytes, sumBytes, set.workers).workers
}
