package detect

import (
	"math/bits"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
)

const (
	// chunk is how many neighbouring windows go through a stage at a time: so many that
	// their part of the table stays in the nearest cache.
	chunk = 128
	// batch is how many windows of a list do.
	batch = 256
)

// A worker searches a band at a time.
type worker struct {
	search  *search
	program *program
	layer   *layer
	index   int32
	first   int // row of windows in the layer

	table    []uint32
	row      []int16 // two rows of the image, blended
	pix      []uint8
	down, up []uint32 // diagonals of tilted tables

	downSquares, upSquares []uint32

	sums   []float64
	norms  []float32
	values []float32 // of the nodes of a tree
	queues []queue   // windows that wait for a stage

	// A bit for each window: of a row, and of those that waited. Kernels are called through
	// variables, so that arrays of the stack would go to the heap.
	flat, passed [chunk / 64]uint64
	drained      [batch / 64]uint64

	candidates, misses []candidate
}

// A queue is windows by their places in the table.
type queue struct {
	at    []int32
	norms []float32
}

func (q *queue) add(at int32, norm float32) { q.at, q.norms = append(q.at, at), append(q.norms, norm) }

func (w *worker) bytes() int {
	n := engine.Bytes(w.table) + engine.Bytes(w.row) + engine.Bytes(w.pix) + engine.Bytes(w.down) + engine.Bytes(w.up) + engine.Bytes(w.downSquares) + engine.Bytes(w.upSquares) +
		engine.Bytes(w.values) + engine.Bytes(w.candidates) + engine.Bytes(w.misses)
	for i := range w.queues {
		n += engine.Bytes(w.queues[i].at) + engine.Bytes(w.queues[i].norms)
	}
	return n
}

// prepare gets memory for a search.
func (w *worker) prepare(s *search) {
	w.search = s
	c := s.cascade
	if c.diagonal {
		w.downSquares = engine.AtLeast(w.downSquares, s.src.Width+2)
		w.upSquares = engine.AtLeast(w.upSquares, s.src.Width+2)
	}
	if c.tilted || c.diagonal {
		w.down = engine.AtLeast(w.down, s.src.Width+2)
		w.up = engine.AtLeast(w.up, s.src.Width+2)
	}
	w.table = engine.AtLeast(w.table, s.programs[0].tables(c.tables()))
	w.row = engine.AtLeast(w.row, s.src.Width+kernel.CascadeSlack)
	w.pix = engine.AtLeast(w.pix, s.src.Width+kernel.CascadeSlack)
	w.sums = engine.AtLeast(w.sums, batch+kernel.CascadeSlack)
	w.norms = engine.AtLeast(w.norms, chunk+kernel.CascadeSlack)
	nodes := 0
	for _, t := range c.trees {
		nodes = max(nodes, t.nodes.len())
	}
	w.values = engine.AtLeast(w.values, nodes*(batch+kernel.CascadeSlack))
	for len(w.queues) < len(c.stages) {
		w.queues = append(w.queues, queue{
			at:    grid.OnLine(make([]int32, 3*batch), 3*batch-16, 0),
			norms: grid.OnLine(make([]float32, 3*batch), 3*batch-16, 0),
		})
	}
	for i := range w.queues {
		q := &w.queues[i]
		q.at, q.norms = q.at[:0], q.norms[:0]
	}
	w.candidates, w.misses = w.candidates[:0], w.misses[:0]
}

// band searches rows of windows of one layer.
func (w *worker) band(s *search, b *band) {
	w.layer, w.index, w.first = &s.layers[b.layer], int32(b.layer), b.first
	w.program = &s.programs[w.layer.step-1]
	w.integrate(b)
	for y := range b.rows {
		w.scan(y * w.layer.step * w.program.stride)
	}
	for k := range s.cascade.stages {
		w.drain(k, 1)
	}
}

// integrate makes the tables of a band.
func (w *worker) integrate(b *band) {
	l, p := w.layer, w.program
	top, rows := b.first*l.step, (b.rows-1)*l.step+w.search.cascade.size.Y
	var tables [3][]uint32
	for i := range w.search.cascade.tables() {
		tables[i] = w.table[i*p.rows*p.stride:]
		for _, at := range [2]int{0, p.half} {
			clear(tables[i][at:][:l.width+1])
		}
	}
	for _, diagonals := range [][]uint32{w.down, w.up, w.downSquares, w.upSquares} {
		clear(diagonals)
	}
	for y := range rows {
		pix := w.pixels(top + y)
		above, here := y*p.stride, (y+1)*p.stride
		sums, squares := tables[sumTable], tables[squareTable]
		if w.search.cascade.diagonal {
			diagonalRow(sums[here:], sums[above:], w.down, w.up, pix, p.half, false)
			diagonalRow(squares[here:], squares[above:], w.downSquares, w.upSquares, pix, p.half, true)
			continue
		}
		kernel.CascadeRow(w.search.set.Level, sums[here:], squares[here:], sums[above:], squares[above:], pix, p.half)
		if w.search.cascade.tilted {
			tilted := tables[tiltedTable]
			kernel.TiltedCascadeRow(tilted[here:], tilted[above:], w.down, w.up, pix, p.half)
		}
	}
}

// pixels is a row of the layer.
func (w *worker) pixels(y int) []uint8 {
	s, l := w.search, w.layer
	src := &s.src
	if l.width == src.Width && l.height == src.Height {
		return src.Pix[y*src.Stride:][:src.Width]
	}
	place, part := axis(src.Height, l.height, y)
	below := min(place+1, src.Height-1)
	row := w.row[:src.Width+1]
	kernel.BlendRows(s.set.Level, row[:src.Width], src.Pix[place*src.Stride:][:src.Width], src.Pix[below*src.Stride:][:src.Width], part)
	row[src.Width] = 0
	pix := w.pix[:l.width]
	if l.width == src.Width {
		for x := range pix {
			pix[x] = uint8((int(row[x]) + 1<<15 + 128) >> 8)
		}
		return pix
	}
	kernel.BlendColumns(s.set.Level, pix, row, s.places[l.first:][:l.width], s.parts[l.first:][:l.width])
	return pix
}

// scan searches a row of windows, whose first is at that place of the table.
func (w *worker) scan(row int) {
	s, c := w.search, w.search.cascade
	level, haar := s.set.Level, c.kind == Haar
	skip := uint64(0) // the next window is left out
	for x := 0; x < w.layer.columns; x += chunk {
		n := min(chunk, w.layer.columns-x)
		at := row + x
		norms, sums := w.norms[:n], w.sums[:n]
		table := w.table[at:]
		var alive [chunk / 64]uint64
		flat, passed := &w.flat, &w.passed
		*flat, *passed = [chunk / 64]uint64{}, [chunk / 64]uint64{}
		words := (n + 63) / 64
		if haar {
			kernel.HaarNorms(level, norms, &w.program.norm, table)
			kernel.Flat(level, flat[:words], norms)
		}
		w.stage(0, sums, table, nil, norms)
		kernel.Passed(level, passed[:words], sums, c.stages[0].threshold)
		left := 0
		for i := range words {
			all := ^uint64(0)
			if rest := n - 64*i; rest < 64 {
				all = 1<<rest - 1
			}
			var skipped uint64
			skipped, skip = skips(all&^(passed[i]|flat[i]), skip)
			alive[i] = all &^ (skipped | flat[i])
			left += bits.OnesCount64(alive[i])
		}
		// From here on, all windows of the chunk, while many of them are left.
		for k := 0; ; {
			left = w.keep(k, alive[:words], passed[:words], sums, at)
			if k++; left == 0 || k == len(c.stages) {
				break
			}
			if left*dense[min(int(level), 1)] < n {
				w.enqueue(k, alive[:words], norms, at)
				break
			}
			w.stage(k, sums, table, nil, norms)
			kernel.Passed(level, passed[:words], sums, c.stages[k].threshold)
		}
	}
}

// dense is how many neighbours cost as much as one window of a list, in portable Go and in
// vectors.
var dense = [2]int{1, 3}

// skips is the windows that are left out because the one before was looked at and rejected.
// A skip from the word before comes and goes in the lowest bit.
func skips(rejected, before uint64) (skipped, next uint64) {
	// As one finds characters that follow an odd number of backslashes: an addition carries
	// through each run of rejected windows.
	const even = 0x5555555555555555
	rejected &^= before
	follows := rejected<<1 | before
	odd := rejected &^ even &^ follows // runs that start at odd places
	sum, next := bits.Add64(odd, rejected, 0)
	return (even ^ sum<<1) & follows, next
}

// keep takes windows out that do not pass stage k, and those that pass it as the last. It
// tells how many are left.
func (w *worker) keep(k int, alive, passed []uint64, sums []float64, at int) (left int) {
	stages := len(w.search.cascade.stages)
	if k+1 == stages || k >= stages-w.search.opt.NearMisses {
		for i, word := range alive {
			for ; word != 0; word &= word - 1 {
				bit := bits.TrailingZeros64(word)
				j := 64*i + bit
				if ok := passed[i]>>bit&1 != 0; !ok || k+1 == stages {
					w.report(k, ok, at+j, sums[j])
				}
			}
		}
	}
	for i := range alive {
		alive[i] &= passed[i]
		left += bits.OnesCount64(alive[i])
	}
	return left
}

// enqueue lets windows wait for stage k.
func (w *worker) enqueue(k int, alive []uint64, norms []float32, at int) {
	q := &w.queues[k]
	for i, word := range alive {
		for ; word != 0; word &= word - 1 {
			j := 64*i + bits.TrailingZeros64(word)
			q.add(int32(at+j), norms[j])
		}
	}
	w.drain(k, batch)
}

// drain lets the windows of a queue through their stage, while there are that many.
func (w *worker) drain(k, least int) {
	q := &w.queues[k]
	c := w.search.cascade
	from := 0
	for len(q.at)-from >= least {
		n := min(batch, len(q.at)-from)
		at, norms, sums := q.at[from:from+n], q.norms[from:from+n], w.sums[:n]
		from += n
		w.stage(k, sums, w.table, at, norms)
		passed := &w.drained
		*passed = [batch / 64]uint64{}
		kernel.Passed(w.search.set.Level, passed[:(n+63)/64], sums, c.stages[k].threshold)
		last := k+1 == len(c.stages)
		for i := range at {
			switch ok := passed[i/64]>>(i%64)&1 != 0; {
			case !ok || last:
				w.report(k, ok, int(at[i]), sums[i])
			default:
				w.queues[k+1].add(at[i], norms[i])
			}
		}
		if !last {
			w.drain(k+1, batch)
		}
	}
	rest := copy(q.at, q.at[from:])
	copy(q.norms, q.norms[from:])
	q.at, q.norms = q.at[:rest], q.norms[:rest]
}

// stage makes the sums of stage k in windows: those at places of a list, or neighbours.
func (w *worker) stage(k int, sums []float64, table []uint32, at []int32, norms []float32) {
	c, p, level := w.search.cascade, w.program, w.search.set.Level
	clear(sums)
	st := &c.stages[k]
	first, end := c.trees[st.trees.first].nodes.first, c.trees[st.trees.end-1].nodes.end
	switch {
	case st.stumps && c.kind == LBP:
		kernel.LBPStumps(level, sums, p.lbp[first:end], table, at)
		return
	case st.stumps:
		kernel.HaarStumps(level, sums, p.haar[first:end], table, at, norms)
		return
	}
	values := func(i int32) []float32 {
		if i < 0 {
			return nil
		}
		return w.values[int(i)*(batch+kernel.CascadeSlack):][:len(sums)]
	}
	for _, t := range c.trees[st.trees.first:st.trees.end] {
		for i := int32(t.nodes.len()) - 1; i >= 0; i-- { // children before parents
			j := t.nodes.first + i
			left, right := values(c.nodes[j].left), values(c.nodes[j].right)
			if c.kind == LBP {
				kernel.LBPSplit(values(i), &p.lbp[j], table, at, left, right)
			} else {
				kernel.HaarSplit(level, values(i), &p.haar[j], table, at, norms, left, right)
			}
		}
		kernel.AddLeaves(level, sums, values(0))
	}
}

// report is told how a window ends: in stage k, with that sum.
func (w *worker) report(k int, passed bool, at int, sum float64) {
	s := w.search
	if !passed && k < len(s.cascade.stages)-s.opt.NearMisses {
		return
	}
	y, x := at/w.program.stride+w.first*w.layer.step, at%w.program.stride*w.layer.step
	found := candidate{layer: w.index, x: int32(x), y: int32(y), stage: int32(k), score: sum, rect: w.layer.rect(x, y)}
	middle := found.rect.Min.Add(found.rect.Max).Div(2)
	for _, r := range s.opt.Ignore {
		if middle.In(r) {
			return
		}
	}
	if s.found.Add(1) > int64(s.opt.Limit) {
		return
	}
	if passed {
		found.stage++
		w.candidates = append(w.candidates, found)
	} else {
		w.misses = append(w.misses, found)
	}
}
