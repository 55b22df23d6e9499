package window

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// Adding floats to a running sum and subtracting them again leaves rounding errors: after
// a pixel of 1e20, the sums of later windows that do not contain it are noise, and after
// a NaN they are NaN. So if the sums of a row turn out to be of very different
// magnitudes, or not finite, the windows of the rows below are summed without subtraction
// until the next block starts. Then a pixel affects only the windows that contain it,
// whatever its value. One case goes unnoticed: large pixels of opposite signs in one row
// in the middle of a block, if no sums of squares are computed that would reveal them.

// disproportion is the largest accepted ratio of the largest to the smallest column sum
// at the start of a block. The rounding error of the smallest sum may be larger by this
// factor. squaresDisproportion is the limit for sums of squares. It is larger because
// squares differ more, and because code that subtracts them checks the result, see
// Spread. rowDisproportion is the limit for the totals of the rows in a block.
const (
	disproportion        = 0x1p26
	squaresDisproportion = 0x1p52
	rowDisproportion     = 0x1p12
)

// largestFill is the largest value used as an offset if all samples of the first row are
// equal. A larger value may be a marker for missing data, and subtracting it would leave
// no digits of the other pixels.
const largestFill = 1 << 26

// OffsetOf returns the offset to subtract from the float pixels of an image, for windows
// of the given shape. It reads only the first row, because the next rows of a stream are
// unknown.
func OffsetOf(src *raster.Array, shape *Shape) float64 {
	if len(src.Data) == 0 || shape.Width() == 1 && shape.Height() == 1 { // the mean of such a window is the pixel itself
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

// scales holds the magnitudes of sums since the columns were last summed from scratch.
type scales struct {
	columns                   float64 // sum of the magnitudes of all columns
	most                      float64 // largest total of a row
	leastSquares, mostSquares float64
	zeros                     bool // some columns are zero, so pixels added to them later may be lost next to large sums
}

// floats returns memory as float64, the type of all float sums.
func floats(data []byte) []float64 { return raster.Elems[float64](data) }

// measure records the magnitudes of newly summed columns. It reports whether they are in
// proportion.
func (s *Sums) measure() bool {
	all, zeros, even := evenness(floats(s.sums.image(s)), disproportion)
	s.scales.columns, s.scales.zeros = all, zeros
	if even && s.frame.squared() {
		_, _, even = evenness(floats(s.squares.image(s)), squaresDisproportion)
	}
	return even
}

// evenness returns the sum of the magnitudes of the columns, whether some are zero, and
// whether the largest is at most times the smallest of the others.
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

// steady reports whether all sums of the row are finite and of about the same magnitude
// as those of the rows above.
func (s *Sums) steady() bool {
	if s.extra() { // the prefix may not include all of these columns
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

// total returns the sum of the magnitudes of a row's sums over the channels, which are the
// last entries of the prefix. It returns NaN if any of them is not finite.
func total(prefix []float64, channels int) (all float64) {
	for _, v := range prefix[len(prefix)-channels-windows.Slack:][:channels] {
		all += math.Abs(v)
	}
	if !(all <= math.MaxFloat64) {
		return math.NaN() // a NaN fails every comparison
	}
	return all
}

// recompute sums the columns of row y from scratch. For high windows it uses sums of
// groups of rows.
func (s *Sums) recompute() {
	f := &s.frame
	h := f.Shape.Height()
	if h < 16 || s.visitsOnce() {
		s.prime()
		return
	}
	all, allSquares := s.images()
	clear(all)
	clear(allSquares)
	from, to := s.reach()
	each := int(math.Sqrt(float64(h)))
	first, end := floor(from+each-1, each), floor(to, each) // the rows in whole groups
	if first >= end {
		s.addRows(all, allSquares, from, to)
		return
	}
	s.groups.aim(len(all), each, h/each+2, f.squared())
	s.groups.found, s.groups.foundSquares = s.groups.found[:0], s.groups.foundSquares[:0]
	for i := first; i < end; i += each {
		sums, squares, have := s.groups.at(i)
		if !have {
			s.addRows(sums, squares, i, i+each)
		}
		s.groups.found, s.groups.foundSquares = append(s.groups.found, sums), append(s.groups.foundSquares, squares)
	}
	add := windows.NewColumns(f.Level, raster.F64, raster.F64, 0)
	s.addRows(all, allSquares, from, first)
	add.AddRows(all, nil, s.groups.found, 0)
	if f.squared() {
		add.AddRows(allSquares, nil, s.groups.foundSquares, 0)
	}
	s.addRows(all, allSquares, end, to)
}

// groups holds the sums of groups of rows. Each group starts at a multiple of its height.
type groups struct {
	n, rows int   // size of the sums of a row in bytes, and number of rows in a group
	both    bool  // also hold squares
	starts  []int // first row of each group, as a ring buffer
	have    []bool
	sums    []byte
	squares []byte

	found, foundSquares [][]byte // the sums of the groups in a window
}

func (g *groups) forget() { clear(g.have) }

func (g *groups) bytes() int {
	return engine.Bytes(g.starts) + engine.Bytes(g.have) + engine.Bytes(g.sums) + engine.Bytes(g.squares)
}

// aim prepares g for count groups of the given number of rows, each with n bytes of sums.
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

// at returns the sums of the group of rows that begins at start, and whether they have
// been computed. If not, the sums are zero.
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

// withoutSubtraction computes the sum of each window from its own columns.
func (s *Sums) withoutSubtraction(r *Row) {
	s.sums.withoutSubtraction(s, &r.Sums)
	if s.frame.squared() {
		s.squares.withoutSubtraction(s, &r.Squares)
	}
}

func (l *lane) withoutSubtraction(s *Sums, r *windows.Sums) {
	c := s.frame.Channels
	n := s.n * c * l.size
	l.hi, l.zeros = engine.AtLeast(l.hi, n), engine.Zeros(l.zeros, n)
	pieces(floats(l.hi[:n]), floats(l.cols), c, s.across.span)
	r.Hi, r.Lo = l.hi[:n], l.zeros[:n]
}

// pieces writes the sums of span columns of each channel, starting at every position. It
// divides the columns into pieces of span columns. Every window consists of the end of
// one piece and the start of the next, so its sum is a suffix sum plus a prefix sum.
func pieces(sums, columns []float64, channels, span int) {
	n, step := len(sums), span*channels
	start := 0
	if channels == 1 {
		for ; start+(severalPieces+1)*step <= n; start += severalPieces * step {
			sumPieces(sums[start:], columns[start:], span)
		}
	}
	for ; start < n; start += step {
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

// severalPieces is the number of pieces that are summed at the same time, because each of their additions has to wait for the
// one before.
const severalPieces = 4

// sumPieces sums several pieces of one channel.
func sumPieces(sums, columns []float64, span int) {
	var piece, to [severalPieces][]float64
	for k := range severalPieces {
		piece[k], to[k] = columns[k*span:][:span], sums[k*span:][:span]
	}
	next := columns[severalPieces*span:][:span]
	p0, p1, p2, p3 := piece[0], piece[1], piece[2], piece[3]
	t0, t1, t2, t3 := to[0], to[1], to[2], to[3]
	var a, b, c, d float64
	for i := span - 1; i >= 0; i-- {
		a += p0[i]
		b += p1[i]
		c += p2[i]
		d += p3[i]
		t0[i], t1[i], t2[i], t3[i] = a, b, c, d
	}
	a, b, c, d = 0, 0, 0, 0
	for i := 1; i < span; i++ {
		a += p1[i-1]
		b += p2[i-1]
		c += p3[i-1]
		d += next[i-1]
		t0[i] += a
		t1[i] += b
		t2[i] += c
		t3[i] += d
	}
}

// spreadPixels is the maximum number of pixels of a window that is summed pixel by pixel.
const spreadPixels = 1 << 12

// Spread returns Σ(p-mean)² over the window of element i, computed from its pixels, or NaN
// if the window has too many.
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

// eachPixel calls visit for the pixels of the window of column x in a channel.
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

// flats finds windows of a row whose pixels are all equal.
type flats struct {
	valid bool
	y, to int     // the row, and the end of its windows
	down  []int32 // number of equal pixels in each column, counted upwards from the last row of the windows
	along []int32 // number of adjacent columns, to the left of and including this one, whose pixels are all equal
}

func (l *flats) bytes() int { return engine.Bytes(l.down) + engine.Bytes(l.along) }

// isFlat reports whether all pixels of the window of column x are equal. It returns false
// for windows that wrap around the image.
func (s *Sums) isFlat(x, ch int) bool {
	f := &s.frame
	if s.from != 0 || s.to != f.Width || f.Height > 0 && f.Shape.Height() > 2*f.Height { // it would examine rows repeatedly
		return false
	}
	left, right, most := x-f.Left, x+f.Right, f.Width-1
	if beside := left < 0 || right > most; beside {
		switch f.Border { // the columns of the image that appear beyond its edges
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

// findFlats examines the columns of row y. It continues from the row above if that was
// the last one examined.
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
