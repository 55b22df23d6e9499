package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// Rows are the rows of an image by their place: also those above and below it, as the
// border makes them. A row is the memory of Width*Channels pixels.
type Rows interface{ Row(place int) []byte }

// A Frame is an image as windows see it. Height is 0 while nobody knows it.
type Frame struct {
	Width, Height, Channels int
	Pixel                   raster.Type
	Sum                     raster.Type // of the sums; integers must hold that of any one window
	Square                  raster.Type // of the sums of squares, and zero where none are wanted
	Shape
	Offset float64   // is taken away from every pixel of floats
	Values []float64 // of Constant by channel, in the place of Value, if not nil
	Level  processor.Level
}

// value is the constant of a channel.
func (f *Frame) value(channel int) float64 {
	if f.Values != nil {
		return f.Values[channel]
	}
	return f.Value
}

// squared reports whether squares are wanted.
func (f *Frame) squared() bool { return f.Square != 0 }

// Sums goes down a strip of columns, row by row, and has the sums of the windows of
// each row's pixels, and of their squares. It allocates nothing when it does the like
// again.
type Sums struct {
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

	kernel  windows.Columns
	sums    lane
	squares lane
	row     Row

	pads   []pad
	counts []int32
	scales scales
	flats  flats
	groups groups
}

// A lane is the sums of columns, of pixels or of their squares, and what is made of them.
type lane struct {
	typ  raster.Type // zero for none
	size int         // bytes of an element

	columns, prefixes []byte // with room for what follows to start a cache line
	memory, prefix    []byte
	cols              []byte // in memory, with zeros before them
	constants         []byte // the sum of a column of the border's constant, by channel
	extras            []byte // those of Extra columns
	hi, zeros         []byte // where prefixes are not enough
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

// copyPads makes the elements beside the image, of a size in bytes.
func copyPads(cols []byte, pads []pad, size int) {
	for _, p := range pads {
		to := cols[p.to*size:][:p.n*size]
		switch {
		case p.step > 0:
			copy(to, cols[p.from*size:])
		case p.step == 0:
			windows.Repeat(to, cols[p.from*size:][:size])
		default:
			windows.Reverse(to, cols[(p.from-p.n+1)*size:][:p.n*size], size)
		}
	}
}

// A Row is the sums of the windows of a row of pixels, less Offset for every pixel, and of
// the squares.
type Row struct {
	Sums, Squares windows.Sums

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

// Count is how many pixels the window of the strip's pixel x has.
func (r *Row) Count(x int) int64 {
	if r.Across == nil {
		return r.Area
	}
	return int64(r.Across[x]) * r.Down
}

// A Part is windows side by side, of pixels [From, To) of a strip, that have as many
// pixels each.
type Part struct {
	From, To      int
	Sums, Squares windows.Sums
	Count         int64
}

// Cut sets p to the windows from pixel x on that have as many pixels as that of x. It
// fills p in place: this is done for every row, and to copy a Part takes as long as to
// make it.
func (r *Row) Cut(p *Part, x int) {
	p.From, p.To, p.Count = x, r.To, r.Count(x)
	if x < r.From || x >= r.To {
		p.To = x + 1
	}
	from, to := x*r.Channels, p.To*r.Channels
	p.Sums.Cut(&r.Sums, from, to)
	p.Squares.Cut(&r.Squares, from, to)
}

// Block is how many rows below each other float sums go on for: they start anew at its
// multiples, whoever makes them, so that their bits are always the same. Integers have 0.
func Block(sum raster.Type, height int) int {
	if !sum.Float() {
		return 0
	}
	return max(64, height)
}

// Aim is for an image, whose size may not be zero.
func (s *Sums) Aim(f *Frame) {
	s.frame = *f
	s.across = newAxis(f.Width, f.Left, f.Right, f.Border)
	s.down = newAxis(f.Height, f.Up, f.Down, f.Border)
	s.block = Block(f.Sum, f.Shape.Height())
	s.valid = false
	s.kernel = windows.NewColumns(f.Level, f.Pixel, f.Sum, f.Square)
	s.sums.typ, s.sums.size = f.Sum, f.Sum.Bytes()
	s.squares.typ, s.squares.size = f.Square, f.Square.Bytes()
}

// Strips reports whether the image can be cut into strips of this many columns and
// more: what stands for pixels beside the image must be in the strip beside it.
func (f *Frame) Strips(columns int) bool {
	return f.Border != Wrap && f.Shape.Width() <= columns
}

// Strip goes to the top of columns [x, x+n).
func (s *Sums) Strip(x, n int) {
	f, c := &s.frame, s.frame.Channels
	s.layOut(x, n)
	s.sums.resize(s)
	if f.squared() {
		s.squares.resize(s)
	}
	s.row = Row{Area: int64(f.Shape.Width()) * int64(f.Shape.Height()), Channels: c, Offset: f.Offset, To: n, Exact: s}
	s.row.Sums.Type, s.row.Squares.Type = f.Sum, f.Square
	if f.Border == Clip {
		s.row.Across = s.counts[:n]
		s.row.From = min(n, max(0, s.across.before-x))
		s.row.To = max(s.row.From, min(n, s.across.n-s.across.after-x))
	}
}

// resize makes room for the columns of a strip, and sets those of the border's constant.
func (l *lane) resize(s *Sums) {
	f, c, size := &s.frame, s.frame.Channels, l.size
	ext := (s.end - s.first) * c
	need := max(ext, s.lead+(s.to-s.from)*c)
	l.columns, l.memory = zerosOnLine(l.columns, (kernel.Slack+need+windows.Slack)*size, (kernel.Slack+s.lead)*size)
	l.cols = l.memory[kernel.Slack*size:]
	l.prefixes, l.prefix = zerosOnLine(l.prefixes, (ext+c+windows.Slack)*size, c*size)
	if f.Border != Constant {
		return
	}
	l.constants = engine.AtLeast(l.constants, c*size)
	for ch := range c {
		windows.Constant(l.typ, l.constants[ch*size:], f.value(ch)-f.Offset, f.Shape.Height(), l == &s.squares)
	}
	for j := s.first; j < s.end; j++ {
		if j == s.from {
			j = s.to - 1
			continue
		}
		copy(l.cols[(j-s.first)*c*size:], l.constants)
	}
}

// layOut finds what columns [x, x+n) need, and what stands for those beside the image.
func (s *Sums) layOut(x, n int) {
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
func (s *Sums) GoesOn(x, n, y int) bool {
	return s.valid && s.x == x && s.n == n && s.y+1 == y
}

// Reach is the columns of the image that the strip sums.
func (s *Sums) Reach() (from, to int) { return s.from, s.to }

// zerosOnLine is n zero bytes in the memory of have, or of more of it, of which the one at
// this place starts a cache line: what vectors write then lies in one line.
func zerosOnLine(have []byte, n, at int) (memory, zeros []byte) {
	memory = engine.Zeros(have, n+kernel.LineBytes)
	return memory, raster.OnLine(memory, n, at)
}

// part is the strip's part of a row.
func (s *Sums) part(row []byte) []byte {
	return row[s.start:s.stop]
}

// image is the columns of the image.
func (l *lane) image(s *Sums) []byte {
	return l.cols[s.lead*l.size:][:(s.to-s.from)*s.frame.Channels*l.size]
}

// images is the columns of the image and those of squares, nil if there are none.
func (s *Sums) images() (sums, squares []byte) {
	if s.frame.squared() {
		squares = s.squares.image(s)
	}
	return s.sums.image(s), squares
}

// Down goes to row y, from the one above it or anew.
func (s *Sums) Down(rows Rows, y int) {
	f := &s.frame
	s.rows = rows
	if y != s.y+1 {
		s.flats.valid = false
	}
	switch {
	case !s.valid || y != s.y+1 || s.block > 0 && y%s.block == 0:
		s.y, s.valid, s.careful = y, true, false
		s.prime()
		if f.Sum.Float() {
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
		sums, squares := s.images()
		s.kernel.Slide(sums, squares, add, sub, f.Offset)
	}
	s.pad()
}

// prime sums the columns of row y anew.
func (s *Sums) prime() {
	sums, squares := s.images()
	clear(sums)
	clear(squares)
	for k := range s.visits() {
		if row, times := s.visit(k); times > 0 {
			s.addRow(sums, squares, row, times)
		}
	}
}

// addRow adds the strip's part of a row to sums of columns.
func (s *Sums) addRow(sums, squares, row []byte, times int) {
	if times == 1 {
		s.kernel.Slide(sums, squares, row, s.nothing, s.frame.Offset)
	} else {
		s.kernel.Add(sums, squares, row, s.frame.Offset, times)
	}
}

// visits is how many rows are to be visited for the window of row y, see visit.
func (s *Sums) visits() int {
	if s.once() {
		return s.frame.Height + 1
	}
	from, to := s.reach()
	return max(0, to-from)
}

// once reports whether windows are so large that each row is visited once, and not as often as they have it.
func (s *Sums) once() bool { return s.frame.Height > 0 && s.frame.Shape.Height() > 2*s.frame.Height }

// visit is the strip's part of a row in the window of row y, and how many times it has that.
func (s *Sums) visit(k int) (row []byte, times int) {
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
func (s *Sums) reach() (from, to int) {
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
func (s *Sums) pad() {
	copyPads(s.sums.cols, s.pads, s.sums.size)
	if s.frame.squared() {
		copyPads(s.squares.cols, s.pads, s.squares.size)
	}
}

// Columns is the sums of the columns in the windows' rows, with those beside the image:
// a window is span pixels of them from its own on. Before them are as many elements more as
// asked for, which are zero and at most [kernel.Slack], and after them [windows.Slack]. It is nil
// where windows have more than that.
func (s *Sums) Columns(before int) (cols []byte, span int) {
	if s.extra() {
		return nil, 0
	}
	return s.sums.padded(s, before), s.across.span
}

// SquareColumns is the same for squares.
func (s *Sums) SquareColumns(before int) []byte {
	if s.extra() {
		return nil
	}
	return s.squares.padded(s, before)
}

func (l *lane) padded(s *Sums, before int) []byte {
	return l.memory[(kernel.Slack-before)*l.size:][:(before+(s.n+s.across.span-1)*s.frame.Channels+windows.Slack)*l.size]
}

// Squared reports whether squares are wanted.
func (s *Sums) Squared() bool { return s.frame.squared() }

// Row is what there is to say of the windows of row y, for who takes their columns.
func (s *Sums) Row() *Row {
	if s.row.Across != nil {
		s.row.Down = int64(s.down.count(s.y))
		if s.frame.Height == 0 {
			s.row.Down = int64(s.y + s.frame.Down + 1 - max(0, s.y-s.frame.Up))
		}
	}
	return &s.row
}

// Windows is the sums of the windows of row y. They stay until the next.
func (s *Sums) Windows() *Row {
	r := s.Row()
	if s.careful {
		s.apart(r)
		s.addExtras(r)
		return r
	}
	s.sums.sumPrefix(s)
	if s.frame.squared() {
		s.squares.sumPrefix(s)
	}
	if s.frame.Sum.Float() && !s.steady() {
		s.careful = true
		s.regroup()
		s.pad()
		return s.Windows()
	}
	s.sums.window(s, &r.Sums)
	if s.frame.squared() {
		s.squares.window(s, &r.Squares)
	}
	s.addExtras(r)
	return r
}

func (l *lane) sumPrefix(s *Sums) {
	windows.Prefix(s.frame.Level, l.typ, l.prefix, l.cols, s.frame.Channels)
}

// window makes the sums of windows from prefixes.
func (l *lane) window(s *Sums, r *windows.Sums) {
	n, span := s.n*s.frame.Channels*l.size, s.across.span*s.frame.Channels*l.size
	r.Hi, r.Lo = l.prefix[span:][:n], l.prefix[:n]
}

// addExtras adds what all windows have besides.
func (s *Sums) addExtras(r *Row) {
	if !s.extra() {
		return
	}
	s.sums.addExtra(s, &r.Sums)
	if s.frame.squared() {
		s.squares.addExtra(s, &r.Squares)
	}
}

// addExtra is sums with what all windows have besides: whole periods of the image, or
// what stands beside it.
func (l *lane) addExtra(s *Sums, r *windows.Sums) {
	f, a := &s.frame, &s.across
	e := windows.Extra{Channels: f.Channels}
	switch f.Border {
	case Constant:
		e.Constants, e.Beside = l.constants[:f.Channels*l.size], a.low+a.high
	case Replicate:
		e.First, e.Last = a.low, a.high
	default:
		e.Periods, e.Mirrored, e.Inner = a.periods, f.Border == Reflect, f.Border == Reflect101 && a.n > 1
	}
	l.extras = engine.AtLeast(l.extras, len(r.Hi))
	windows.AddExtra(l.typ, l.extras, r.Hi, l.image(s), e)
	r.Hi = l.extras
}

// Rows are those that the sums are of, as they were before any was written over: at least
// [Layer.Reach] of them above and below row y.
func (s *Sums) Rows() Rows { return s.rows }

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
func (s *Sums) extra() bool {
	return s.across.periods > 0 || s.across.low > 0 || s.across.high > 0
}

// Bytes is how much memory it keeps.
func (s *Sums) Bytes() int {
	return engine.Bytes(s.pads) + engine.Bytes(s.nothing) + engine.Bytes(s.counts) + s.flats.bytes() +
		s.sums.bytes() + s.squares.bytes() + s.groups.bytes()
}

func (l *lane) bytes() int {
	return cap(l.columns) + cap(l.prefixes) + cap(l.constants) + cap(l.extras) + cap(l.hi) + cap(l.zeros)
}

// End says how high the image is, where nobody knew it.
func (s *Sums) End(height int) {
	s.frame.Height = height
	s.down = newAxis(height, s.frame.Up, s.frame.Down, s.frame.Border)
}

// Forget lets go of the rows.
func (s *Sums) Forget() { s.rows, s.valid, s.flats.valid = nil, false, false }
