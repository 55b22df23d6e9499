package hog

import (
	"image"
	"math"

	"github.com/boxsum/boxsum/internal/engine"
)

// A worker looks at the windows of one band at a time. It computes each row of gradients and
// each row of blocks once, and keeps the last of them in rings: as many as a block has rows of
// pixels, and as a window has rows of blocks.
type worker struct {
	search *search
	level  *level

	// Rows of the resized image: the two source rows between which they lie, resized along x
	// only.
	lines   [2][]uint16
	lineOf  [2]int
	resized []uint8

	// Rows of brightness, for each channel, with a column more on either side.
	bright   [3][3][]float32
	brightOf [3]int

	// Rows of gradients, of the columns from x0 to x0+columns.
	x0, columns int
	gradient    gradientRow
	gradientOf  []int

	// Rows of blocks, each a multiple of lattice apart.
	lattice image.Point
	across  int // blocks in a row
	blocks  []float32
	used    []bool // columns of blocks

	scores []float64
	hits   []hit
}

func (w *worker) bytes() int {
	n := engine.Bytes(w.resized) + engine.Bytes(w.gradient.first) + engine.Bytes(w.gradient.second) + engine.Bytes(w.gradient.bins) +
		engine.Bytes(w.blocks) + engine.Bytes(w.used) + engine.Bytes(w.scores) + engine.Bytes(w.hits)
	for _, l := range w.lines {
		n += engine.Bytes(l)
	}
	for i := range w.bright {
		for _, row := range w.bright[i] {
			n += engine.Bytes(row)
		}
	}
	return n
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
	return float64(columns)*float64(9*d.config.Block.Y+40) + 4*float64(across)*float64(down)*float64(d.length)
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
	if w.level != l {
		w.level = l
		w.lineOf = [2]int{none, none}
	}
	w.x0, w.columns = x0, columns
	w.brightOf = [3]int{none, none, none}
	for i := range w.bright {
		for c := range s.colors {
			w.bright[i][c] = engine.AtLeast(w.bright[i][c], columns+2)
		}
	}
	if l.places >= 0 {
		for i := range w.lines {
			w.lines[i] = engine.AtLeast(w.lines[i], l.width*s.colors)
		}
		w.resized = engine.AtLeast(w.resized, l.width*s.colors)
	}
	rows := d.config.Block.Y
	w.gradient.first = engine.AtLeast(w.gradient.first, rows*columns)
	w.gradient.second = engine.AtLeast(w.gradient.second, rows*columns)
	w.gradient.bins = engine.AtLeast(w.gradient.bins, rows*columns)
	w.gradientOf = engine.AtLeast(w.gradientOf, rows)
	for i := range w.gradientOf {
		w.gradientOf[i] = none
	}
	w.lattice = s.lattice()
	w.across = (columns-d.config.Block.X)/w.lattice.X + 1
}

// band looks at rows of windows.
func (w *worker) band(b *band) {
	s := w.search
	d, l := s.descriptor, &s.levels[b.level]
	w.level = nil // the level may belong to an earlier search
	w.start(l, 0, l.padded.X)
	ring := (d.config.Window.Y-d.config.Block.Y)/w.lattice.Y + 1
	w.blocks = engine.AtLeast(w.blocks, ring*w.across*d.length)
	w.use(l)
	// next is the first row of blocks that has not been computed.
	next := b.first * s.step.Y / w.lattice.Y
	for y := b.first; y < b.end; y++ {
		top := y * s.step.Y / w.lattice.Y
		for next = max(next, top); next < top+ring; next++ {
			if w.needs(next, b) {
				w.blockRow(next*w.lattice.Y, w.blocks[next%ring*w.across*d.length:])
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
	strideX := d.config.Stride.X / w.lattice.X
	if s.task == computes {
		to := s.numbers[y*l.count.X*d.Size():]
		for x := range l.count.X {
			for bx := range d.blocks.X {
				for by := range d.blocks.Y {
					from := ((top+by*paceY)%ring*w.across + x*paceX + bx*strideX) * d.length
					copy(to, w.blocks[from:][:d.length])
					to = to[d.length:]
				}
			}
		}
		return
	}
	w.scores = engine.AtLeast(w.scores, l.count.X)
	for x := range w.scores {
		w.scores[x] = d.bias
	}
	coefficients := d.config.Coefficients
	for bx := range d.blocks.X {
		for by := range d.blocks.Y {
			row := w.blocks[(top+by*paceY)%ring*w.across*d.length:]
			for x := range w.scores {
				w.scores[x] = addProducts(w.scores[x], row[(x*paceX+bx*strideX)*d.length:][:d.length], coefficients)
			}
			coefficients = coefficients[d.length:]
		}
	}
	if s.task == scores {
		copy(s.values[y*l.count.X:], w.scores)
		return
	}
	for x, score := range w.scores {
		w.found(l, index, x, y, score)
	}
}

// windows looks at single windows.
func (w *worker) windows(b *band) {
	s := w.search
	d, l := s.descriptor, &s.levels[0]
	c := &d.config
	w.level = nil
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
		w.blocks = engine.AtLeast(w.blocks, w.across*d.blocks.Y*d.length)
		for by := range d.blocks.Y {
			w.blockRow(p.Y+by*c.Stride.Y, w.blocks[by*w.across*d.length:])
		}
		score, coefficients, to := d.bias, c.Coefficients, []float32(nil)
		if s.task == computes {
			to = s.numbers[i*d.Size():]
		}
		for bx := range d.blocks.X {
			for by := range d.blocks.Y {
				block := w.blocks[(by*w.across+bx)*d.length:][:d.length]
				if s.task == computes {
					copy(to, block)
					to = to[d.length:]
					continue
				}
				score = addProducts(score, block, coefficients)
				coefficients = coefficients[d.length:]
			}
		}
		if s.task == scores {
			s.values[i] = score
		}
	}
}

// addProducts adds the products of two lists to a score, as OpenCV does: in four lanes.
func addProducts(score float64, a, b []float32) float64 {
	b = b[:len(a)]
	var l0, l1, l2, l3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		l0 += float32(a[i] * b[i])
		l1 += float32(a[i+1] * b[i+1])
		l2 += float32(a[i+2] * b[i+2])
		l3 += float32(a[i+3] * b[i+3])
	}
	score += float64(l0+l1) + float64(l2+l3)
	for ; i < len(a); i++ {
		score += float64(float32(a[i] * b[i]))
	}
	return score
}

// blockRow computes the row of blocks that begins in row y of the padded image.
func (w *worker) blockRow(y int, to []float32) {
	d := w.search.descriptor
	for k := range d.config.Block.Y {
		w.gradientRow(y + k)
	}
	for x, used := range w.used {
		if used {
			w.block(x*w.lattice.X, y, to[x*d.length:][:d.length])
		}
	}
}

// block computes the histograms of the block at column x and row y of the gradients.
func (w *worker) block(x, y int, to []float32) {
	d := w.search.descriptor
	clear(to)
	bins, rows := d.config.Bins, d.config.Block.Y
	for i := range d.pixels {
		p := &d.pixels[i]
		at := (y+int(p.y))%rows*w.columns + x + int(p.x)
		bin, first, second := int(w.gradient.bins[at]), w.gradient.first[at], w.gradient.second[at]
		next := bin + 1
		if next == bins {
			next = 0
		}
		for k := range p.n {
			cell, weight := to[p.cells[k]:], p.weights[k]
			cell[bin] += float32(first * weight)
			cell[next] += float32(second * weight)
		}
	}
	d.normalize(to)
}

// normalize scales a block to length 1, limits its numbers, and scales it again.
func (d *Descriptor) normalize(h []float32) {
	scale := 1 / (sqrt32(sumOfSquares(h)) + float32(float32(len(h))*0.1))
	for i, v := range h {
		h[i] = min(float32(v*scale), d.clip)
	}
	scale = 1 / (sqrt32(sumOfSquares(h)) + 1e-3)
	for i, v := range h {
		h[i] = v * scale
	}
}

func sumOfSquares(h []float32) float32 {
	var l0, l1, l2, l3 float32
	i := 0
	for ; i+4 <= len(h); i += 4 {
		l0 += float32(h[i] * h[i])
		l1 += float32(h[i+1] * h[i+1])
		l2 += float32(h[i+2] * h[i+2])
		l3 += float32(h[i+3] * h[i+3])
	}
	sum := (l0 + l1) + (l2 + l3)
	for ; i < len(h); i++ {
		sum += float32(h[i] * h[i])
	}
	return sum
}

func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// gradientRow computes row y of the gradients, unless the ring has it.
func (w *worker) gradientRow(y int) {
	s := w.search
	slot := y % len(w.gradientOf)
	if w.gradientOf[slot] == y {
		return
	}
	w.gradientOf[slot] = y
	from, end := slot*w.columns, (slot+1)*w.columns
	to := gradientRow{w.gradient.first[from:end], w.gradient.second[from:end], w.gradient.bins[from:end]}
	up, middle, down := w.brightRow(y-1), w.brightRow(y), w.brightRow(y+1)
	s.descriptor.gradients(to, up[:s.colors], middle[:s.colors], down[:s.colors], w.x0, w.level.padded.X)
}

// brightRow returns row y of the padded image, which may be one above or below it, in columns
// x0-1 to x0+columns: the brightness of each channel.
func (w *worker) brightRow(y int) *[3][]float32 {
	s, l := w.search, w.level
	slot := (y + 3) % 3
	rows := &w.bright[slot]
	if w.brightOf[slot] == y {
		return rows
	}
	w.brightOf[slot] = y
	pix, pixel, channels := w.pixelRow(mirrored(y-l.padding.Y, l.height))
	sources := s.sources[l.sources+w.x0:][:w.columns+2]
	roots := &s.descriptor.roots
	for c := range s.colors {
		to, at := rows[c], channels[c]
		for i, x := range sources {
			to[i] = roots[pix[int(x)*pixel+at]]
		}
	}
	return rows
}

// pixelRow returns row y of the level, the distance between pixels, and the places of blue,
// green and red in a pixel.
func (w *worker) pixelRow(y int) (pix []uint8, pixel int, channels [3]int) {
	s, l := w.search, w.level
	if l.places < 0 {
		return s.src.Pix[y*s.src.Stride:], s.src.Channels, s.channels
	}
	place, part := axis(s.src.Height, l.height, y)
	a := w.line(place)
	if part == 0 {
		for i, v := range a {
			w.resized[i] = uint8((uint32(v) + 128) >> 8)
		}
	} else {
		b := w.line(place + 1)
		k0, k1 := uint32(256-part), uint32(part)
		for i, v := range a {
			w.resized[i] = uint8((uint32(v)*k0 + uint32(b[i])*k1 + 1<<15) >> 16)
		}
	}
	return w.resized, s.colors, [3]int{0, min(1, s.colors-1), s.colors - 1}
}

// line returns row y of the image, resized along x, with 8 fractional bits.
func (w *worker) line(y int) []uint16 {
	s, l := w.search, w.level
	slot := y & 1
	to := w.lines[slot]
	if w.lineOf[slot] == y {
		return to
	}
	w.lineOf[slot] = y
	row, pixel := s.src.Pix[y*s.src.Stride:], s.src.Channels
	places, parts := s.places[l.places:][:l.width], s.parts[l.places:][:l.width]
	for c := range s.colors {
		at := s.channels[c]
		for x, place := range places {
			i := int(place)*pixel + at
			if v, part := uint16(row[i]), parts[x]; part == 0 {
				to[x*s.colors+c] = v << 8
			} else {
				to[x*s.colors+c] = v*(256-part) + uint16(row[i+pixel])*part
			}
		}
	}
	return to
}
