package engine

import (
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// groupRows is how many rows are selected at a time: few, so that they stay in the
// second-level cache for all three tables, and many, for a kernel ends with a fence. Short
// rows go twice as many at a time (BenchmarkValid).
const (
	groupRows  = 32
	groupBytes = 256 << 10
)

// group is how many rows of n elements to select at a time.
func (l *Valid[S, Q]) group(n int) int {
	if 2*groupRows*n*(l.Src.Type.Bytes()+1) <= groupBytes {
		return 2 * groupRows
	}
	return groupRows
}

// aheadRows is how many rows further down pixels are asked for.
const aheadRows = 2

// Valid is the layer of the sums, the squares and the counts of valid pixels, of which
// the squares may be left out. It is a layer of layers: rows of pixels go to those of
// sums and squares with a fill in the place of the others, and a row of zeros and ones
// to that of the counts.
type Valid[S, Q kernel.Sum] struct {
	Src     Raw
	Mask    Source[uint8] // of one channel, or of as many as Src; no Pix if all pixels are valid
	NaN     bool          // is not valid
	Sum     Target[S]
	Squares Target[Q]
	Count   Target[uint32]

	level    kernel.Level
	selector kernel.Selector
	squared  bool
	sums     Sums[S]
	squares  Sums[Q]
	counts   Sums[uint32]
	workers  []validWorker
}

// validWorker is what one worker has to itself.
type validWorker struct {
	row    kernel.Selection
	pixels []byte  // of a group of rows
	valid  []uint8 // the same
	mask   []uint8 // of a row, for all channels
	_      [kernel.LineBytes]byte
}

// Find gets the kernels of a level, with squares or without. It reports whether there
// are any for the sums, and for the squares.
func (l *Valid[S, Q]) Find(level kernel.Level, squares bool) (forSums, forSquares bool) {
	l.level, l.squared = level, squares
	l.counts.Find(pairs.U8, level, false)
	return l.sums.Find(l.Src.Type, level, false), !squares || l.squares.Find(l.Src.Type, level, true)
}

// Shift is what to take away from every pixel, see [Job.Shift].
func (l *Valid[S, Q]) Shift(offset float32, plain bool) error {
	if err := CheckOffset[S](l.Src.Type, offset); err != nil {
		return err
	}
	if offset != 0 && !l.Src.Type.Float() {
		return grid.Types("an offset is for float pixels where only some are valid, not for %v", l.Src.Type)
	}
	if l.squared && offset == 0 && !plain && l.Src.Type.Float() {
		mask := &l.Mask
		if mask.Pix == nil {
			mask = nil
		}
		offset = l.Src.center(mask)
	}
	if l.Sum.Offset, l.Squares.Offset = offset, 0; l.squared && l.Src.Type.Float() {
		l.Squares.Offset = offset
	}
	return nil
}

// Plan is how to cut the work.
func (l *Valid[S, Q]) Plan(set *Settings) Plan {
	bytes := grid.SizeOf[S]() + grid.SizeOf[uint32]()
	if l.squared {
		bytes += grid.SizeOf[Q]()
	}
	return workOf(&l.Src.Extent, l.Src.Type.Bytes(), bytes, set.workers).Plan()
}

// Prepare implements [Layer].
func (l *Valid[S, Q]) Prepare(p *Plan) error {
	l.selector = kernel.NewSelector(l.Src.Type, l.level, l.Mask.Pix != nil, l.NaN, l.Sum.Offset)
	l.workers = Workers(l.workers, p.Workers)
	n := l.group(p.TileWidth) * p.TileWidth
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.pixels, w.valid, w.mask = AtLeast(w.pixels, n*l.Src.Type.Bytes()), AtLeast(w.valid, n), AtLeast(w.mask, p.TileWidth)
		w.row.Ahead, w.row.MaskAhead = aheadRows*l.Src.Stride, aheadRows*l.Mask.Stride
		w.row.NaN = l.NaN
	}
	l.sums.Aim(nil, &l.Sum)
	l.counts.Aim(nil, &l.Count)
	if err := l.sums.Prepare(p); err != nil {
		return err
	}
	if l.squared {
		l.squares.Aim(nil, &l.Squares)
		if err := l.squares.Prepare(p); err != nil {
			return err
		}
	}
	return l.counts.Prepare(p)
}

func (l *Valid[S, Q]) exact() bool { return false }

func (l *Valid[S, Q]) over(worker, x, y, n, from int) {
	l.sums.over(worker, x, y, n, from)
	l.counts.over(worker, x, y, n, from)
	if l.squared {
		l.squares.over(worker, x, y, n, from)
	}
}

// Tile implements [Layer].
func (l *Valid[S, Q]) Tile(worker, x, y, n, rows int) {
	w, pixel := &l.workers[worker], l.Src.Type
	size := pixel.Bytes()
	group := len(w.pixels) / (n * size) // as Prepare has it, or more in a short tile
	for end := y + rows; y < end; y += group {
		rows := min(group, end-y)
		for r := range rows {
			w.row.From = l.Src.From((y+r)*l.Src.Stride + x)[:n*size]
			w.row.Mask = l.maskRow(w, x, y+r, n)
			w.row.To, w.row.Valid = w.pixels[r*n*size:][:n*size], w.valid[r*n:][:n]
			l.selector.Select(&w.row)
		}
		if l.Sum.Shifts() {
			Shifted(w.pixels, w.pixels, pixel, n, n, rows, l.Sum.Offset)
		}
		l.sums.TileOf(worker, w.pixels, size, n, x, y, n, rows)
		if l.squared {
			if l.Squares.Shifts() && !l.Sum.Shifts() { // whose kernel has done it for itself
				Shifted(w.pixels, w.pixels, pixel, n, n, rows, l.Squares.Offset)
			}
			l.squares.TileOf(worker, w.pixels, size, n, x, y, n, rows)
		}
		l.counts.TileOf(worker, w.valid, 1, n, x, y, n, rows)
	}
}

// maskRow is the mask of n elements of a row.
func (l *Valid[S, Q]) maskRow(w *validWorker, x, y, n int) []uint8 {
	m, channels := &l.Mask, l.Src.Channels
	switch {
	case m.Pix == nil:
		return nil
	case m.Channels == channels:
		return m.Pix[y*m.Stride+x:][:n]
	}
	of := m.Pix[y*m.Stride+x/channels:][:n/channels] // tiles are whole pixels
	for i, v := range of {
		all := w.mask[i*channels:][:channels]
		for c := range all {
			all[c] = v
		}
	}
	return w.mask[:n]
}

// has reports whether a mask has an element of a row of an image of that many channels.
func has(mask *Source[uint8], x, y, channels int) bool {
	return mask.Pix[y*mask.Stride+x*mask.Channels/channels] != 0
}

// Finish implements [Layer].
func (l *Valid[S, Q]) Finish() {}

// Release implements [Layer].
func (l *Valid[S, Q]) Release() int {
	l.Src, l.Mask = Raw{}, Source[uint8]{}
	l.Sum, l.Squares, l.Count = Target[S]{}, Target[Q]{}, Target[uint32]{}
	bytes := l.sums.Release() + l.squares.Release() + l.counts.Release()
	for i := range l.workers {
		w := &l.workers[i]
		w.row = kernel.Selection{}
		bytes += Bytes(w.pixels) + Bytes(w.valid) + Bytes(w.mask)
	}
	return bytes
}
