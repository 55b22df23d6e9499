package rotated

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// layer makes a table tile by tile, on the engine of upright tables. A sum needs
// the line above on both sides: a pixel further on for its row, and for its
// column one back where the line steps. So tiles come from the far end of the
// lines to the near one, and from every line that steps on they begin a block
// further from it: all that a tile needs of its own band lies in the tiles
// before.
type layer[S boxsum.Sum] struct {
	table  *Table[S]
	src    engine.Raw
	kernel *kernel.RotatedKernel[S]
	plan

	level kernel.Level
	shape shape // that the kernel and the scratch memory are for

	rows    []S // sums of rows up to the runs of the last line of each band
	zeros   []S // what is above the first line
	workers []worker[S]
}

// A shape is what decides how lines lie in memory.
type shape struct {
	pixel                   pairs.Type
	rot                     Rotation
	width, height, channels int
	level                   kernel.Level
	workers                 int
}

type worker[S boxsum.Sum] struct {
	line  kernel.RotatedLine[S]
	carry []S // of each line of a band

	// sums and rows are those of a line and of the one above.
	sums, rows [2][]S
	// What a tile leaves at its end for the next one, which begins on a line when
	// sums and rows are of another: some of both, for each line of a band.
	sumEnds, rowEnds [2][]S

	empty []S // the sums on empty cells of a line, on their way past the caches or to nowhere
	_     [kernel.LineBytes]byte
}

// Prepare implements [engine.Layer].
func (l *layer[S]) Prepare(p *engine.Plan) error {
	if p.Rows == 0 {
		return nil
	}
	t := l.table
	// Lines leave gaps in the scratch memory, which must be zero at first: another
	// shape has them elsewhere.
	scratch := engine.AtLeast[S]
	if s := (shape{l.src.Type, t.rot, t.Width, t.Height, t.Channels, l.level, p.Workers}); l.shape != s {
		l.shape, scratch = s, engine.Zeros[S]
		l.kernel = kernel.NewRotatedKernel[S](l.src.Type, l.level, kernel.RotatedRuns{Run: t.frame.run, Channels: t.Channels, Falling: t.frame.falling})
	}
	l.rows = scratch(l.rows, l.bands()*l.rowsLen)
	l.zeros = scratch(l.zeros, max(l.rowsLen, l.sumsLen))
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.carry = scratch(w.carry, p.BandRows*kernel.RotatedCarry(t.Channels))
		w.empty = scratch(w.empty, l.rowsLen)
		for k := range 2 {
			w.sums[k], w.rows[k] = scratch(w.sums[k], l.sumsLen), scratch(w.rows[k], l.rowsLen)
			w.sumEnds[k] = scratch(w.sumEnds[k], p.BandRows*l.block)
			w.rowEnds[k] = scratch(w.rowEnds[k], p.BandRows*l.rowEnd)
		}
	}
	return nil
}

// add makes the line of a worker from the pixels of row y.
func (l *layer[S]) add(k *kernel.RotatedLine[S], y int) {
	k.Src = l.src.From(y * l.src.Stride)
	l.kernel.Line(k)
}

func (l *layer[S]) Finish() {
	if l.Rows > 0 {
		l.table.finish(l.lastRows())
	}
}

func (l *layer[S]) Release() int {
	l.table, l.src = nil, engine.Raw{}
	bytes := engine.Bytes(l.rows) + engine.Bytes(l.zeros)
	for i := range l.workers {
		w := &l.workers[i]
		w.line = kernel.RotatedLine[S]{}
		bytes += engine.Bytes(w.carry) + engine.Bytes(w.empty)
		for k := range 2 {
			bytes += engine.Bytes(w.sums[k]) + engine.Bytes(w.rows[k]) + engine.Bytes(w.sumEnds[k]) + engine.Bytes(w.rowEnds[k])
		}
	}
	return bytes
}

// lastRows is the sums of rows up to the runs of the last line.
func (l *layer[S]) lastRows() []S { return l.bandRows(l.bands() - 1)[l.block:] }

// bandRows is the sums of rows up to the runs of a band's last line, as kernels
// want it.
func (l *layer[S]) bandRows(band int) []S {
	return l.rows[band*l.rowsLen:][l.rowEnd:l.rowsLen:l.rowsLen]
}

// Tile implements [engine.Layer]. Its x counts from the far end of lines.
func (l *layer[S]) Tile(worker, x, y, n, rows int) {
	t := l.table
	f, w := &t.frame, &l.workers[worker]
	k := &w.line
	tile, band := x/l.TileWidth, y/l.BandRows
	carry := kernel.RotatedCarry(t.Channels)
	if tile == 0 {
		clear(w.carry)
	}
	end := l.length - x // of the tile in this line
	for r := range rows {
		y := y + r
		sums, sumsAbove := w.sums[r%2], w.sums[(r+1)%2]
		steps := f.steps(y)
		if r > 0 {
			if end >= 0 && end < l.length {
				copy(l.sumsAt(sumsAbove, end), w.sumEnds[(tile+1)%2][(r-1)*l.block:])
				copy(l.rowsAt(w.rows[(r+1)%2], end), w.rowEnds[(tile+1)%2][(r-1)*l.rowEnd:])
				if end == 0 {
					l.border(sumsAbove[2*l.block-t.Channels:])
				}
			}
			if steps {
				end += l.block
			}
		}
		start := end - l.TileWidth
		from, to := max(0, start), min(l.length, end)
		if from >= to {
			continue
		}
		k.From, k.To = from, to
		if f.falling {
			k.From, k.To = l.length-to, l.length-from
		}
		k.Carry = w.carry[r*carry:][:carry]
		k.Dst = t.corners.line(y, 0)[:l.length]
		k.Keep = sums[l.block:]
		k.Rows = w.rows[r%2][l.rowEnd:]
		k.Stream = l.Writes != kernel.Ahead
		last := r+1 == rows
		if last { // the band below is about to read it
			k.Rows, k.Stream = l.bandRows(band), false
		}
		shift := 0
		if steps {
			shift = l.shift
		}
		switch {
		case y == 0:
			k.Over, k.RowsAbove = l.zeros, l.zeros
		case r == 0:
			k.Over = t.corners.line(y-1, l.block-shift)
			k.RowsAbove = l.bandRows(band - 1)
		default:
			k.Over = sumsAbove[l.block+shift:]
			k.RowsAbove = w.rows[(r+1)%2][l.rowEnd:]
		}
		k.Empty = nil
		if steps {
			l.makeEmpty(worker, y)
		} else {
			l.add(k, y)
		}
		if start >= 0 && !last {
			copy(w.sumEnds[tile%2][r*l.block:], l.sumsAt(sums, start))
			copy(w.rowEnds[tile%2][r*l.rowEnd:], l.rowsAt(w.rows[r%2], start))
		}
		if from == 0 {
			l.border(sums[2*l.block-t.Channels:])
			if last {
				l.border(t.corners.line(y, t.Channels))
			}
		}
	}
	if l.Writes != kernel.Ahead {
		kernel.StoreFence()
	}
}

// makeEmpty makes a line that steps, and so has empty cells above it.
func (l *layer[S]) makeEmpty(worker, y int) {
	t, w := l.table, &l.workers[worker]
	k := &w.line
	row, keep := int(t.frame.overs[y])-1, t.empty.sums != nil
	if keep && l.Writes == kernel.Ahead {
		k.Empty = t.empty.line(row, l.block)
		l.add(k, y)
		return
	}
	k.Empty = w.empty[l.rowEnd:]
	l.add(k, y)
	if !keep {
		return
	}
	from, to := t.frame.starts(k.From, t.Channels), t.frame.starts(k.To, t.Channels)
	kernel.StreamCopy(t.empty.line(row, 0)[from:to], k.Empty[l.block+from:])
}

// sumsAt is the block of a line's sums that begins at x.
func (l *layer[S]) sumsAt(sums []S, x int) []S {
	if l.table.frame.falling {
		x = l.length - l.block - x
	}
	return sums[2*l.block+x:][:l.block]
}

// rowsAt is the sums of rows up to the first runs that start at x or later.
func (l *layer[S]) rowsAt(rows []S, x int) []S {
	f := &l.table.frame
	at := l.rowEnd + l.block
	if f.falling {
		at += f.starts(l.length-x, l.table.Channels) - l.rowEnd
	} else {
		at += f.starts(x, l.table.Channels)
	}
	return rows[at:][:l.rowEnd]
}

// border repeats the first pixel of a line, which begins with a pixel of room:
// no column left of it has more.
func (l *layer[S]) border(line []S) {
	n := l.table.Channels
	if !l.table.frame.falling {
		copy(line[:n], line[n:])
		return
	}
	end := n + l.table.frame.width*n
	copy(line[end:][:n], line[end-n:])
}
