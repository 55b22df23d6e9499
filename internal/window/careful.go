package window

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
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
func OffsetOf(src *Pixels, shape *Shape) float64 {
	if len(src.Mem) == 0 || shape.Width() == 1 && shape.Height() == 1 { // whose mean is the pixel
		return 0
	}
	first, values := *src, engine.NoValues()
	first.Height = 1
	for at := range engine.Samples(&first.Extent) {
		values.Add(first.At(at))
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
	some                      bool // columns are zero: what comes there may be lost beside others
}

// measure looks at columns that have been summed anew. It reports whether they are in proportion.
func (s *Sums[A, Q]) measure() bool {
	all, some, even := evenness(s.image(), disproportion)
	s.scales.columns, s.scales.some = all, some
	if even && s.frame.Squares {
		_, _, even = evenness(s.imageSquares(), squaresDisproportion)
	}
	return even
}

// evenness is the size of all columns together, whether some of them are zero, and whether the greatest is no more than so
// many times the least of the others.
func evenness[A kernel.Number](columns []A, times float64) (all float64, some, even bool) {
	least, most := math.Inf(1), 0.0
	for _, v := range columns {
		a := math.Abs(float64(v))
		all += a
		if a > most {
			most = a
		}
		if a == 0 {
			some = true
		} else if a < least {
			least = a
		}
	}
	return all, some, all <= math.MaxFloat64 && most <= least*times
}

// steady reports whether all sums of the row are finite, and of the size of those above them.
func (s *Sums[A, Q]) steady() bool {
	if s.extra() { // from columns that no prefix may have
		for _, v := range s.image() {
			if v-v != 0 {
				return false
			}
		}
	}
	c, k := &s.scales, s.frame.Channels
	if c.some && !s.measure() {
		return false
	}
	all := total(s.prefix, k)
	c.most = max(c.most, all)
	if !(all <= c.columns*rowDisproportion) || c.most > all*disproportion {
		return false
	}
	if !s.frame.Squares {
		return true
	}
	all = total(s.squarePre, k)
	if c.mostSquares == 0 || all < c.leastSquares {
		c.leastSquares = all
	}
	c.mostSquares = max(c.mostSquares, all)
	return c.mostSquares <= c.leastSquares*rowDisproportion
}

// total is the size of a row's sums by channel, in which prefixes end. It is not finite if any of them is not.
func total[A kernel.Number](prefix []A, channels int) (all float64) {
	for _, v := range prefix[len(prefix)-channels-kernel.WindowSlack:][:channels] {
		all += math.Abs(float64(v))
	}
	if !(all <= math.MaxFloat64) {
		return math.NaN() // which is in no proportion
	}
	return all
}

// regroup sums the columns of row y anew, from sums of several rows where windows are high.
func (s *Sums[A, Q]) regroup() {
	f := &s.frame
	h := f.Shape.Height()
	if h < 16 || s.once() {
		s.prime()
		return
	}
	all, allSquares := s.both()
	clear(all)
	clear(allSquares)
	from, to := s.reach()
	each := int(math.Sqrt(float64(h)))
	s.groups.aim(len(all), each, h/each+2, f.Squares)
	for i := from; i < to; {
		if i != floor(i, each) || i+each > to {
			s.addRow(all, allSquares, i)
			i++
			continue
		}
		sums, squares, have := s.groups.at(i)
		if !have {
			for j := i; j < i+each; j++ {
				s.addRow(sums, squares, j)
			}
		}
		for k, v := range sums {
			all[k] += v
		}
		for k, v := range squares {
			allSquares[k] += v
		}
		i += each
	}
}

// addRow adds the strip's part of a row to sums of columns.
func (s *Sums[A, Q]) addRow(columns []A, squares []Q, place int) {
	s.add(s.frame.Level, columns, squares, s.part(s.rows.Row(place)), s.nothing, Q(s.frame.Offset), 1)
}

// groups are the sums of so many rows each, from multiples of that on.
type groups[A, Q kernel.Number] struct {
	n, rows int
	both    bool  // squares too
	starts  []int // of the groups, in a ring
	have    []bool
	sums    []A
	squares []Q
}

func (g *groups[A, Q]) forget() { clear(g.have) }

func (g *groups[A, Q]) bytes() int {
	return engine.Bytes(g.starts) + engine.Bytes(g.have) + engine.Bytes(g.sums) + engine.Bytes(g.squares)
}

// aim is for so many groups of rows of n sums.
func (g *groups[A, Q]) aim(n, rows, count int, squares bool) {
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
func (g *groups[A, Q]) at(start int) (sums []A, squares []Q, have bool) {
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
func (s *Sums[A, Q]) apart(r *Row[A, Q]) {
	c := s.frame.Channels
	n := s.n * c
	s.hi, s.zeros = engine.AtLeast(s.hi, n), engine.Zeros(s.zeros, n)
	pieces(s.hi[:n], s.cols, c, s.across.span)
	r.Hi, r.Lo = s.hi[:n], s.zeros[:n]
	if s.frame.Squares {
		s.hiSquares, s.zeros2 = engine.AtLeast(s.hiSquares, n), engine.Zeros(s.zeros2, n)
		pieces(s.hiSquares[:n], s.squares, c, s.across.span)
		r.HiSquares, r.LoSquares = s.hiSquares[:n], s.zeros2[:n]
	}
}

// pieces sums span columns of each channel from every place on. Columns are cut into pieces of that many: a window is the end
// of one and the start of the next.
func pieces[A kernel.Number](sums, columns []A, channels, span int) {
	n, step := len(sums), span*channels
	for start := 0; start < n; start += step {
		for ch := range channels {
			var sum A
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
func (s *strip) Spread(i int) float64 {
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
func (s *strip) eachPixel(x, ch int, visit func(p float64)) {
	f := &s.frame
	from, to := s.reach()
	for y := from; y < to; y++ {
		row := s.rows.Row(y)
		for place := x - f.Left; place <= x+f.Right; place++ {
			if column := f.Border.Index(place, f.Width); column != outside {
				visit(float(row, f.Pixel, column*f.Channels+ch))
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
func (s *strip) isFlat(x, ch int) bool {
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
			if last := s.part(s.rows.Row(s.flats.to - 1)); float(last, f.Pixel, min(max(x, 0), most)*f.Channels+ch) != f.value(ch) {
				return false
			}
		}
		left, right = max(0, left), min(most, right)
	}
	s.findFlats()
	return int(s.flats.along[right*f.Channels+ch]) > right-left
}

// findFlats looks at the columns of row y, going on from the row above where that was looked at.
func (s *strip) findFlats() {
	l := &s.flats
	if l.valid && l.y == s.y {
		return
	}
	if s.frame.Pixel == pairs.F32 {
		find[float32](l, s)
	} else {
		find[float64](l, s)
	}
}

func find[P float32 | float64](l *flats, s *strip) {
	from, to := s.reach()
	row := func(place int) []P { return kernel.Of[P](s.part(s.rows.Row(place))) }
	last := row(to - 1)
	n, c := len(last), s.frame.Channels
	if l.valid && l.y == s.y-1 && (to == l.to || to == l.to+1) {
		if to > l.to {
			above := row(to - 2)
			for i, p := range last {
				if p == above[i] {
					l.down[i]++
				} else {
					l.down[i] = 1
				}
			}
		}
	} else {
		l.down, l.along = engine.AtLeast(l.down, n), engine.AtLeast(l.along, n)
		for i := range l.down {
			l.down[i] = 1
		}
		for y, more := to-2, true; y >= from && more; y-- {
			more = false
			for i, p := range row(y) {
				if int(l.down[i]) == to-1-y && p == last[i] {
					l.down[i]++
					more = true
				}
			}
		}
	}
	l.valid, l.y, l.to = true, s.y, to
	for i := range last {
		switch {
		case int(l.down[i]) < to-from:
			l.along[i] = 0
		case i >= c && last[i] == last[i-c]:
			l.along[i] = l.along[i-c] + 1
		default:
			l.along[i] = 1
		}
	}
}
