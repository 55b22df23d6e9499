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
func (l *Valid) group(n int) int {
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
type Valid struct {
	Src   Raw
	Mask  Source[uint8] // of one channel, or of as many as Src; no Pix if all pixels are valid
	NaN   bool          // is not valid
	Count Target[uint32]

	level         kernel.Level
	selector      kernel.Selector
	squared       bool
	fill          float32
	sums, squares validSums
	counts        Sums[uint32]
	workers       []validWorker
	forget        func() // what points at tables of a type
}

// validSums is the layer of sums or of squares. Shift is what to take away from pixels before
// they come there.
type validSums struct {
	layer interface {
		Layer
		over(worker, x, y, n, from int)
		TileOf(worker int, pix []byte, pixelBytes, pixStride, x, y, n, rows int)
	}
	shift float32
}

func (s *validSums) tile(worker int, pix []byte, size, x, y, n, rows int) {
	s.layer.TileOf(worker, pix, size, n, x, y, n, rows)
}

// ValidTables is Valid for tables of types.
type ValidTables[S, Q kernel.Sum] struct {
	Valid
	Sum     Target[S]
	Squares Target[Q]

	sumLayer    Sums[S]
	squareLayer Sums[Q]
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
func (t *ValidTables[S, Q]) Find(level kernel.Level, squares bool) (forSums, forSquares bool) {
	t.level, t.squared = level, squares
	t.counts.Find(pairs.U8, level, false)
	return t.sumLayer.Find(t.Src.Type, level, false), !squares || t.squareLayer.Find(t.Src.Type, level, true)
}

// Shift is what to take away from every pixel, see [Job.Shift].
func (t *ValidTables[S, Q]) Shift(offset float32, plain bool) (err error) {
	if err = CheckOffset[S](t.Src.Type, offset); err == nil {
		t.Sum.Offset, t.Squares.Offset, err = t.offsets(offset, plain)
	}
	return err
}

func (l *Valid) offsets(given float32, plain bool) (sums, squares float32, err error) {
	if !l.Src.Type.Float() {
		if given != 0 {
			err = grid.Types("an offset is for float pixels where only some are valid, not for %v", l.Src.Type)
		}
		return given, 0, err
	}
	if !l.squared {
		return given, 0, nil
	}
	if given == 0 && !plain {
		mask := &l.Mask
		if mask.Pix == nil {
			mask = nil
		}
		given = l.Src.center(mask)
	}
	return given, given, nil
}

// Aim is the layer, aimed at the tables, and how to cut the work.
func (t *ValidTables[S, Q]) Aim(set *Settings) (*Valid, Plan) {
	t.sumLayer.Aim(nil, &t.Sum)
	t.counts.Aim(nil, &t.Count)
	t.fill = t.Sum.Offset
	t.sums = validSums{layer: &t.sumLayer, shift: t.Sum.shift()}
	bytes := grid.SizeOf[S]() + grid.SizeOf[uint32]()
	if t.squared {
		t.squareLayer.Aim(nil, &t.Squares)
		t.squares = validSums{layer: &t.squareLayer, shift: t.Squares.shift()}
		bytes += grid.SizeOf[Q]()
	}
	if t.forget == nil { // once, for it is allocated
		t.forget = func() { t.Sum, t.Squares = Target[S]{}, Target[Q]{} }
	}
	return &t.Valid, workOf(&t.Src.Extent, t.Src.Type.Bytes(), bytes, set.workers).Plan()
}

// Prepare implements [Layer].
func (l *Valid) Prepare(p *Plan) error {
	l.selector = kernel.NewSelector(l.Src.Type, l.level, l.Mask.Pix != nil, l.NaN, l.fill)
	l.workers = Workers(l.workers, p.Workers)
	n := l.group(p.TileWidth) * p.TileWidth
	for i := range l.workers[:p.Workers] {
		w := &l.workers[i]
		w.pixels, w.valid, w.mask = AtLeast(w.pixels, n*l.Src.Type.Bytes()), AtLeast(w.valid, n), AtLeast(w.mask, p.TileWidth)
		w.row.Ahead, w.row.MaskAhead = aheadRows*l.Src.Stride, aheadRows*l.Mask.Stride
		w.row.NaN = l.NaN
	}
	if err := l.sums.layer.Prepare(p); err != nil {
		return err
	}
	if l.squared {
		if err := l.squares.layer.Prepare(p); err != nil {
			return err
		}
	}
	return l.counts.Prepare(p)
}

func (l *Valid) exact() bool { return false }

func (l *Valid) over(worker, x, y, n, from int) {
	l.sums.layer.over(worker, x, y, n, from)
	l.counts.over(worker, x, y, n, from)
	if l.squared {
		l.squares.layer.over(worker, x, y, n, from)
	}
}

// Tile implements [Layer].
func (l *Valid) Tile(worker, x, y, n, rows int) {
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
		if l.sums.shift != 0 {
			Shifted(w.pixels, w.pixels, pixel, n, n, rows, l.sums.shift)
		}
		l.sums.tile(worker, w.pixels, size, x, y, n, rows)
		if l.squared {
			if l.squares.shift != 0 && l.sums.shift == 0 { // whose kernel has done it for itself
				Shifted(w.pixels, w.pixels, pixel, n, n, rows, l.squares.shift)
			}
			l.squares.tile(worker, w.pixels, size, x, y, n, rows)
		}
		l.counts.TileOf(worker, w.valid, 1, n, x, y, n, rows)
	}
}

// maskRow is the mask of n elements of a row.
func (l *Valid) maskRow(w *validWorker, x, y, n int) []uint8 {
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
func (l *Valid) Finish() {}

// Release implements [Layer].
func (l *Valid) Release() int {
	l.Src, l.Mask, l.Count = Raw{}, Source[uint8]{}, Target[uint32]{}
	bytes := l.sums.layer.Release() + l.counts.Release()
	if l.squares.layer != nil {
		bytes += l.squares.layer.Release()
	}
	l.forget()
	for i := range l.workers {
		w := &l.workers[i]
		w.row = kernel.Selection{}
		bytes += Bytes(w.pixels) + Bytes(w.valid) + Bytes(w.mask)
	}
	return bytes
}
