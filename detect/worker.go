package detect

import (
	"cmp"
	"image"
	"math/bits"
	"slices"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/cascades"
	"github.com/boxsum/boxsum/internal/objects"
)

const (
	// chunk is the number of adjacent windows that go through the first stages together.
	chunk = 128
	// groupLanes is the number of windows in a queued group.
	groupLanes = 8
	// batch is the maximum number of groups queued for a stage.
	batch = 64
)

// A worker searches one band at a time.
type worker struct {
	search  *search
	view    int
	cascade *Cascade // the cascade of the current view
	program *program
	layer   *layer
	index   int32
	top     int // row of the layer at which the tables start
	own     int // first row of windows; the row above it belongs to another band

	table []uint32
	blend []int16 // two rows of the image, to interpolate between
	pix   []uint8

	diagonals [4][]uint32 // diagonal sums of tilted tables: from the left and from the right, of pixels and of squares
	lines     [2]digital  // state of tables along digital lines, of pixels and of squares

	row     cascades.Groups   // windows of a chunk
	queues  []cascades.Groups // windows waiting for a stage
	results []uint32          // of groups
	skips   [bandRows]uint64
	spans   [bandRows][2]int // searched window columns, by row
	beside  [][2]int32       // positions of windows next to those found
	ignored [][2]int32       // windows that passed but that Options.Ignore excludes, of one view and band
	norms   [cascades.Slack]float32

	// deviations holds the norms of the band's windows, row by row, for the chunks marked
	// as known. Views rotated by quarter turns share them. Flat windows are rejected for
	// all views.
	deviations []float32
	known      []bool
	// seen and marks hold the marks of the band's windows, where known, and of a chunk:
	// see shared.go.
	seen, marks []uint8 // of the band, and of a chunk
	read        []bool

	// flat has one bit per window of a chunk. It is a field because kernels are called
	// through variables, and the compiler would allocate a local array on the heap.
	flat [chunk / 64]uint64

	candidates, misses []candidate
}

func (w *worker) bytes() int {
	n := engine.Bytes(w.table) + engine.Bytes(w.blend) + engine.Bytes(w.pix) + engine.Bytes(w.candidates) + engine.Bytes(w.misses) + engine.Bytes(w.beside) + engine.Bytes(w.ignored) + engine.Bytes(w.deviations) + engine.Bytes(w.known) + engine.Bytes(w.seen) + engine.Bytes(w.read)
	for _, d := range w.diagonals {
		n += engine.Bytes(d)
	}
	for i := range w.queues {
		n += engine.Bytes(w.queues[i].Places) + engine.Bytes(w.queues[i].Alive) + engine.Bytes(w.queues[i].Norms)
	}
	return n
}

// prepare allocates memory for a search.
func (w *worker) prepare(s *search) {
	w.search = s
	c := s.views[0].cascade
	p := &s.views[0].programs[1]
	if c.lattice != nil {
		p = &s.views[0].lattice[0]
	}
	for i := range w.diagonals {
		if c.diagonal || c.tilted && i < 2 {
			w.diagonals[i] = engine.AtLeast(w.diagonals[i], s.width+p.rows+2)
		}
	}
	w.table = engine.AtLeast(w.table, p.tables(c.tables()))
	w.blend = engine.AtLeast(w.blend, s.src.Width+cascades.Slack)
	w.pix = engine.AtLeast(w.pix, s.width+cascades.Slack)
	if lanes := cascades.LanesOf(s.set.Level); w.row.Lanes != lanes {
		w.row = cascades.NewGroups(lanes, chunk/lanes+1)
	}
	left := false // whether a view depends on marks
	for i := range s.views {
		left = left || s.views[i].between != 0
	}
	windows, chunks := 0, 0
	for i := range s.layers {
		if l := &s.layers[i]; len(s.views) > 1 || left {
			rows := bandRows / l.step
			windows, chunks = max(windows, rows*deviationStride(l.columns)), max(chunks, rows*l.chunks())
		}
	}
	if c.kind == Haar {
		w.deviations, w.known = engine.AtLeast(w.deviations, windows+2*chunk), engine.AtLeast(w.known, chunks)
	}
	if left {
		w.seen, w.read = engine.AtLeast(w.seen, windows), engine.AtLeast(w.read, chunks)
	}
	w.results = engine.AtLeast(w.results, 2*batch)
	for len(w.queues) < len(c.stages) {
		w.queues = append(w.queues, cascades.NewGroups(groupLanes, 2*batch))
	}
	for i := range w.queues {
		w.queues[i].Resize(0)
	}
	w.candidates, w.misses = w.candidates[:0], w.misses[:0]
}

// band searches rows of windows of one layer. It processes chunks column by column, so
// that their part of the table stays in the L1 cache.
func (w *worker) band(s *search, b *band) {
	l := &s.layers[b.layer]
	w.layer, w.index = l, int32(b.layer)
	made := false
	var box image.Point // size of the windows whose norms are known
	for i := range s.views {
		v := &s.views[i]
		if !w.reach(v.cascade, b) {
			continue
		}
		if !made {
			w.integrate(b)
			made = true
		}
		w.view, w.cascade, w.program = i, v.cascade, v.program(l)
		if box != v.cascade.box() {
			box = v.cascade.box()
			clear(w.known)
			clear(w.read)
		}
		before := len(w.candidates)
		w.ignored = w.ignored[:0]
		w.skips = [bandRows]uint64{}
		for x := 0; x < l.columns; x += chunk {
			for y := range b.rows {
				from, to := max(x, w.spans[y][0]), min(x+chunk, w.spans[y][1])
				if from >= to || v.between != 0 && !w.marked(v, b, y, from, to) {
					w.skips[y] = 0 // the row has not been searched
					continue
				}
				at := ((b.first+y)*l.step-w.top)*w.program.stride + from
				if v.cascade.kind == Haar {
					w.normalize(at, to-from, y, x/chunk)
				}
				w.skips[y] = w.scan(at, to-from, w.skips[y])
			}
		}
		w.drainAll()
		if l.refine {
			w.refine(v, before)
		}
	}
}

// reach sets the window columns to search in each row, and reports whether there are any.
func (w *worker) reach(c *Cascade, b *band) (any bool) {
	l := w.layer
	for y := range b.rows {
		w.spans[y] = [2]int{0, l.columns}
		if t := w.search.turning; t != nil {
			w.spans[y] = t.span(c, l, (b.first+y)*l.step)
		}
		any = any || w.spans[y][0] < w.spans[y][1]
	}
	return any
}

// drainAll runs all queued windows through their stages.
func (w *worker) drainAll() {
	for k := range w.cascade.stages {
		w.drain(k, 1)
	}
}

// refine searches the windows next to those found in a view, between the positions already
// searched.
func (w *worker) refine(v *view, from int) {
	l, size := w.layer, v.cascade.size
	w.beside = w.beside[:0]
	around := func(at [2]int32) {
		half := int32(l.step / 2)
		for dy := -half; dy <= half; dy += half {
			for dx := -half; dx <= half; dx += half {
				x, y := at[0]+dx, at[1]+dy
				if (dx != 0 || dy != 0) && x >= 0 && y >= 0 && int(x)+size.X <= l.width && int(y)+size.Y <= l.height {
					w.beside = append(w.beside, [2]int32{x, y})
				}
			}
		}
	}
	for _, f := range w.candidates[from:] {
		around([2]int32{f.x, f.y})
	}
	for _, at := range w.ignored { // windows next to them may not be excluded
		around(at)
	}
	// Sort by program, then by row, and within rows from left to right.
	slices.SortFunc(w.beside, func(a, b [2]int32) int {
		_, p := v.programAt(a[0], a[1])
		_, q := v.programAt(b[0], b[1])
		return cmp.Or(cmp.Compare(p, q), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
	})
	w.beside = slices.Compact(w.beside)
	for i := 0; i < len(w.beside); {
		at := w.beside[i]
		if p, _ := v.programAt(at[0], at[1]); w.program != p {
			w.drainAll()
			w.program = p
		}
		// A group consists of this window and those at the next seven positions.
		alive := uint32(0)
		for ; i < len(w.beside); i++ {
			next := w.beside[i]
			lane := (next[0] - at[0]) / int32(l.step)
			if next[1] != at[1] || lane >= groupLanes || lane < 0 || (next[0]-at[0])%int32(l.step) != 0 {
				break
			}
			alive |= 1 << lane
		}
		place := (int(at[1])-w.top)*w.program.stride + int(at[0])/l.step
		q := &w.queues[0]
		n := len(q.Places)
		q.Resize(n + 1)
		q.Places[n] = int32(place)
		if v.cascade.kind == Haar {
			norms := w.norms[:groupLanes]
			cascades.HaarNorms(w.search.set.Level, norms, &w.program.norm, w.table[place:])
			copy(q.Norms[n*groupLanes:], norms)
			for lane, norm := range norms {
				if norm == 0 {
					alive &^= 1 << lane
				}
			}
		}
		q.Alive[n] = alive
		w.drain(0, batch)
	}
	w.drainAll()
}

// integrate computes the tables of a band.
func (w *worker) integrate(b *band) {
	c := w.search.views[0].cascade
	l, p := w.layer, w.search.views[0].program(w.layer)
	w.top, w.own = b.first*l.step, b.first*l.step
	bottom := w.top + (b.rows-1)*l.step + c.size.Y
	if l.refine {
		above := 1
		if c.lattice != nil {
			above = l.step // keep its lines aligned like those of other bands
		}
		w.top, bottom = max(w.top-above, 0), min(bottom+l.step/2, l.height)
	}
	var tables [4][]uint32
	for i := range c.tables() {
		tables[i] = w.table[i*p.rows*p.stride:]
		if c.lattice != nil {
			clear(tables[i][:p.stride])
			continue
		}
		for _, at := range [2]int{0, p.half} {
			clear(tables[i][at:][:l.width+1])
		}
	}
	for _, d := range w.diagonals {
		clear(d)
	}
	if c.lattice != nil {
		for i := range w.lines {
			w.lines[i].start(l.width)
		}
	}
	for y := range bottom - w.top {
		pix := w.pixels(w.top + y)
		above, here := y*p.stride, (y+1)*p.stride
		sums, squares := tables[sumTable], tables[squareTable]
		if c.lattice != nil {
			w.latticeRow(y, pix)
			continue
		}
		if c.diagonal {
			w.tiltedRow(sums[here:], sums[above:], pix, y, 0)
			w.tiltedRow(squares[here:], squares[above:], pix, y, 1)
			continue
		}
		cascades.Row(w.search.set.Level, sums[here:], squares[here:], sums[above:], squares[above:], pix, p.half)
		if c.tilted {
			tilted := tables[tiltedTable]
			w.tiltedRow(tilted[here:], tilted[above:], pix, y, 0)
		}
	}
}

// tiltedRow computes row y of a tilted table of the band: of pixels, or of squares if
// squares is 1.
func (w *worker) tiltedRow(tilted, above []uint32, pix []uint8, y, squares int) {
	p := w.search.views[0].program(w.layer)
	down, up := w.diagonals[2*squares], w.diagonals[2*squares+1]
	cascades.TiltedRow(w.search.set.Level, tilted, above, down[p.rows-y:], up[y:], pix, p.half, squares == 1)
}

// pixels returns a row of pixels of the layer.
func (w *worker) pixels(y int) []uint8 {
	pix := w.resized(y)
	if t := w.search.turning; t != nil && t.mirrored {
		to := w.pix[:len(pix)]
		copy(to, pix)
		slices.Reverse(to)
		return to
	}
	return pix
}

// resized interpolates a row of the layer from the image.
func (w *worker) resized(y int) []uint8 {
	s, l := w.search, w.layer
	src := &s.src
	if l.width == src.Width && l.height == src.Height {
		return src.Pix[y*src.Stride:][:src.Width]
	}
	place, part := objects.Source(src.Height, l.height, y)
	below := min(place+1, src.Height-1)
	row := w.blend[:src.Width+1]
	cascades.BlendRows(s.set.Level, row[:src.Width], src.Pix[place*src.Stride:][:src.Width], src.Pix[below*src.Stride:][:src.Width], part)
	row[src.Width] = 0
	pix := w.pix[:l.width]
	if l.width == src.Width {
		for x := range pix {
			pix[x] = uint8((int(row[x]) + 1<<15 + 128) >> 8)
		}
		return pix
	}
	cascades.BlendColumns(s.set.Level, pix, row, s.places[l.first:][:l.width], s.parts[l.first:][:l.width])
	return pix
}

// deviationStride returns the distance between rows of norms. Kernels write past the last
// column.
func deviationStride(columns int) int { return columns + cascades.Slack }

// chunks returns the number of chunks in a row of windows.
func (l *layer) chunks() int { return (l.columns + chunk - 1) / chunk }

// normalize computes the norms of a chunk in a row of the band, unless they are known.
func (w *worker) normalize(at, n, row, x int) {
	l := w.layer
	if len(w.search.views) == 1 {
		w.row.Norms = w.deviations
	} else {
		w.row.Norms = w.deviations[row*deviationStride(l.columns)+x*chunk:]
		known := &w.known[row*l.chunks()+x]
		if *known {
			return
		}
		*known = true
	}
	cascades.HaarNorms(w.search.set.Level, w.row.Norms[:n], &w.program.norm, w.table[at:])
}

// scan searches adjacent windows of a row, the first of which is at the given table
// offset. skip tells whether to skip the first window, and the result tells the same for
// the window after the last.
func (w *worker) scan(at, n int, skip uint64) uint64 {
	c, level := w.cascade, w.search.set.Level
	g := &w.row
	g.Resize((n + g.Lanes - 1) / g.Lanes)
	w.flat = [chunk / 64]uint64{}
	if c.kind == Haar {
		cascades.Flat(level, w.flat[:(n+63)/64], g.Norms[:n])
	}
	if bits := w.search.views[w.view].between; bits != 0 {
		for i := 0; i < n; i += 64 {
			w.flat[i/64] |= unmarked(w.marks[i:min(i+64, n)], bits)
		}
	}
	perWord := 64 / g.Lanes
	lanes := uint64(1)<<g.Lanes - 1
	for i := range g.Places {
		g.Places[i] = int32(at + i*g.Lanes)
		all := lanes
		if rest := n - i*g.Lanes; rest < g.Lanes {
			all = 1<<rest - 1
		}
		g.Alive[i] = uint32(all &^ (w.flat[i/perWord] >> (i % perWord * g.Lanes)))
	}
	results := w.evaluate(0, g)
	left := 0
	for i := 0; i < len(g.Places); i += perWord {
		var passed, skipped uint64
		word := results[i:min(i+perWord, len(g.Places))]
		for j, r := range word {
			passed |= uint64(r) << (j * g.Lanes)
		}
		all := ^uint64(0)
		if rest := n - i*g.Lanes; rest < 64 {
			all = 1<<rest - 1
		}
		skipped, skip = skips(all&^(passed|w.flat[i/perWord]), skip)
		for j := range word {
			g.Alive[i+j] &^= uint32(skipped >> (j * g.Lanes) & lanes)
			word[j] &= g.Alive[i+j]
			left += bits.OnesCount32(word[j])
		}
	}
	// As long as many windows are left, test all windows of the chunk together.
	for k := 0; ; {
		w.keepPassed(k, g, results)
		if k++; left == 0 || k == len(c.stages) {
			return skip
		}
		if left*dense < n {
			w.enqueue(k, g)
			return skip
		}
		results = w.evaluate(k, g)
		left = 0
		for _, r := range results {
			left += bits.OnesCount32(r)
		}
	}
}

// dense is the minimum share of its windows, as 1/dense, that a chunk must have left to
// run a stage by itself. With fewer left, it queues them.
const dense = 2

// skips marks the windows that OpenCV skips after a rejection. The carry from the
// previous word, and to the next one, is in the lowest bit.
func skips(rejected, before uint64) (skipped, next uint64) {
	// This works like finding characters that follow an odd number of backslashes: an
	// addition carries through each run of rejected windows.
	const even = 0x5555555555555555
	rejected &^= before
	follows := rejected<<1 | before
	odd := rejected &^ even &^ follows // runs that start at odd positions
	sum, next := bits.Add64(odd, rejected, 0)
	return (even ^ sum<<1) & follows, next
}

// evaluate returns, for each group, the bits of the windows that pass stage k.
func (w *worker) evaluate(k int, g *cascades.Groups) []uint32 {
	st, level := &w.program.stages[k], w.search.set.Level
	results := w.results[:len(g.Places)]
	switch {
	case st.exact:
		copy(results, g.Alive) // recompute all windows
	case w.cascade.kind == LBP:
		cascades.LBPStumps(level, results, g, w.table, w.program.lbpNodes[st.nodes.first:st.nodes.end], &st.sums)
	case st.chains:
		cascades.HaarChains(level, results, g, w.table, w.program.haarNodes[st.nodes.first:st.nodes.end], &st.sums)
	default:
		cascades.HaarStumps(level, results, g, w.table, w.program.haarNodes[st.nodes.first:st.nodes.end], st.twos, &st.sums)
	}
	threshold := float64(w.cascade.stages[k].threshold)
	for i, r := range results {
		for doubt := r &^ (r >> 16) & 0xffff; doubt != 0; doubt &= doubt - 1 {
			lane := bits.TrailingZeros32(doubt)
			if w.sum(k, g, i, lane) < threshold {
				r &^= 1 << lane
			}
		}
		results[i] = r & 0xffff
	}
	return results
}

// sum returns the sum of stage k in a window, as OpenCV computes it.
func (w *worker) sum(k int, g *cascades.Groups, i, lane int) float64 {
	norm := float32(0)
	if w.cascade.kind == Haar {
		norm = g.Norms[i*g.Lanes+lane]
	}
	return w.program.sum(k, w.table, int(g.Places[i])+lane, norm)
}

// keepPassed removes the windows that do not pass stage k, and reports those that end
// there.
func (w *worker) keepPassed(k int, g *cascades.Groups, passed []uint32) {
	stages := len(w.cascade.stages)
	if last := k+1 == stages; last || k >= stages-w.search.opt.NearMisses {
		for i, alive := range g.Alive {
			for ; alive != 0; alive &= alive - 1 {
				lane := bits.TrailingZeros32(alive)
				ok := passed[i]>>lane&1 != 0
				if ok && last || !ok && w.search.opt.NearMisses > 0 {
					w.report(k, ok, int(g.Places[i])+lane, w.sum(k, g, i, lane))
				}
			}
		}
	}
	copy(g.Alive, passed)
	if marks := w.search.views[w.view].marks; marks != 0 && k+1 == min(markStages, stages) {
		for i, alive := range passed {
			for ; alive != 0; alive &= alive - 1 {
				at := int(g.Places[i]) + bits.TrailingZeros32(alive)
				w.search.turning.mark(w.cascade, w.layer, w.program.column(at), at/w.program.stride+w.top, marks)
			}
		}
	}
}

// marked reads the marks of a chunk in a row of the band, unless they are known. It
// reports whether any window has a mark on which the view depends.
func (w *worker) marked(v *view, b *band, row, from, to int) bool {
	l := w.layer
	x := from / chunk
	seen := w.seen[row*l.columns+from:][:to-from]
	if read := &w.read[row*l.chunks()+x]; !*read {
		*read = true
		t, y := w.search.turning, (b.first+row)*l.step
		x0, y0 := t.back(v.cascade.middle(l, from*l.step, y))
		x1, y1 := t.back(v.cascade.middle(l, (from+1)*l.step, y))
		w.search.marks.read(seen, l.level, x0, y0, x1-x0, y1-y0)
	}
	w.marks = seen
	for ; len(seen) > 0; seen = seen[min(64, len(seen)):] {
		if n := min(64, len(seen)); unmarked(seen[:n], v.between) != 1<<n-1 {
			return true
		}
	}
	return false
}

// enqueue queues the windows of a chunk for stage k.
func (w *worker) enqueue(k int, g *cascades.Groups) {
	q := &w.queues[k]
	next := 0 // first window that is not in a group yet
	for i, alive := range g.Alive {
		from := i * g.Lanes
		for {
			if from < next {
				alive &^= 1<<min(next-from, 31) - 1
			}
			if alive == 0 {
				break
			}
			// A group starts at its first window. The remaining windows may lie beyond
			// the end of this group.
			lane := bits.TrailingZeros32(alive)
			bitsOf := alive >> lane
			if i+1 < len(g.Alive) {
				bitsOf |= g.Alive[i+1] << (g.Lanes - lane)
			}
			n := len(q.Places)
			q.Resize(n + 1)
			q.Places[n], q.Alive[n] = g.Places[i]+int32(lane), bitsOf&(1<<groupLanes-1)
			copy(q.Norms[n*groupLanes:], g.Norms[from+lane:cap(g.Norms)])
			next = from + lane + groupLanes
		}
	}
	w.drain(k, batch)
}

// drain runs the groups queued for stage k through it, in batches, as long as the queue
// holds at least the given number of groups.
func (w *worker) drain(k, least int) {
	q := &w.queues[k]
	for len(q.Places) >= least {
		from := max(0, len(q.Places)-batch)
		g := cascades.Groups{Lanes: q.Lanes, Places: q.Places[from:], Alive: q.Alive[from:], Norms: q.Norms[from*q.Lanes:]}
		w.keepPassed(k, &g, w.evaluate(k, &g))
		q.Resize(from)
		if k+1 == len(w.cascade.stages) {
			continue
		}
		to := &w.queues[k+1]
		n := len(to.Places)
		to.Resize(n + len(g.Places))
		for i, alive := range g.Alive {
			if alive == 0 {
				continue
			}
			to.Places[n], to.Alive[n] = g.Places[i], alive
			copy(to.Norms[n*groupLanes:][:groupLanes], g.Norms[i*groupLanes:])
			n++
		}
		to.Resize(n)
		w.drain(k+1, batch)
	}
}

// report records that a window ends in stage k with the given sum.
func (w *worker) report(k int, passed bool, at int, sum float64) {
	s := w.search
	if !passed && k < len(w.cascade.stages)-s.opt.NearMisses {
		return
	}
	y, x := at/w.program.stride+w.top, w.program.column(at)
	found := candidate{view: int32(w.view), layer: w.index, x: int32(x), y: int32(y), stage: int32(k), score: sum, rect: w.layer.rect(x, y)}
	if s.turning != nil && !s.turning.place(&found, w.layer) {
		return
	}
	middle := found.rect.Min.Add(found.rect.Max).Div(2)
	for _, r := range s.opt.Ignore {
		if middle.In(r) {
			if passed && w.layer.refine {
				w.ignored = append(w.ignored, [2]int32{found.x, found.y})
			}
			return
		}
	}
	if y >= w.own && s.found.Add(1) > int64(s.opt.Limit) {
		return
	}
	if passed {
		found.stage++
		w.candidates = append(w.candidates, found)
	} else {
		w.misses = append(w.misses, found)
	}
}
