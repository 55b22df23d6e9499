package window

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// Floats out of proportion. What is added to a running sum of floats and taken away again leaves its rounding there: after one
// pixel of 1e20 the sums of windows that never had it are noise, and after a NaN they are NaN. So where the sums of a row turn
// out to be of very different sizes, or not finite, windows are summed without taking anything away, until the next block
// starts: then a pixel touches its own windows only, whatever it is. What is not noticed are large pixels of opposite signs
// that come in one row in the midst of a block, where there are no squares to tell.

// disproportion is how many times the least sum of columns the greatest may be at the start of a block: by so much more is the
// least one off than by rounding. Those of squares may differ as much as squares do, for who takes their differences looks at them,
// see Spread. rowDisproportion is that of the sums of rows in a block.
const (
	disproportion        = 0x1p26
	squaresDisproportion = 0x1p52
	rowDisproportion     = 0x1p12
)

// largestFill is the largest number that is taken away from all pixels where a row has no other: what is larger may stand for no
// data, and would leave no digits to the rest.
const largestFill = 1 << 26

// OffsetOf is what is taken away from the floats of an image of windows of this shape, by its first row: a stream knows no more.
func OffsetOf(src *raster.Array, shape *Shape) float64 {
	if len(src.Data) == 0 || shape.Width() == 1 && shape.Height() == 1 { // whose mean is the pixel
		return 0
	}
	first, values := src.Extent, engine.NoValues()
	first.Height = 1
	for at := range engine.Samples(&first) {
		values.Add(windows.At(src.Type, src.Data, at))
	}
	center := float64(values.Center())
	if values.Same() && math.Abs(center) > largestFill {
		return 0
	}
	return center
}

// scales are the sizes of sums since the columns were summed anew.
type scales struct {
	columns                   float64 // all of them, each as a size
	most                      float64 // of the totals of rows
	leastSquares, mostSquares float64
	zeros                     bool // some columns are zero: what comes there may be lost beside others
}

// floats is memory as the float64 that all sums of floats are.
func floats(data []byte) []float64 { return raster.Elems[float64](data) }

// measure looks at columns that have been summed anew. It reports whether they are in proportion.
func (s *Sums) measure() bool {
	all, zeros, even := evenness(floats(s.sums.image(s)), disproportion)
	s.scales.columns, s.scales.zeros = all, zeros
	if even && s.frame.squared() {
		_, _, even = evenness(floats(s.squares.image(s)), squaresDisproportion)
	}
	return even
}

// evenness is the size of all columns together, whether some of them are zero, and whether the greatest is no more than so
// many times the least of the others.
func evenness(columns []float64, times float64) (all float64, zeros, even bool) {
	least, most := math.Inf(1), 0.0
	for _, v := range columns {
		a := math.Abs(v)
		all += a
		if a > most {
			most = a
		}
		if a == 0 {
			zeros = true
		} else if a < least {
			least = a
		}
	}
	return all, zeros, all <= math.MaxFloat64 && most <= least*times
}

// steady reports whether all sums of the row are finite, and of the size of those above them.
func (s *Sums) steady() bool {
	if s.extra() { // from columns that no prefix may have
		for _, v := range floats(s.sums.image(s)) {
			if v-v != 0 {
				return false
			}
		}
	}
	c, k := &s.scales, s.frame.Channels
	if c.zeros && !s.measure() {
		return false
	}
	all := total(floats(s.sums.prefix), k)
	c.most = max(c.most, all)
	if !(all <= c.columns*rowDisproportion) || c.most > all*disproportion {
		return false
	}
	if !s.frame.squared() {
		return true
	}
	all = total(floats(s.squares.prefix), k)
	if c.mostSquares == 0 || all < c.leastSquares {
		c.leastSquares = all
	}
	c.mostSquares = max(c.mostSquares, all)
	return c.mostSquares <= c.leastSquares*rowDisproportion
}

// total is the size of a row's sums by channel, in which prefixes end. It is not finite if any of them is not.
func total(prefix []float64, channels int) (all float64) {
	for _, v := range prefix[len(prefix)-channels-windows.Slack:][:channels] {
		all += math.Abs(v)
	}
	if !(all <= math.MaxFloat64) {
		return math.NaN() // which is in no proportion
	}
	return all
}

// regroup sums the columns of row y anew, from sums of several rows where windows are high.
func (s *Sums) regroup() {
	f := &s.frame
	h := f.Shape.Height()
	if h < 16 || s.once() {
		s.prime()
		return
	}
	all, allSquares := s.images()
	clear(all)
	clear(allSquares)
	from, to := s.reach()
	each := int(math.Sqrt(float64(h)))
	s.groups.aim(len(all), each, h/each+2, f.squared())
	for i := from; i < to; {
		if i != floor(i, each) || i+each > to {
			s.addRow(all, allSquares, s.part(s.rows.Row(i)), 1)
			i++
			continue
		}
		sums, squares, have := s.groups.at(i)
		if !have {
			for j := i; j < i+each; j++ {
				s.addRow(sums, squares, s.part(s.rows.Row(j)), 1)
			}
		}
		addFloats(all, sums)
		addFloats(allSquares, squares)
		i += each
	}
}

// addFloats adds sums of floats to others.
func addFloats(to, from []byte) {
	all := floats(to)
	for k, v := range floats(from) {
		all[k] += v
	}
}

// groups are the sums of so many rows each, from multiples of that on.
type groups struct {
	n, rows int   // bytes of sums, and rows
	both    bool  // squares too
	starts  []int // of the groups, in a ring
	have    []bool
	sums    []byte
	squares []byte
}

func (g *groups) forget() { clear(g.have) }

func (g *groups) bytes() int {
	return engine.Bytes(g.starts) + engine.Bytes(g.have) + engine.Bytes(g.sums) + engine.Bytes(g.squares)
}

// aim is for so many groups of rows of n bytes of sums.
func (g *groups) aim(n, rows, count int, squares bool) {
	if g.n == n && g.rows == rows && len(g.starts) == count && g.both == squares {
		return
	}
	g.n, g.rows, g.both = n, rows, squares
	g.starts, g.have = engine.AtLeast(g.starts, count), engine.AtLeast(g.have, count)
	g.sums = engine.AtLeast(g.sums, count*n)
	if squares {
		g.squares = engine.AtLeast(g.squares, count*n)
	}
	g.forget()
}

// at is the sums of the rows from one on, and whether they are there: else they are zero.
func (g *groups) at(start int) (sums, squares []byte, have bool) {
	slot := (start/g.rows%len(g.starts) + len(g.starts)) % len(g.starts)
	sums = g.sums[slot*g.n:][:g.n]
	if g.both {
		squares = g.squares[slot*g.n:][:g.n]
	}
	if g.have[slot] && g.starts[slot] == start {
		return sums, squares, true
	}
	g.starts[slot], g.have[slot] = start, true
	clear(sums)
	clear(squares)
	return sums, squares, false
}

// apart makes the sums of windows from those of columns, each from its own.
func (s *Sums) apart(r *Row) {
	s.sums.apart(s, &r.Sums)
	if s.frame.squared() {
		s.squares.apart(s, &r.Squares)
	}
}

func (l *lane) apart(s *Sums, r *windows.Sums) {
	c := s.frame.Channels
	n := s.n * c * l.size
	l.hi, l.zeros = engine.AtLeast(l.hi, n), engine.Zeros(l.zeros, n)
	pieces(floats(l.hi[:n]), floats(l.cols), c, s.across.span)
	r.Hi, r.Lo = l.hi[:n], l.zeros[:n]
}

// pieces sums span columns of each channel from every place on. Columns are cut into pieces of that many: a window is the end
// of one and the start of the next.
func pieces(sums, columns []float64, channels, span int) {
	n, step := len(sums), span*channels
	for start := 0; start < n; start += step {
		for ch := range channels {
			sum := 0.0
			for k := start + step - channels + ch; k >= start; k -= channels {
				if sum += columns[k]; k < n {
					sums[k] = sum
				}
			}
			sum = 0
			for k := start + channels + ch; k < min(n, start+step); k += channels {
				sum += columns[k+step-channels]
				sums[k] += sum
			}
		}
	}
}

// spreadPixels is how many pixels a window may have that is summed by itself.
const spreadPixels = 1 << 12

// Spread is Σ(p-mean)² of the window of element i, from its pixels, and NaN if they are too many.
func (s *Sums) Spread(i int) float64 {
	f := &s.frame
	x, ch := s.x+i/f.Channels, i%f.Channels
	if s.isFlat(x, ch) {
		return 0
	}
	if f.Shape.Width() > spreadPixels/f.Shape.Height() {
		return math.NaN()
	}
	var first, sum, energy float64
	count := 0
	s.eachPixel(x, ch, func(p float64) {
		if count++; count == 1 {
			first = p
		}
		sum += p - first
	})
	mean := sum / float64(count)
	s.eachPixel(x, ch, func(p float64) {
		d := p - first - mean
		energy += float64(d * d)
	})
	return energy
}

// eachPixel visits the pixels of the window of column x in a channel.
func (s *Sums) eachPixel(x, ch int, visit func(p float64)) {
	f := &s.frame
	from, to := s.reach()
	for y := from; y < to; y++ {
		row := s.rows.Row(y)
		for place := x - f.Left; place <= x+f.Right; place++ {
			if column := f.Border.Index(place, f.Width); column != outside {
				visit(windows.At(f.Pixel, row, column*f.Channels+ch))
			} else if f.Border != Clip {
				visit(f.value(ch))
			}
		}
	}
}

// flats knows where the windows of a row have pixels that are all equal.
type flats struct {
	valid bool
	y, to int     // of which row, and where its windows end
	down  []int32 // how many pixels of a column are equal, upwards from the last row of windows
	along []int32 // how many columns are, to the left, that are equal from top to bottom
}

func (l *flats) bytes() int { return engine.Bytes(l.down) + engine.Bytes(l.along) }

// isFlat reports whether all pixels of the window of column x are equal. Of windows that wrap it does not look.
func (s *Sums) isFlat(x, ch int) bool {
	f := &s.frame
	if s.from != 0 || s.to != f.Width || f.Height > 0 && f.Shape.Height() > 2*f.Height { // it would look at rows again and again
		return false
	}
	left, right, most := x-f.Left, x+f.Right, f.Width-1
	if beside := left < 0 || right > most; beside {
		switch f.Border { // the columns of the image that stand for those beside it
		case Wrap:
			return false
		case Reflect:
			left, right = min(left, 2*most+1-right), max(right, -left-1)
		case Reflect101:
			left, right = min(left, 2*most-right), max(right, -left)
		case Constant:
			s.findFlats()
			if last := s.part(s.rows.Row(s.flats.to - 1)); windows.At(f.Pixel, last, min(max(x, 0), most)*f.Channels+ch) != f.value(ch) {
				return false
			}
		}
		left, right = max(0, left), min(most, right)
	}
	s.findFlats()
	return int(s.flats.along[right*f.Channels+ch]) > right-left
}

// findFlats looks at the columns of row y, going on from the row above where that was looked at.
func (s *Sums) findFlats() {
	l := &s.flats
	if l.valid && l.y == s.y {
		return
	}
	pixel, c := s.frame.Pixel, s.frame.Channels
	from, to := s.reach()
	row := func(place int) []byte { return s.part(s.rows.Row(place)) }
	last := row(to - 1)
	if l.valid && l.y == s.y-1 && (to == l.to || to == l.to+1) {
		if to > l.to {
			windows.ExtendRuns(pixel, l.down, last, row(to-2))
		}
	} else {
		n := len(last) / pixel.Bytes()
		l.down, l.along = engine.AtLeast(l.down, n), engine.AtLeast(l.along, n)
		for i := range l.down {
			l.down[i] = 1
		}
		for y, more := to-2, true; y >= from && more; y-- {
			more = windows.GrowRuns(pixel, l.down, row(y), last, to-1-y)
		}
	}
	l.valid, l.y, l.to = true, s.y, to
	windows.SpanRuns(pixel, l.along, l.down, last, to-from, c)
}
