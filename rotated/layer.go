package rotated

import (
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// layer makes a table tile by tile, on the engine of upright tables. A sum needs
// the line above on both sides: a pixel further on for its row, and for its
// column one back where the line steps. So tiles come from the far end of the
// lines to the near one, and from every line that steps on they begin a block
// further from it: all that a tile needs of its own band lies in the tiles
// before.
type layer[P boxsum.Pixel, S boxsum.Sum] struct {
	table  *Table[S]
	engine engine.Engine
	plan

	level  kernel.Level
	kernel *kernel.RotatedKernel[P, S]
	img    boxsum.Image[P]

	rows  []S // sums of rows up to the runs of the last line of each band
	zeros []S // what is above the first line
	crew  []worker[P, S]
}

// worker is what one worker has to itself.
type worker[P boxsum.Pixel, S boxsum.Sum] struct {
	line  kernel.RotatedLine[P, S]
	carry []S // of each line of a band

	// sums and rows are those of a line and of the one above.
	sums, rows [2][]S
	// What a tile leaves at its end for the next one, which begins on a line when
	// sums and rows are of another: some of both, for each line of a band.
	sumEnds, rowEnds [2][]S

	empty []S // the sums on empty cells of a line, on their way past the caches or to nowhere
	_     [kernel.LineBytes]byte
}

// prepare gets scratch memory and says how to cut the image.
func (l *layer[P, S]) prepare(level kernel.Level, img boxsum.Image[P], workers int) error {
	t := l.table
	if l.kernel == nil || l.level != level {
		l.level = level
		l.kernel = kernel.NewRotatedKernel[P, S](level, kernel.RotatedRuns{
			Run: t.frame.run, Channels: t.channels, Falling: t.frame.falling,
		})
	}
	l.img = img
	l.plan = newPlan(&t.frame, t.channels, int(unsafe.Sizeof(*new(S))), workers)
	for len(l.crew) < l.workers {
		l.crew = append(l.crew, worker[P, S]{})
	}
	type part struct {
		list *[]S
		n    int
	}
	parts := []part{{&l.rows, l.bands() * l.rowsLen}, {&l.zeros, max(l.rowsLen, l.sumsLen)}}
	for i := range l.crew[:l.workers] {
		w := &l.crew[i]
		parts = append(parts, part{&w.carry, l.grid.BandRows * kernel.RotatedCarry(t.channels)}, part{&w.empty, l.rowsLen})
		for k := range 2 {
			parts = append(parts, part{&w.sums[k], l.sumsLen}, part{&w.rows[k], l.rowsLen},
				part{&w.sumEnds[k], l.grid.BandRows * l.block}, part{&w.rowEnds[k], l.grid.BandRows * l.rowEnd})
		}
	}
	for _, p := range parts {
		if len(*p.list) < p.n {
			var err error
			if *p.list, err = allocate[S](p.n); err != nil {
				return err
			}
		}
	}
	return nil
}

// release lets go of the caller's memory and keeps the scratch.
func (l *layer[P, S]) release() {
	l.img = boxsum.Image[P]{}
	for i := range l.crew {
		l.crew[i].line = kernel.RotatedLine[P, S]{}
	}
}

// lastRows is the sums of rows up to the runs of the last line.
func (l *layer[P, S]) lastRows() []S { return l.bandRows(l.bands() - 1)[l.block:] }

// bandRows is the sums of rows up to the runs of a band's last line, as kernels
// want it.
func (l *layer[P, S]) bandRows(band int) []S {
	return l.rows[band*l.rowsLen:][l.rowEnd:l.rowsLen:l.rowsLen]
}

// Tile implements [engine.Layer]. Its x counts from the far end of lines.
func (l *layer[P, S]) Tile(worker, x, y, n, rows int) {
	t := l.table
	f, w := &t.frame, &l.crew[worker]
	k := &w.line
	tile, band := x/l.grid.TileWidth, y/l.grid.BandRows
	carry := kernel.RotatedCarry(t.channels)
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
					l.border(sumsAbove[2*l.block-t.channels:])
				}
			}
			if steps {
				end += l.block
			}
		}
		start := end - l.grid.TileWidth
		from, to := max(0, start), min(l.length, end)
		if from >= to {
			continue
		}
		k.From, k.To = from, to
		if f.falling {
			k.From, k.To = l.length-to, l.length-from
		}
		k.Carry = w.carry[r*carry:][:carry]
		k.Src = l.img.Pix[y*l.img.Stride:]
		k.Dst = t.corners.line(y, 0)[:l.length]
		k.Keep = sums[l.block:]
		k.Rows = w.rows[r%2][l.rowEnd:]
		k.Stream = l.writes != kernel.Ahead
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
			l.makeEmpty(w, y, k)
		} else {
			l.kernel.Line(k)
		}
		if start >= 0 && !last {
			copy(w.sumEnds[tile%2][r*l.block:], l.sumsAt(sums, start))
			copy(w.rowEnds[tile%2][r*l.rowEnd:], l.rowsAt(w.rows[r%2], start))
		}
		if from == 0 {
			l.border(sums[2*l.block-t.channels:])
			if last {
				l.border(t.corners.line(y, t.channels))
			}
		}
	}
	if l.writes != kernel.Ahead {
		kernel.StoreFence()
	}
}

// makeEmpty makes a line that steps, and so has empty cells above it.
func (l *layer[P, S]) makeEmpty(w *worker[P, S], y int, k *kernel.RotatedLine[P, S]) {
	t := l.table
	row, keep := int(t.frame.overs[y])-1, t.empty.sums != nil
	if keep && l.writes == kernel.Ahead {
		k.Empty = t.empty.line(row, l.block)
		l.kernel.Line(k)
		return
	}
	k.Empty = w.empty[l.rowEnd:]
	l.kernel.Line(k)
	if !keep {
		return
	}
	from, to := t.frame.starts(k.From, t.channels), t.frame.starts(k.To, t.channels)
	kernel.StreamCopy(t.empty.line(row, 0)[from:to], k.Empty[l.block+from:])
}

// sumsAt is the block of a line's sums that begins at x.
func (l *layer[P, S]) sumsAt(sums []S, x int) []S {
	if l.table.frame.falling {
		x = l.length - l.block - x
	}
	return sums[2*l.block+x:][:l.block]
}

// rowsAt is the sums of rows up to the first runs that start at x or later.
func (l *layer[P, S]) rowsAt(rows []S, x int) []S {
	f := &l.table.frame
	at := l.rowEnd + l.block
	if f.falling {
		at += f.starts(l.length-x, l.table.channels) - l.rowEnd
	} else {
		at += f.starts(x, l.table.channels)
	}
	return rows[at:][:l.rowEnd]
}

// border repeats the first pixel of a line, which begins with a pixel of room:
// no column left of it has more.
func (l *layer[P, S]) border(line []S) {
	n := l.table.channels
	if !l.table.frame.falling {
		copy(line[:n], line[n:])
		return
	}
	end := n + l.table.frame.width*n
	copy(line[end:][:n], line[end-n:])
}
