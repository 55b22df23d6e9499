package hog

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/cascades"
	"github.com/boxsum/boxsum/internal/kernel/gradients"
	"github.com/boxsum/boxsum/internal/objects"
)

// A worker looks at the windows of one band at a time. It computes each row of gradients and
// each row of blocks once, and keeps the last of them in rings: as many as a block has rows of
// pixels, and as a window has rows of blocks.
type worker struct {
	search *search
	level  *level

	// A row of the resized image: first two source rows are blended, then their columns.
	blend   []int16
	resized []uint8 // one channel after the other

	// Rows of brightness, with a column more on either side, one channel after the other.
	bright   [3][]float32
	brightOf [3]int

	// Rows of gradients, of the columns from x0 to x0+columns.
	x0, columns int
	gradient    gradients.Gradient
	gradientOf  []int
	starts      []int32   // of the rows of a block in the gradient
	dx, dy      []float32 // of one row

	// Rows of blocks, each a multiple of lattice apart. A row has a plane for each number of a
	// block, with room for stride blocks.
	lattice        image.Point
	across, stride int // blocks in a row
	blocks         []float32
	row            gradients.BlockRow
	used           []bool // columns of blocks
	windows        gradients.Windows

	// Sums of votes of each column and bin, and what the next row adds to them, see spread.
	tents, slopes []uint32

	scores []float64
	hits   []hit
}

func (w *worker) bytes() int {
	n := engine.Bytes(w.resized) + engine.Bytes(w.gradient.First) + engine.Bytes(w.gradient.Second) + engine.Bytes(w.gradient.Places) +
		engine.Bytes(w.dx) + engine.Bytes(w.dy) + engine.Bytes(w.blocks) + engine.Bytes(w.used) + engine.Bytes(w.scores) + engine.Bytes(w.hits)
	for _, rows := range w.bright {
		n += engine.Bytes(rows)
	}
	return n + engine.Bytes(w.blend) + engine.Bytes(w.tents) + engine.Bytes(w.slopes) + engine.Bytes(w.windows.Parts)
}

// memory estimates the bytes that a worker needs for a level.
func (s *search) memory(l *level) float64 {
	d := s.descriptor
	lattice, rows := s.lattice(), d.config.Window.Y
	columns := l.padded.X
	if s.at != nil {
		columns, rows = d.config.Window.X, d.config.Block.Y
	}
	across, down := (columns-d.config.Block.X)/lattice.X+1, (rows-d.config.Block.Y)/lattice.Y+1
	return float64(columns)*float64(12*d.config.Block.Y+48) + 4*float64(strideOf(across))*float64(down)*float64(d.length)
}

// strideOf returns the room for a number of blocks in a plane: kernels read and write whole vectors.
func strideOf(across int) int {
	return (across+gradients.Lanes-1)&^(gradients.Lanes-1) + gradients.Lanes
}

// lattice returns the distance between blocks that may belong to different windows.
func (s *search) lattice() image.Point {
	stride := s.descriptor.config.Stride
	if s.at != nil {
		return stride
	}
	return image.Pt(gcd(s.step.X, stride.X), gcd(s.step.Y, stride.Y))
}

const none = math.MinInt / 2 // marks an empty row of a ring

// start prepares the worker for the columns from x0 to x0+columns of a level.
func (w *worker) start(l *level, x0, columns int) {
	s := w.search
	d := s.descriptor
	w.level = l
	w.x0, w.columns = x0, columns
	w.brightOf = [3]int{none, none, none}
	for i := range w.bright {
		w.bright[i] = engine.AtLeast(w.bright[i], (columns+2)*s.colors)
	}
	if l.places >= 0 {
		w.blend = engine.AtLeast(w.blend, s.src.Width+1)
		w.resized = engine.AtLeast(w.resized, l.width*s.colors)
	}
	rows := d.config.Block.Y
	w.gradient.First = engine.AtLeast(w.gradient.First, rows*columns)
	w.gradient.Second = engine.AtLeast(w.gradient.Second, rows*columns)
	w.gradient.Places = engine.AtLeast(w.gradient.Places, rows*columns)
	w.dx, w.dy = engine.AtLeast(w.dx, columns), engine.AtLeast(w.dy, columns)
	w.gradientOf = engine.AtLeast(w.gradientOf, rows)
	for i := range w.gradientOf {
		w.gradientOf[i] = none
	}
	w.lattice = s.lattice()
	w.across = (columns-d.config.Block.X)/w.lattice.X + 1
	w.stride = strideOf(w.across)
	w.row.Pixels, w.row.Lattice, w.row.Bins, w.row.Cells, w.row.Stride = d.pixels, w.lattice.X, d.config.Bins, d.cells.X*d.cells.Y, w.stride
	w.row.Offsets = engine.AtLeast(w.row.Offsets, len(d.pixels))
}

// band looks at rows of windows.
func (w *worker) band(b *band) {
	s := w.search
	d, l := s.descriptor, &s.levels[b.level]
	w.start(l, 0, l.padded.X)
	ring := (d.config.Window.Y-d.config.Block.Y)/w.lattice.Y + 1
	w.blocks = engine.AtLeast(w.blocks, ring*w.stride*d.length)
	w.use(l)
	// next is the first row of blocks that has not been computed.
	next := b.first * s.step.Y / w.lattice.Y
	for y := b.first; y < b.end; y++ {
		top := y * s.step.Y / w.lattice.Y
		for next = max(next, top); next < top+ring; next++ {
			if w.needs(next, b) {
				w.blockRow(next*w.lattice.Y, w.blocks[next%ring*w.stride*d.length:])
			}
		}
		w.windowRow(l, b.level, y, top, ring)
	}
}

// use marks the columns of blocks that windows use.
func (w *worker) use(l *level) {
	s := w.search
	d := s.descriptor
	w.used = engine.Zeros(w.used, w.across)
	for x := range l.count.X {
		for b := range d.blocks.X {
			w.used[(x*s.step.X+b*d.config.Stride.X)/w.lattice.X] = true
		}
	}
}

// needs reports whether any window of the band has blocks in a row.
func (w *worker) needs(row int, b *band) bool {
	s := w.search
	d := s.descriptor
	for k := range d.blocks.Y {
		y := row*w.lattice.Y - k*d.config.Stride.Y
		if y >= 0 && y%s.step.Y == 0 && y/s.step.Y >= b.first && y/s.step.Y < b.end {
			return true
		}
	}
	return false
}

// windowRow looks at a row of windows, whose blocks begin in row top.
func (w *worker) windowRow(l *level, index, y, top, ring int) {
	s := w.search
	d := s.descriptor
	paceX, paceY := s.step.X/w.lattice.X, d.config.Stride.Y/w.lattice.Y
	w.windows.Rows = w.windows.Rows[:0]
	for by := range d.blocks.Y {
		w.windows.Rows = append(w.windows.Rows, (top+by*paceY)%ring*w.stride*d.length)
	}
	w.asWindows(paceX)
	if s.task == computes {
		to := s.numbers[y*l.count.X*d.Size():]
		for x := range l.count.X {
			w.describe(to[x*d.Size():][:d.Size()], x*paceX)
		}
		return
	}
	w.score(l.count.X)
	if s.task == scores {
		copy(s.values[y*l.count.X:], w.scores)
		return
	}
	for x, score := range w.scores {
		w.found(l, index, x, y, score)
	}
}

// asWindows sets w.windows to those whose rows of blocks are w.windows.Rows.
func (w *worker) asWindows(pace int) {
	d := w.search.descriptor
	w.windows = gradients.Windows{
		Planes: w.blocks, Rows: w.windows.Rows, Stride: w.stride, Length: d.length, Across: d.blocks.X, Step: d.config.Stride.X / w.lattice.X, Pace: pace,
		Coefficients: d.config.Coefficients, Parts: w.windows.Parts,
	}
}

// score sets w.scores to the scores of the first n windows.
func (w *worker) score(n int) {
	w.scores = engine.AtLeast(w.scores, n+gradients.Lanes)
	for x := range w.scores {
		w.scores[x] = w.search.descriptor.bias
	}
	w.windows.Scores(w.search.set.Level, w.scores, n)
	w.scores = w.scores[:n]
}

// describe copies the numbers of the window whose first block is in column x.
func (w *worker) describe(to []float32, x int) {
	windows := &w.windows
	i := 0
	for column := range windows.Across {
		for _, row := range windows.Rows {
			for k := range windows.Length {
				to[i] = w.blocks[row+k*w.stride+column*windows.Step+x]
				i++
			}
		}
	}
}

// single looks at single windows.
func (w *worker) single(b *band) {
	s := w.search
	d, l := s.descriptor, &s.levels[0]
	c := &d.config
	for i := b.first; i < b.end; i++ {
		p := s.at[i].Add(l.padding)
		if l.count.X == 0 || p.X < 0 || p.Y < 0 || p.X > l.padded.X-c.Window.X || p.Y > l.padded.Y-c.Window.Y {
			if s.task == computes {
				clear(s.numbers[i*d.Size():][:d.Size()])
			} else {
				s.values[i] = lowest
			}
			continue
		}
		w.start(l, p.X, c.Window.X)
		w.used = engine.AtLeast(w.used, w.across)
		for k := range w.used {
			w.used[k] = true
		}
		w.blocks = engine.AtLeast(w.blocks, w.stride*d.blocks.Y*d.length)
		w.windows.Rows = w.windows.Rows[:0]
		for by := range d.blocks.Y {
			at := by * w.stride * d.length
			w.blockRow(p.Y+by*c.Stride.Y, w.blocks[at:])
			w.windows.Rows = append(w.windows.Rows, at)
		}
		w.asWindows(1)
		if s.task == computes {
			w.describe(s.numbers[i*d.Size():][:d.Size()], 0)
			continue
		}
		w.score(1)
		s.values[i] = w.scores[0]
	}
}

// blockRow computes the row of blocks that begins in row y of the padded image.
func (w *worker) blockRow(y int, to []float32) {
	d := w.search.descriptor
	rows := d.config.Block.Y
	w.starts = engine.AtLeast(w.starts, rows)
	for k := range rows {
		w.gradientRow(y + k)
		w.starts[k] = int32((y + k) % rows * w.columns)
	}
	for i := range d.pixels {
		p := &d.pixels[i]
		w.row.Offsets[i] = w.starts[p.Y] + p.X
	}
	w.row.Planes = to[:d.length*w.stride]
	level := w.search.set.Level
	for x := 0; x < w.across; {
		if !w.used[x] {
			x++
			continue
		}
		end := x + 1
		for end < w.across && w.used[end] {
			end++
		}
		w.row.Fill(level, &w.gradient, x, end)
		x = end
	}
	gradients.Normalize(level, w.row.Planes, w.stride, d.length, w.across, d.clip)
}

// gradientRow computes row y of the gradients, unless the ring has it.
func (w *worker) gradientRow(y int) {
	s := w.search
	slot := y % len(w.gradientOf)
	if w.gradientOf[slot] == y {
		return
	}
	w.gradientOf[slot] = y
	from, end := slot*w.columns, (slot+1)*w.columns
	up, middle, down := w.brightRow(y-1), w.brightRow(y), w.brightRow(y+1)
	width := w.level.padded.X
	if s.task == integrates {
		width = (width + atanChunk - 1) &^ (atanChunk - 1) // without OpenCV's exceptions for the last columns
	}
	s.differences(w.dx, w.dy, up, middle, down, w.x0, width)
	bins := s.descriptor.directions
	first, second, places := w.gradient.First[from:end], w.gradient.Second[from:end], w.gradient.Places[from:end]
	n := min(max(0, atanFrom(width)-w.x0), w.columns)
	gradients.Polar(s.set.Level, first[:n], second[:n], places[:n], w.dx, w.dy, bins, false)
	gradients.Polar(s.set.Level, first[n:], second[n:], places[n:], w.dx[n:], w.dy[n:], bins, true)
}

// polar copies rows of gradients.
func (w *worker) polar(b *band) {
	s := w.search
	w.start(&s.levels[0], 0, s.levels[0].padded.X)
	for y := b.first; y < b.end; y++ {
		w.gradientRow(y)
		at, to := y%len(w.gradientOf)*w.columns, 2*y*w.columns
		for x := range w.columns {
			bin, next := w.gradient.Places[at+x].Bins()
			s.numbers[to+2*x], s.numbers[to+2*x+1] = w.gradient.First[at+x], w.gradient.Second[at+x]
			s.names[to+2*x], s.names[to+2*x+1] = uint8(bin), uint8(next)
		}
	}
}

// brightRow returns row y of the padded image, which may be one above or below it, in columns
// x0-1 to x0+columns: the brightness of one channel after the other, blue first.
func (w *worker) brightRow(y int) []float32 {
	s, l := w.search, w.level
	slot := (y + 3) % 3
	rows := w.bright[slot]
	if w.brightOf[slot] == y {
		return rows
	}
	w.brightOf[slot] = y
	y = mirrored(y-l.padding.Y, l.height)
	if l.places >= 0 {
		w.resize(y)
	}
	pitch := w.columns + 2
	sources := s.sources[l.sources+w.x0:][:pitch]
	d := s.descriptor
	for c := range s.colors {
		to := rows[c*pitch:][:pitch]
		if l.places < 0 && s.src.Channels > 1 && !s.separate { // pixels of the image itself
			pix, pixel := s.src.Pix[y*s.src.Stride+s.channels[c]:], s.src.Channels
			for i, x := range sources {
				to[i] = d.roots[pix[int(x)*pixel]]
			}
			continue
		}
		pix := s.src.Pix[y*s.src.Stride:]
		switch {
		case l.places >= 0:
			pix = w.resized[c*l.width:][:l.width]
		case s.src.Channels > 1:
			pix = s.planes[(c*s.src.Height+y)*s.src.Width:][:s.src.Width]
		}
		// Columns from begin to end are inside the image, where sources follow each other.
		begin := min(max(0, l.padding.X-w.x0+1), pitch)
		end := min(max(begin, l.padding.X-w.x0+1+l.width), pitch)
		for i, x := range sources[:begin] {
			to[i] = d.roots[pix[x]]
		}
		if begin < end {
			gradients.Brightness(s.set.Level, to[begin:end], pix[sources[begin]:], d.config.Linear)
		}
		for i, x := range sources[end:] {
			to[end+i] = d.roots[pix[x]]
		}
	}
	return rows
}

// resize sets w.resized to row y of the level.
func (w *worker) resize(y int) {
	s, l := w.search, w.level
	place, part := objects.Source(s.src.Height, l.height, y)
	below := min(place+1, s.src.Height-1)
	width := s.src.Width
	w.blend[width] = 0
	for c := range s.colors {
		plane, stride := s.src.Pix, s.src.Stride
		if s.src.Channels > 1 {
			plane, stride = s.planes[c*width*s.src.Height:], width
		}
		cascades.BlendRows(s.set.Level, w.blend[:width], plane[place*stride:][:width], plane[below*stride:][:width], part)
		cascades.BlendColumns(s.set.Level, w.resized[c*l.width:][:l.width], w.blend, s.places[l.places:][:l.width], s.parts[l.places:][:l.width])
	}
}
