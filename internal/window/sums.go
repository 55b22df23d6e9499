package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Rows are the rows of an image by their place: also those above and below it, as the
// border makes them. A row is the memory of Width*Channels pixels.
type Rows interface{ Row(place int) []byte }

// A Frame is an image as windows see it. Height is 0 while nobody knows it.
type Frame struct {
	Width, Height, Channels int
	Pixel                   pairs.Type
	Shape
	Offset  float64   // is taken away from every pixel of floats
	Squares bool      // are wanted too
	Values  []float64 // of Constant by channel, in the place of Value, if not nil
	Level   kernel.Level
}

// value is the constant of a channel.
func (f *Frame) value(channel int) float64 {
	if f.Values != nil {
		return f.Values[channel]
	}
	return f.Value
}

// Sums goes down a strip of columns, row by row, and has the sums of the windows of
// each row's pixels: in A, and their squares in Q. Integers must hold the sum of any one
// window. It allocates nothing when it does the like again.
type Sums[A, Q kernel.Number] struct {
	strip
	add Adder[A, Q]

	columns, prefixes  []A // with room for what follows to start a cache line
	squareColumns      []Q
	squarePrefixes     []Q
	memory, prefix     []A
	cols               []A // in memory, with zeros before them
	squareMemory       []Q
	squares, squarePre []Q
	hi, zeros          []A // where prefixes are not enough
	hiSquares, zeros2  []Q
	row                Row[A, Q]

	groups groups[A, Q]
}

// A strip is what does not depend on the type of sums.
type strip struct {
	frame  Frame
	across axis
	down   axis
	block  int // rows after which floats are summed anew; 0 for integers

	x, n        int // the pixels of the strip
	first, end  int // the places that windows reach
	from, to    int // the columns of the image that it sums
	start, stop int // the bytes of these columns in a row
	lead        int // elements before them

	rows    Rows
	nothing []byte // pixels that add nothing
	y       int
	valid   bool // the columns are those of row y
	careful bool // nothing is taken away from sums again, see careful.go

	pads   []pad
	counts []int32
	scales scales
	flats  flats
}

// A pad is elements beside the image, from one on, and those that stand for them: from
// another on, up or down or always the same.
type pad struct{ to, from, n, step int }

// grow adds an element, if it goes on so.
func (p *pad) grow(to, from int) bool {
	switch {
	case to != p.to+p.n:
		return false
	case p.n == 1:
		p.step = from - p.from
		if p.step < -1 || p.step > 1 {
			return false
		}
	case from != p.from+p.n*p.step:
		return false
	}
	p.n++
	return true
}

// copyPads makes the elements beside the image.
func copyPads[T any](cols []T, pads []pad) {
	for _, p := range pads {
		to := cols[p.to:][:p.n]
		switch {
		case p.step > 0:
			copy(to, cols[p.from:])
		case p.step == 0:
			for i := range to {
				to[i] = cols[p.from]
			}
		default:
			reverse(to, cols[p.from-p.n+1:][:p.n])
		}
	}
}

// reverse copies elements from the last to the first, eight at a time.
func reverse[T any](to, from []T) {
	for len(from) >= 8 {
		f, t := (*[8]T)(from[len(from)-8:]), (*[8]T)(to)
		t[0], t[1], t[2], t[3] = f[7], f[6], f[5], f[4]
		t[4], t[5], t[6], t[7] = f[3], f[2], f[1], f[0]
		from, to = from[:len(from)-8], to[8:]
	}
	for i, v := range from {
		to[len(from)-1-i] = v
	}
}

// A Row is the sums of the windows of a row of pixels. That of element i, less Offset for
// every pixel, is Hi[i]-Lo[i], that of the squares HiSquares[i]-LoSquares[i].
type Row[A, Q kernel.Number] struct {
	Hi, Lo               []A
	HiSquares, LoSquares []Q

	// Across is how many pixels the windows have across where that differs, and Down
	// how many they have down; else all have Area.
	Across []int32
	Down   int64
	Area   int64

	// Of pixels [From, To) of the strip windows have as many across.
	From, To int

	Channels int
	Offset   float64

	// Exact sums single windows of floats, where the difference of squares is not enough.
	Exact interface{ Spread(i int) float64 }
}

// Sum is that of the window of element i, and Squares that of its squares.
func (r *Row[A, Q]) Sum(i int) A     { return r.Hi[i] - r.Lo[i] }
func (r *Row[A, Q]) Squares(i int) Q { return r.HiSquares[i] - r.LoSquares[i] }

// Count is how many pixels the window of the strip's pixel x has.
func (r *Row[A, Q]) Count(x int) int64 {
	if r.Across == nil {
		return r.Area
	}
	return int64(r.Across[x]) * r.Down
}

// Same is where the pixels end, from x on, whose windows have as many pixels as that of x.
func (r *Row[A, Q]) Same(x int) int {
	switch {
	case x < r.From, x >= r.To:
		return x + 1
	}
	return r.To
}

// Block is how many rows below each other float sums go on for: they start anew at its
// multiples, whoever makes them, so that their bits are always the same. Integers have 0.
func Block[A kernel.Number](height int) int {
	if !isFloat[A]() {
		return 0
	}
	return max(64, height)
}

func isFloat[A kernel.Number]() bool {
	one, two := A(1), A(2)
	return one/two != 0
}

// Aim is for an image, whose size may not be zero.
func (s *Sums[A, Q]) Aim(f *Frame) {
	s.add = AdderOf[A, Q](f.Pixel)
	s.aim(f, Block[A](f.Shape.Height()))
}

func (s *strip) aim(f *Frame, block int) {
	s.frame = *f
	s.across = newAxis(f.Width, f.Left, f.Right, f.Border)
	s.down = newAxis(f.Height, f.Up, f.Down, f.Border)
	s.block = block
	s.valid = false
}

// Strips reports whether the image can be cut into strips of this many columns and
// more: what stands for pixels beside the image must be in the strip beside it.
func (f *Frame) Strips(columns int) bool {
	return f.Border != Wrap && f.Shape.Width() <= columns
}

// Strip goes to the top of columns [x, x+n).
func (s *Sums[A, Q]) Strip(x, n int) {
	f, c := &s.frame, s.frame.Channels
	s.lay(x, n)
	ext := (s.end - s.first) * c
	need := max(ext, s.lead+(s.to-s.from)*c)
	s.columns, s.memory = zerosOnLine(s.columns, kernel.Slack+need+kernel.WindowSlack, kernel.Slack+s.lead)
	s.cols = s.memory[kernel.Slack:]
	s.prefixes, s.prefix = zerosOnLine(s.prefixes, ext+c+kernel.WindowSlack, c)
	if f.Squares {
		s.squareColumns, s.squareMemory = zerosOnLine(s.squareColumns, kernel.Slack+need+kernel.WindowSlack, kernel.Slack+s.lead)
		s.squares = s.squareMemory[kernel.Slack:]
		s.squarePrefixes, s.squarePre = zerosOnLine(s.squarePrefixes, ext+c+kernel.WindowSlack, c)
	}
	for j := s.first; j < s.end && f.Border == Constant; j++ {
		if j == s.from {
			j = s.to - 1
			continue
		}
		for ch, at := 0, (j-s.first)*c; ch < c; ch++ {
			s.cols[at+ch] = constant[A](f, ch, false)
			if f.Squares {
				s.squares[at+ch] = constant[Q](f, ch, true)
			}
		}
	}
	s.row = Row[A, Q]{Area: int64(f.Shape.Width()) * int64(f.Shape.Height()), Channels: c, Offset: f.Offset, To: n, Exact: &s.strip}
	if f.Border == Clip {
		s.row.Across = s.counts[:n]
		s.row.From = min(n, max(0, s.across.before-x))
		s.row.To = max(s.row.From, min(n, s.across.n-s.across.after-x))
	}
}

// lay finds what columns [x, x+n) need, and what stands for those beside the image.
func (s *strip) lay(x, n int) {
	f, a, c := &s.frame, &s.across, s.frame.Channels
	s.x, s.n = x, n
	s.flats.valid, s.valid = false, false
	s.first, s.end = x-a.start, x+n-a.start+a.span-1
	s.from, s.to = max(0, s.first), min(f.Width, s.end)
	if n == f.Width {
		s.from, s.to = 0, f.Width
	}
	size := c * f.Pixel.Bytes()
	s.start, s.stop = s.from*size, s.to*size
	s.lead = (s.from - s.first) * c
	s.nothing = fill(s.nothing, f.Pixel, (s.to-s.from)*c, f.Offset)
	s.pads = s.pads[:0]
	for j := s.first; j < s.end; j++ {
		if j >= s.from && j < s.to {
			j = s.to - 1
			continue
		}
		at := f.Border.Index(j, f.Width)
		for ch := 0; ch < c && at != outside; ch++ {
			to, from := (j-s.first)*c+ch, s.lead+(at-s.from)*c+ch
			if last := len(s.pads) - 1; last < 0 || !s.pads[last].grow(to, from) {
				s.pads = append(s.pads, pad{to: to, from: from, n: 1, step: 1})
			}
		}
	}
	if f.Border == Clip {
		s.counts = engine.AtLeast(s.counts, n)
		for i := range n {
			s.counts[i] = int32(a.count(x + i))
		}
	}
}

// GoesOn reports whether the sums are those of columns [x, x+n) and of the row above y, so
// that they need not start anew.
func (s *strip) GoesOn(x, n, y int) bool {
	return s.valid && s.x == x && s.n == n && s.y+1 == y
}

// Reach is the columns of the image that the strip sums.
func (s *strip) Reach() (from, to int) { return s.from, s.to }

// zerosOnLine is n zeros in the memory of have, or of more of it, of which the one at this
// place starts a cache line: what vectors write then lies in one line.
func zerosOnLine[T any](have []T, n, at int) (memory, zeros []T) {
	line := kernel.LineBytes / grid.SizeOf[T]()
	memory = engine.Zeros(have, n+line)
	return memory, grid.OnLine(memory, n, at)
}

// constant is the sum of a column of the border's constant, less the offset, or of its square.
func constant[A kernel.Number](f *Frame, channel int, squared bool) A {
	d := A(f.value(channel) - f.Offset)
	if squared {
		d *= d
	}
	return A(f.Shape.Height()) * d
}

// part is the strip's part of a row.
func (s *strip) part(row []byte) []byte {
	return row[s.start:s.stop]
}

// image is the columns of the image.
func (s *Sums[A, Q]) image() []A { return s.cols[s.lead:][:(s.to-s.from)*s.frame.Channels] }

func (s *Sums[A, Q]) imageSquares() []Q {
	return s.squares[s.lead:][:(s.to-s.from)*s.frame.Channels]
}

// both is them and those of squares, nil if there are none.
func (s *Sums[A, Q]) both() (sums []A, squares []Q) {
	if s.frame.Squares {
		squares = s.imageSquares()
	}
	return s.image(), squares
}

// Down goes to row y, from the one above it or anew.
func (s *Sums[A, Q]) Down(rows Rows, y int) {
	f := &s.frame
	s.rows = rows
	if y != s.y+1 {
		s.flats.valid = false
	}
	switch {
	case !s.valid || y != s.y+1 || s.block > 0 && y%s.block == 0:
		s.y, s.valid, s.careful = y, true, false
		s.prime()
		if isFloat[A]() {
			s.scales = scales{}
			s.careful = !s.measure()
			s.groups.forget()
		}
	case s.careful:
		s.y = y
		s.regroup()
	default:
		s.y = y
		add, sub := s.part(rows.Row(y+f.Down)), s.part(rows.Row(y-f.Up-1))
		sums, squares := s.both()
		s.add(f.Level, sums, squares, add, sub, Q(f.Offset), 1)
	}
	s.pad()
}

// prime sums the columns of row y anew.
func (s *Sums[A, Q]) prime() {
	sums, squares := s.both()
	clear(sums)
	clear(squares)
	for k := range s.visits() {
		if row, times := s.visit(k); times > 0 {
			s.add(s.frame.Level, sums, squares, row, s.nothing, Q(s.frame.Offset), times)
		}
	}
}

// visits is how many rows are to be visited for the window of row y, see visit.
func (s *strip) visits() int {
	if s.once() {
		return s.frame.Height + 1
	}
	from, to := s.reach()
	return max(0, to-from)
}

// once reports whether windows are so large that each row is visited once, and not as often as they have it.
func (s *strip) once() bool { return s.frame.Height > 0 && s.frame.Shape.Height() > 2*s.frame.Height }

// visit is the strip's part of a row in the window of row y, and how many times it has that.
func (s *strip) visit(k int) (row []byte, times int) {
	f := &s.frame
	switch {
	case !s.once():
		from, _ := s.reach()
		k, times = k+from, 1
	case k < f.Height:
		times = s.down.weight(s.y, k)
	case f.Border == Constant:
		k, times = -1, s.down.outsideCount(s.y)
	}
	if times <= 0 {
		return nil, 0
	}
	return s.part(s.rows.Row(k)), times
}

// reach is the rows of the window of row y: of Clip those that the image has.
func (s *strip) reach() (from, to int) {
	f := &s.frame
	from, to = s.y-f.Up, s.y+f.Down+1
	if f.Border == Clip {
		from = max(0, from)
		if f.Height > 0 {
			to = min(to, f.Height)
		}
	}
	return from, to
}

// pad makes the columns beside the image.
func (s *Sums[A, Q]) pad() {
	copyPads(s.cols, s.pads)
	if s.frame.Squares {
		copyPads(s.squares, s.pads)
	}
}

// Columns is the sums of the columns in the windows' rows, with those beside the image:
// a window is span pixels of them from its own on. Before them are as many elements more as
// asked for, which are zero and at most [kernel.Slack], and after them [kernel.WindowSlack]. It is nil
// where windows have more than that.
func (s *Sums[A, Q]) Columns(before int) (cols []A, span int) {
	if s.extra() {
		return nil, 0
	}
	return s.memory[kernel.Slack-before:][:before+(s.n+s.across.span-1)*s.frame.Channels+kernel.WindowSlack], s.across.span
}

// SquareColumns is the same for squares.
func (s *Sums[A, Q]) SquareColumns(before int) []Q {
	if s.extra() {
		return nil
	}
	return s.squareMemory[kernel.Slack-before:][:before+(s.n+s.across.span-1)*s.frame.Channels+kernel.WindowSlack]
}

// Squared reports whether squares are wanted.
func (s *strip) Squared() bool { return s.frame.Squares }

// Row is what there is to say of the windows of row y, for who takes their columns.
func (s *Sums[A, Q]) Row() *Row[A, Q] {
	if s.row.Across != nil {
		s.row.Down = int64(s.down.count(s.y))
		if s.frame.Height == 0 {
			s.row.Down = int64(s.y + s.frame.Down + 1 - max(0, s.y-s.frame.Up))
		}
	}
	return &s.row
}

// Windows is the sums of the windows of row y. They stay until the next.
func (s *Sums[A, Q]) Windows() *Row[A, Q] {
	c := s.frame.Channels
	n, span := s.n*c, s.across.span*c
	r := s.Row()
	if s.careful {
		s.apart(r)
		s.addExtras(r)
		return r
	}
	kernel.Prefix(s.frame.Level, s.prefix, s.cols, c)
	if s.frame.Squares {
		kernel.Prefix(s.frame.Level, s.squarePre, s.squares, c)
	}
	if isFloat[A]() && !s.steady() {
		s.careful = true
		s.regroup()
		s.pad()
		return s.Windows()
	}
	r.Hi, r.Lo = s.prefix[span:][:n], s.prefix[:n]
	if s.frame.Squares {
		r.HiSquares, r.LoSquares = s.squarePre[span:][:n], s.squarePre[:n]
	}
	s.addExtras(r)
	return r
}

// addExtras adds what all windows have besides.
func (s *Sums[A, Q]) addExtras(r *Row[A, Q]) {
	if !s.extra() {
		return
	}
	s.hi = addExtra(s.hi, r.Hi, s.image(), &s.frame, &s.across, false)
	r.Hi = s.hi
	if s.frame.Squares {
		s.hiSquares = addExtra(s.hiSquares, r.HiSquares, s.imageSquares(), &s.frame, &s.across, true)
		r.HiSquares = s.hiSquares
	}
}

// Rows are those that the sums are of, as they were before any was written over: at least
// [Layer.Reach] of them above and below row y.
func (s *strip) Rows() Rows { return s.rows }

// Plain reports whether windows are no larger than columns say: see [Sums.Columns].
func (f *Frame) Plain() bool {
	a := newAxis(f.Width, f.Left, f.Right, f.Border)
	return a.periods == 0 && a.low == 0 && a.high == 0
}

// Span is how many columns make a window, see [Sums.Columns].
func (f *Frame) Span() int {
	a := newAxis(f.Width, f.Left, f.Right, f.Border)
	return a.span
}

// extra reports whether windows have more than the columns say.
func (s *strip) extra() bool {
	return s.across.periods > 0 || s.across.low > 0 || s.across.high > 0
}

// addExtra is sums with what all windows have besides: whole periods of the image, or
// what stands beside it.
func addExtra[A kernel.Number](have, sums, image []A, f *Frame, a *axis, squared bool) []A {
	have = engine.AtLeast(have, len(sums))
	for ch := range f.Channels {
		var e A
		first, last := image[ch], image[len(image)-f.Channels+ch]
		switch f.Border {
		case Constant:
			e = A(a.low+a.high) * constant[A](f, ch, squared)
		case Replicate:
			if a.low > 0 { // or nothing of what may be infinite
				e = A(a.low) * first
			}
			if a.high > 0 {
				e += A(A(a.high) * last)
			}
		default:
			for i := ch; i < len(image); i += f.Channels {
				e += image[i]
			}
			switch {
			case f.Border == Reflect:
				e += e
			case f.Border == Reflect101 && a.n > 1:
				for i := ch + f.Channels; i < len(image)-f.Channels; i += f.Channels {
					e += image[i] // once more, but for the first and the last
				}
			}
			e *= A(a.periods)
		}
		for i := ch; i < len(sums); i += f.Channels {
			have[i] = sums[i] + e
		}
	}
	return have
}

// Bytes is how much memory it keeps.
func (s *Sums[A, Q]) Bytes() int {
	return s.bytes() + engine.Bytes(s.columns) + engine.Bytes(s.prefixes) + engine.Bytes(s.squareColumns) + engine.Bytes(s.squarePrefixes) + engine.Bytes(s.hi) + engine.Bytes(s.zeros) + engine.Bytes(s.hiSquares) +
		engine.Bytes(s.zeros2) + s.groups.bytes()
}

func (s *strip) bytes() int {
	return engine.Bytes(s.pads) + engine.Bytes(s.nothing) + engine.Bytes(s.counts) + s.flats.bytes()
}

// End says how high the image is, where nobody knew it.
func (s *strip) End(height int) {
	s.frame.Height = height
	s.down = newAxis(height, s.frame.Up, s.frame.Down, s.frame.Border)
}

// Forget lets go of the rows.
func (s *strip) Forget() { s.rows, s.valid, s.flats.valid = nil, false, false }
