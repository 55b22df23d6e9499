package rotated

import (
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/memory"
)

const (
	// bandRows is how many rows of the lattice are made at once: enough for the
	// pixels of an image line that belong to a tile to fill several cache lines.
	bandRows = 256
	// tileBytes is the width of a tile's sums. BenchmarkIntegrate shows little
	// between 2 and 8 KiB.
	tileBytes = 4 << 10
)

// layer makes a table tile by tile, on the engine of upright tables: it lays
// the pixels of a tile out as cells, zeros in between, and from there on the
// lattice is an image like any other.
type layer[P boxsum.Pixel, S boxsum.Sum] struct {
	table  *Table[S]
	engine engine.Engine

	kernel kernel.Func[P, S]
	img    boxsum.Image[P]
	writes kernel.Writes
	above  []S // the lowest row done so far
	stride int // bytes from one row of a tile's cells to the next
	words  []word
	next   []int32

	workers []worker[P, S]
}

// worker is what one worker has to itself.
type worker[P boxsum.Pixel, S boxsum.Sum] struct {
	tile  kernel.Tile[P, S]
	src   []P
	cells cells
	carry []S
	_     [kernel.LineBytes]byte
}

// prepare gets scratch memory and says how to cut the lattice.
func (l *layer[P, S]) prepare(f kernel.Func[P, S], img boxsum.Image[P], workers int) (engine.Grid, error) {
	t := l.table
	n, b := t.channels, &t.bands
	size := int(unsafe.Sizeof(*new(S)))
	grid := engine.Grid{
		Rows: t.frame.rows, N: b.columns * n,
		BandRows:  bandRows,
		TileWidth: min(roundUp(tileBytes/size, kernel.Align(n)), b.columns*n),
	}
	l.kernel, l.img = f, img
	l.writes = writes(len(t.sums) * size)

	// An odd number of lines apart, the rows of a tile share no set of the cache.
	pixel := int(unsafe.Sizeof(*new(P)))
	l.stride = (roundUp(grid.TileWidth*pixel+wordBytes, kernel.LineBytes)/kernel.LineBytes | 1) * kernel.LineBytes
	l.words, l.next = nil, nil
	if t.frame.longest*n*pixel <= shortRun {
		step := l.stride
		if t.frame.falling {
			step = -step
		}
		l.words, l.next = t.frame.words(n*pixel, step)
	}
	var err error
	if l.above, err = scratch(l.above, grid.N+kernel.Slack); err != nil {
		return grid, err
	}
	clear(l.above)
	for len(l.workers) < workers {
		l.workers = append(l.workers, worker[P, S]{})
	}
	for i := range l.workers[:workers] {
		w := &l.workers[i]
		if w.src, err = scratch(w.src, (bandRows*l.stride+2*lead)/pixel); err != nil {
			return grid, err
		}
		w.cells.buf, w.cells.stride = bytesOf(w.src), l.stride
		if w.carry, err = scratch(w.carry, bandRows*kernel.CarryLen(n)); err != nil {
			return grid, err
		}
	}
	return grid, nil
}

// release lets go of the caller's memory and keeps the scratch.
func (l *layer[P, S]) release() {
	l.img = boxsum.Image[P]{}
	for i := range l.workers {
		l.workers[i].tile = kernel.Tile[P, S]{}
	}
}

func scratch[T any](have []T, n int) ([]T, error) {
	if len(have) >= n {
		return have, nil
	}
	s, err := memory.Make[T](n)
	if err != nil {
		return nil, fmt.Errorf("rotated: %w: %w", boxsum.ErrSize, err)
	}
	return s, nil
}

// writes is how to write a table of so many bytes, by the measure of upright
// tables.
func writes(bytes int) kernel.Writes {
	return engine.Work{Rows: 1, N: bytes, Channels: 1, SumBytes: 1, Workers: 1}.Plan().Writes
}

// Tile implements [engine.Layer]: elements [x, x+n) of rows [y, y+rows), as far
// as they belong to the band.
func (l *layer[P, S]) Tile(worker, x, y, n, rows int) {
	t := l.table
	w := &l.workers[worker]
	i := y / bandRows
	b := t.bands.list[i]
	lo, hi := b.lo*t.channels, b.hi*t.channels
	from, to := max(x, lo), min(x+n, hi)
	if from >= to {
		return
	}
	if from == lo {
		clear(w.carry)
	}
	pixel := int(unsafe.Sizeof(*new(P)))
	w.cells.lay(&t.frame, lines{bytesOf(l.img.Pix), l.img.Stride * pixel, t.channels * pixel}, l.words, l.next, Box{
		C0: from / t.channels, C1: to / t.channels,
		R0: y, R1: y + rows,
	})
	w.tile = kernel.Tile[P, S]{
		Dst:       t.sums[b.start+from-lo:],
		DstStride: hi - lo,
		Src:       w.src[lead/pixel:],
		SrcStride: l.stride / pixel,
		Above:     l.above[from:],
		Carry:     w.carry,
		Rows:      rows,
		N:         to - from,
		Channels:  t.channels,
		Writes:    l.writes,
	}
	l.kernel(&w.tile)
	// Columns that the next band has and this one does not hold no pixel so far:
	// what is above them is all that there is on their left.
	if to == hi && i+1 < len(t.bands.list) {
		for e := hi; e < t.bands.list[i+1].hi*t.channels; e++ {
			l.above[e] = l.above[e-t.channels]
		}
	}
}
