package window

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
)

// Floats out of proportion. What is added to a running sum of floats and taken away again leaves its rounding there: after one
// pixel of 1e20 the sums of windows that never had it are noise, and after a NaN they are NaN. So where the sums of a row turn
// out to be of very different sizes, or not finite, windows are summed without taking anything away, until the next block
// starts: then a pixel touches its own windows only, whatever it is.

// disproportion is how many times the least sum of columns the greatest may be at the start of a block: by so much more is the
// least one off than by rounding. Those of squares may differ as much as squares do, for who takes their differences looks at them,
// see Spread. rowDisproportion is that of the sums of rows in a block.
const (
	disproportion        = 0x1p26
	squaresDisproportion = 0x1p52
	rowDisproportion     = 0x1p12
)

// scales are the sizes of sums since the columns were summed anew.
type scales struct {
	columns                   float64 // all of them, each as a size
	leastSquares, mostSquares float64 // of the totals of rows
}

// measure looks at columns that have been summed anew. It reports whether they are in proportion.
func (s *Sums[P, A, Q]) measure() bool {
	all, even := evenness(s.image(), disproportion)
	s.scales = scales{columns: all}
	if even && s.frame.Squares {
		_, even = evenness(s.imageSquares(), squaresDisproportion)
	}
	return even
}

// evenness is the size of all columns together, and whether the greatest is no more than so many times the least.
func evenness[A kernel.Number](columns []A, times float64) (all float64, even bool) {
	least, most := math.Inf(1), 0.0
	for _, v := range columns {
		a := math.Abs(float64(v))
		all += a
		if a > most {
			most = a
		}
		if a < least && a != 0 {
			least = a
		}
	}
	return all, all <= math.MaxFloat64 && most <= least*times
}

// steady reports whether all sums of the row are finite, and of the size of those above them.
func (s *Sums[P, A, Q]) steady() bool {
	if s.extra() { // from columns that no prefix may have
		for _, v := range s.image() {
			if v-v != 0 {
				return false
			}
		}
	}
	all := total(s.prefix, s.frame.Channels)
	if s.scales.columns == 0 {
		s.scales.columns = all
	}
	ok := all <= s.scales.columns*rowDisproportion
	if s.frame.Squares {
		all := total(s.squarePre, s.frame.Channels)
		if s.scales.leastSquares == 0 || all != 0 && all < s.scales.leastSquares {
			s.scales.leastSquares = all
		}
		s.scales.mostSquares = max(s.scales.mostSquares, all)
		ok = ok && s.scales.mostSquares <= s.scales.leastSquares*rowDisproportion
	}
	return ok
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
func (s *Sums[P, A, Q]) regroup() {
	f := &s.frame
	h := f.Shape.Height()
	if h < 16 || f.Height > 0 && h > 2*f.Height {
		s.prime()
		return
	}
	clear(s.image())
	if f.Squares {
		clear(s.imageSquares())
	}
	from, to := s.y-f.Up, s.y+f.Down+1
	if f.Border == Clip {
		from = max(0, from)
		if f.Height > 0 {
			to = min(to, f.Height)
		}
	}
	each := int(math.Sqrt(float64(h)))
	s.groups.aim(len(s.image()), each, h/each+2, f.Squares)
	for i := from; i < to; {
		if i != floor(i, each) || i+each > to {
			s.addRow(s.image(), s.imageSquares, i)
			i++
			continue
		}
		sums, squares, have := s.groups.at(i)
		if !have {
			for j := i; j < i+each; j++ {
				s.addRow(sums, func() []Q { return squares }, j)
			}
		}
		for k, v := range sums {
			s.image()[k] += v
		}
		if f.Squares {
			for k, v := range squares {
				s.imageSquares()[k] += v
			}
		}
		i += each
	}
}

// addRow adds the strip's part of a row to sums of columns.
func (s *Sums[P, A, Q]) addRow(columns []A, squares func() []Q, place int) {
	row := s.part(s.rows.Row(place))
	kernel.SlideColumns(s.frame.Level, columns, row, s.nothing)
	if s.frame.Squares {
		kernel.SlideSquares(s.frame.Level, squares(), row, s.nothing, Q(s.frame.Offset))
	}
}

// groups are the sums of so many rows each, from multiples of that on.
type groups[A, Q kernel.Number] struct {
	n, rows int
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
	if g.n == n && g.rows == rows && len(g.starts) == count && (!squares || len(g.squares) >= count*n) {
		return
	}
	g.n, g.rows = n, rows
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
	if len(g.squares) > 0 {
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
func (s *Sums[P, A, Q]) apart(r *Row[A, Q]) {
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
const spreadPixels = 1 << 16

// A flatWindow is one whose pixels are all equal: the next one is too if its last column is.
type flatWindow struct {
	y, i  int
	value float64
	known bool
}

// Spread is Σ(p-mean)² of the window of element i, from its pixels, and NaN if they are too many.
func (s *Sums[P, A, Q]) Spread(i int) float64 {
	f := &s.frame
	if f.Shape.Width() > spreadPixels/f.Shape.Height() {
		return math.NaN()
	}
	x, ch := s.x+i/f.Channels, i%f.Channels
	if last := &s.flat; last.known && last.y == s.y && last.i+f.Channels == i {
		last.i = i
		if last.known = s.equal(x+f.Right, ch, last.value); last.known {
			return 0
		}
	}
	var first, sum, energy float64
	count, same := 0, true
	s.eachPixel(x, ch, func(p float64) {
		if count++; count == 1 {
			first = p
		}
		same = same && p == first
		sum += p - first
	})
	if s.flat = (flatWindow{s.y, i, first, same}); same {
		return 0
	}
	mean := sum / float64(count)
	s.eachPixel(x, ch, func(p float64) {
		d := p - first - mean
		energy += float64(d * d)
	})
	return energy
}

// eachPixel visits the pixels of the window of column x in a channel.
func (s *Sums[P, A, Q]) eachPixel(x, ch int, visit func(p float64)) {
	f := &s.frame
	for j := x - f.Left; j <= x+f.Right; j++ {
		s.eachOf(j, ch, visit)
	}
}

// eachOf visits those of one column of the window.
func (s *Sums[P, A, Q]) eachOf(place, ch int, visit func(p float64)) {
	f := &s.frame
	column := f.Border.Index(place, f.Width)
	if column == outside && f.Border == Clip {
		return
	}
	for y := s.y - f.Up; y <= s.y+f.Down; y++ {
		switch {
		case f.Border == Clip && (y < 0 || f.Height > 0 && y >= f.Height):
		case column == outside:
			visit(f.value(ch))
		default:
			visit(float64(s.rows.Row(y)[column*f.Channels+ch]))
		}
	}
}

// equal reports whether all pixels of a column of the window are this one.
func (s *Sums[P, A, Q]) equal(place, ch int, value float64) bool {
	same := true
	s.eachOf(place, ch, func(p float64) { same = same && p == value })
	return same
}
