package rotated

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// layer makes a table tile by tile, on the engine of upright tables. A sum depends
// on the line above on both sides: on the next pixel for its row and, where the
// line steps, on the previous pixel for its column. Tiles are therefore processed
// from the far end of the lines to the near end, and after every line that steps
// they begin one block further from the near end. All that a tile needs from its
// own band then lies in earlier tiles.
type layer struct {
	engine.Base
	target
	src    raster.Array
	kernel *kernel.RotatedKernel
	plan

	level processor.Level
	shape shape // of the kernel and the scratch memory

	bandEnds []byte // sums of rows up to the runs of the last line of each band
	zeros    []byte // stands for the line above the first
	workers  []worker
}

// A target is the memory of a table of any sum type.
type target struct {
	sum            raster.Type
	rotation       Rotation
	frame          *frame
	channels       int
	corners, empty lines
	rows           []byte // the layer sets those that end in the last line
}

// lines is the memory of a plane of sums. Its fields are in bytes; positions are
// lines and elements.
type lines struct {
	data         []byte
	lead, stride int
	size         int // of a sum
}

// line returns line y and all that follows, starting before elements earlier.
func (l *lines) line(y, before int) []byte { return l.data[l.lead+y*l.stride-before*l.size:] }

// runs keeps the engines and scratch memory of the layer for later calls.
var runs engine.Runs[layer]

// fill makes a table from an image.
func fill(dst *target, src *raster.Array, set engine.Settings) error {
	r := runs.Take()
	l := &r.Layer
	l.target, l.src, l.level = *dst, *src, set.Level
	l.plan = newPlan(dst.frame, dst.channels, src.Type.Bytes(), dst.sum.Bytes(), set.Workers())
	return r.Fill(&set, &l.plan.Plan, l)
}

// A shape determines how lines are laid out in memory.
type shape struct {
	pixel, sum              raster.Type
	rot                     Rotation
	width, height, channels int
	level                   processor.Level
	workers                 int
}

// A worker holds the memory that one worker does not share.
type worker struct {
	line  kernel.RotatedLine
	carry []byte // for each line of a band

	// sums and rows hold those of a line and of the line above.
	sums, rows [2][]byte
	// The last sums and rows of a tile, for each line of a band: when the next tile
	// begins on a line, sums and rows already hold those of another line.
	sumEnds, rowEnds [2][]byte

	empty []byte // sums of the empty cells of a line, to be streamed or dropped
	_     [kernel.LineBytes]byte
}

// Prepare implements [engine.Layer].
func (l *layer) Prepare(p *engine.Plan) error {
	if p.Rows == 0 {
		return nil
	}
	// The gaps between lines in scratch memory must be zero, and another shape has
	// them elsewhere.
	size, reuse := l.sum.Bytes(), engine.AtLeast[byte]
	if s := (shape{l.src.Type, l.sum, l.rotation, l.src.Width, l.src.Height, l.channels, l.level, p.Workers}); l.shape != s {
		l.shape, reuse = s, engine.Zeros[byte]
		l.kernel = kernel.NewRotatedKernel(l.src.Type, l.sum, l.level, kernel.RotatedRuns{Run: l.frame.run, Channels: l.channels, Falling: l.frame.falling})
	}
	scratch := func(have []byte, elements int) []byte { return reuse(have, elements*size) }
	l.bandEnds = scratch(l.bandEnds, l.bands()*l.rowsLen)
	l.zeros = scratch(l.zeros, max(l.rowsLen, l.sumsLen))
	l.workers = engine.Workers(l.workers, p.Workers)
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.carry = scratch(w.carry, p.BandRows*kernel.RotatedCarry(l.channels))
		w.empty = scratch(w.empty, l.rowsLen)
		for k := range 2 {
			w.sums[k], w.rows[k] = scratch(w.sums[k], l.sumsLen), scratch(w.rows[k], l.rowsLen)
			w.sumEnds[k] = scratch(w.sumEnds[k], p.BandRows*l.block)
			w.rowEnds[k] = scratch(w.rowEnds[k], p.BandRows*l.rowEnd)
		}
	}
	return nil
}

// add makes a worker's line from the pixels of row y.
func (l *layer) add(k *kernel.RotatedLine, y int) {
	k.Src = l.src.From(y * l.src.Stride)
	l.kernel.Line(k)
}

// Finish implements [engine.Layer]. It copies the sums of rows up to the runs of
// the last line to the table.
func (l *layer) Finish() {
	if l.Rows == 0 {
		return
	}
	pixel := l.channels * l.sum.Bytes()
	last := l.bandRows(l.bands() - 1)[l.block*l.sum.Bytes():]
	for down := 1; down < l.frame.runs; down++ {
		run := down
		if l.frame.falling {
			run = l.frame.runs - 1 - down
		}
		copy(l.rows[(l.frame.height-1+down)*pixel:][:pixel], last[run*pixel:])
	}
}

// Release implements [engine.Layer].
func (l *layer) Release() int {
	l.target, l.src = target{}, raster.Array{}
	bytes := engine.Bytes(l.bandEnds) + engine.Bytes(l.zeros)
	for i := range l.workers {
		w := &l.workers[i]
		w.line = kernel.RotatedLine{}
		bytes += engine.Bytes(w.carry) + engine.Bytes(w.empty)
		for k := range 2 {
			bytes += engine.Bytes(w.sums[k]) + engine.Bytes(w.rows[k]) + engine.Bytes(w.sumEnds[k]) + engine.Bytes(w.rowEnds[k])
		}
	}
	return bytes
}

// bandRows returns the sums of rows up to the runs of a band's last line, in the
// form that kernels need.
func (l *layer) bandRows(band int) []byte {
	size := l.sum.Bytes()
	return l.bandEnds[band*l.rowsLen*size:][l.rowEnd*size : l.rowsLen*size : l.rowsLen*size]
}

// Tile implements [engine.Layer]. x counts from the far end of lines.
func (l *layer) Tile(worker, x, y, n, rows int) {
	f, w, size := l.frame, &l.workers[worker], l.sum.Bytes()
	k := &w.line
	tile, band := x/l.TileWidth, y/l.BandRows
	carry, block, rowEnd := kernel.RotatedCarry(l.channels)*size, l.block*size, l.rowEnd*size
	if tile == 0 {
		clear(w.carry)
	}
	end := l.length - x // end of the tile in this line
	for r := range rows {
		y := y + r
		sums, sumsAbove := w.sums[r%2], w.sums[(r+1)%2]
		steps := f.steps(y)
		if r > 0 {
			if end >= 0 && end < l.length {
				copy(l.sumsAt(sumsAbove, end), w.sumEnds[(tile+1)%2][(r-1)*block:])
				copy(l.rowsAt(w.rows[(r+1)%2], end), w.rowEnds[(tile+1)%2][(r-1)*rowEnd:])
				if end == 0 {
					l.border(sumsAbove[2*block-l.channels*size:])
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
		k.Dst = l.corners.line(y, 0)[:l.length*size]
		k.Keep = sums[block:]
		k.Rows = w.rows[r%2][rowEnd:]
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
			k.Over = l.corners.line(y-1, l.block-shift)
			k.RowsAbove = l.bandRows(band - 1)
		default:
			k.Over = sumsAbove[block+shift*size:]
			k.RowsAbove = w.rows[(r+1)%2][rowEnd:]
		}
		k.Empty = nil
		if steps {
			l.makeEmpty(worker, y)
		} else {
			l.add(k, y)
		}
		if start >= 0 && !last {
			copy(w.sumEnds[tile%2][r*block:], l.sumsAt(sums, start))
			copy(w.rowEnds[tile%2][r*rowEnd:], l.rowsAt(w.rows[r%2], start))
		}
		if from == 0 {
			l.border(sums[2*block-l.channels*size:])
			if last {
				l.border(l.corners.line(y, l.channels))
			}
		}
	}
	if l.Writes != kernel.Ahead {
		processor.StoreFence()
	}
}

// makeEmpty makes a line that steps, which has empty cells above it.
func (l *layer) makeEmpty(worker, y int) {
	w, size := &l.workers[worker], l.sum.Bytes()
	k := &w.line
	row, keep := int(l.frame.overs[y])-1, len(l.empty.data) > 0
	if keep && l.Writes == kernel.Ahead {
		k.Empty = l.empty.line(row, l.block)
		l.add(k, y)
		return
	}
	k.Empty = w.empty[l.rowEnd*size:]
	l.add(k, y)
	if !keep {
		return
	}
	from, to := l.frame.starts(k.From, l.channels)*size, l.frame.starts(k.To, l.channels)*size
	processor.StreamCopy(l.empty.line(row, 0)[from:to], k.Empty[l.block*size+from:])
}

// sumsAt returns the block of a line's sums that begins at x.
func (l *layer) sumsAt(sums []byte, x int) []byte {
	size := l.sum.Bytes()
	if l.frame.falling {
		x = l.length - l.block - x
	}
	return sums[(2*l.block+x)*size:][:l.block*size]
}

// rowsAt returns the sums of rows up to the first runs that start at x or later.
func (l *layer) rowsAt(rows []byte, x int) []byte {
	size := l.sum.Bytes()
	at := l.rowEnd + l.block
	if l.frame.falling {
		at += l.frame.starts(l.length-x, l.channels) - l.rowEnd
	} else {
		at += l.frame.starts(x, l.channels)
	}
	return rows[at*size:][:l.rowEnd*size]
}

// border copies the first pixel of a line into the room before it, because columns
// left of it have the same sum.
func (l *layer) border(line []byte) {
	n := l.channels * l.sum.Bytes()
	if !l.frame.falling {
		copy(line[:n], line[n:])
		return
	}
	end := n + l.frame.width*n
	copy(line[end:][:n], line[end-n:])
}
