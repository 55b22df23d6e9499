package window

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// Rows provides the rows of an image by position, including those above and below it as
// determined by the border. A row is the memory of Width*Channels pixels.
type Rows interface{ Row(place int) []byte }

// A Frame describes an image and its windows. Height is 0 as long as it is unknown.
type Frame struct {
	Width, Height, Channels int
	Pixel                   raster.Type
	Sum                     raster.Type // type of the sums; an integer type must hold the sum of any window
	Square                  raster.Type // type of the sums of squares; 0 for none
	Shape
	Offset float64   // subtracted from every float pixel
	Values []float64 // the values of the Constant border by channel; nil to use Value
	Level  processor.Level
}

// value returns the border constant of a channel.
func (f *Frame) value(channel int) float64 {
	if f.Values != nil {
		return f.Values[channel]
	}
	return f.Value
}

// squared reports whether squares are summed too.
func (f *Frame) squared() bool { return f.Square != 0 }

// Sums computes the sums, and optionally the sums of squares, of the windows of a row of
// pixels, while it moves down a strip of columns row by row. It does not allocate when it
// is used again for an image of similar size.
type Sums struct {
	frame  Frame
	across axis
	down   axis
	block  int // number of rows after which float sums start from scratch; 0 for integers

	x, n        int // the pixels of the strip
	first, end  int // the positions that windows cover
	from, to    int // the columns of the image that are summed
	start, stop int // the byte range of these columns in a row
	lead        int // number of elements before them, outside the image

	rows    Rows
	own     *ownRows // equal to rows if the image is overwritten
	nothing []byte   // pixels that add nothing to a sum
	y       int
	valid   bool // the columns have been summed for row y
	careful bool // sum windows without subtraction, see careful.go

	kernel  windows.Columns
	sums    lane
	squares lane
	row     Row

	several [][]byte // rows that are added at once

	pads   []pad
	counts []int32
	scales scales
	flats  flats
	groups groups
}

// A lane holds column sums, either of pixels or of their squares, and the window sums
// computed from them.
type lane struct {
	typ  raster.Type // 0 if there are none
	size int         // bytes of an element

	columns, prefixes []byte // the allocations that contain memory and prefix, with room to align these to a cache line
	memory, prefix    []byte
	cols              []byte // the part of memory after its leading zeros
	constants         []byte // by channel, the sum of a column of pixels outside the image, for the Constant border
	extras            []byte // results of windows.AddExtra
	hi, zeros         []byte // window sums that are not computed from prefixes
}

// A pad describes n elements outside the image, starting at element to. They equal
// elements of the image starting at element from, in ascending order (step 1), in
// descending order (step -1), or all equal to the first one (step 0).
type pad struct{ to, from, n, step int }

// grow appends an element to the pad if it continues the pattern.
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

// copyPads fills in the elements outside the image. size is the size of an element in
// bytes.
func copyPads(cols []byte, pads []pad, size int) {
	switch size {
	case 2:
		copyPadsOf[uint16](cols, pads)
	case 4:
		copyPadsOf[uint32](cols, pads)
	default:
		copyPadsOf[uint64](cols, pads)
	}
}

func copyPadsOf[T raster.Number](cols []byte, pads []pad) {
	elems := raster.Elems[T](cols)
	for i := range pads {
		p := &pads[i]
		to := elems[p.to:][:p.n]
		switch {
		case p.step > 0:
			copy(to, elems[p.from:])
		case p.step == 0:
			for k := range to {
				to[k] = elems[p.from]
			}
		default:
			windows.Reverse(to, elems[p.from-p.n+1:][:p.n])
		}
	}
}

// A Row holds the sums of the windows of a row of pixels, and of their squares. Offset
// has been subtracted from every pixel.
type Row struct {
	Sums, Squares windows.Sums

	// Across is the width of each window in pixels if windows differ, and Down is their
	// height. If Across is nil, all windows have Area pixels.
	Across []int32
	Down   int64
	Area   int64

	// From and To delimit the pixels of the strip whose windows all have the same width.
	From, To int

	Channels int
	Offset   float64

	// Exact computes single windows of floats for which the difference of squares is not
	// accurate enough.
	Exact interface{ Spread(i int) float64 }
}

// Count returns the number of pixels in the window of pixel x of the strip.
func (r *Row) Count(x int) int64 {
	if r.Across == nil {
		return r.Area
	}
	return int64(r.Across[x]) * r.Down
}

// A Part is a run of windows that have the same number of pixels: those of pixels [From,
// To) of a strip.
type Part struct {
	From, To      int
	Sums, Squares windows.Sums
	Count         int64
}

// Cut sets p to the run of windows, starting at pixel x, that have the same number of
// pixels. It writes to p because it is called for every row, and copying a Part takes as
// long as computing it.
func (r *Row) Cut(p *Part, x int) {
	p.From, p.To, p.Count = x, r.To, r.Count(x)
	if x < r.From || x >= r.To {
		p.To = x + 1
	}
	from, to := x*r.Channels, p.To*r.Channels
	p.Sums.Cut(&r.Sums, from, to)
	p.Squares.Cut(&r.Squares, from, to)
}

// Block returns the number of rows after which running sums of floats start from scratch.
// They do so at multiples of this number, whichever worker computes them, so that results
// always have the same bits. Block returns 0 for integers.
func Block(sum raster.Type, height int) int {
	if !sum.Float() {
		return 0
	}
	return max(64, height)
}

// Aim prepares s for an image, which must not be empty.
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

// Strips reports whether the image can be divided into strips of at least this many
// columns: all pixels that appear outside the image must be in the outermost strip.
func (f *Frame) Strips(columns int) bool {
	return f.Border != Wrap && f.Shape.Width() <= columns
}

// Strip moves to the top of the strip of columns [x, x+n).
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

// resize allocates memory for the columns of a strip, and sets those of the border's constant.
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

// layOut determines which columns of the image the windows of columns [x, x+n) need, and
// which of them appear outside the image.
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

// GoesOn reports whether s can continue to row y of columns [x, x+n) because it holds
// their sums for the row above.
func (s *Sums) GoesOn(x, n, y int) bool {
	return s.valid && s.x == x && s.n == n && s.y+1 == y
}

// Reach returns the range of columns of the image that the strip sums.
func (s *Sums) Reach() (from, to int) { return s.from, s.to }

// zerosOnLine returns n zero bytes, reusing the memory of have if it suffices. The byte
// with index at is at the start of a cache line, so that stores of vectors do not
// straddle lines.
func zerosOnLine(have []byte, n, at int) (memory, zeros []byte) {
	memory = engine.Zeros(have, n+kernel.LineBytes)
	return memory, raster.OnLine(memory, n, at)
}

// part returns the strip's part of a row.
func (s *Sums) part(row []byte) []byte {
	return row[s.start:s.stop]
}

// image returns the columns that are inside the image.
func (l *lane) image(s *Sums) []byte {
	return l.cols[s.lead*l.size:][:(s.to-s.from)*s.frame.Channels*l.size]
}

// images returns the columns inside the image, of the sums and of the squares. squares is
// nil if there are none.
func (s *Sums) images() (sums, squares []byte) {
	if s.frame.squared() {
		squares = s.squares.image(s)
	}
	return s.sums.image(s), squares
}

// Down moves to row y, from the row above if possible. If the image is overwritten, it
// keeps a copy of the row.
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
		s.recompute()
	default:
		s.y = y
		add, sub := s.part(rows.Row(y+f.Down)), s.part(rows.Row(y-f.Up-1))
		sums, squares := s.images()
		s.kernel.Slide(sums, squares, add, sub, f.Offset)
	}
	s.pad()
	if s.own != nil {
		s.own.Keep()
	}
}

// prime sums the columns of row y from scratch.
func (s *Sums) prime() {
	sums, squares := s.images()
	clear(sums)
	clear(squares)
	if !s.visitsOnce() {
		from, to := s.reach()
		s.addRows(sums, squares, from, to)
		return
	}
	for k := range s.frame.Height + 1 {
		if row, times := s.visit(k); times > 0 {
			s.addRow(sums, squares, row, times)
		}
	}
}

// addRow adds the strip's part of a row to the column sums the given number of times.
func (s *Sums) addRow(sums, squares, row []byte, times int) {
	if times == 1 {
		s.kernel.Slide(sums, squares, row, s.nothing, s.frame.Offset)
	} else {
		s.kernel.Add(sums, squares, row, s.frame.Offset, times)
	}
}

// severalRows is the number of rows that are added at once.
const severalRows = 16

// addRows adds the strip's part of rows [from, to) to the column sums. It adds several rows of floats at once if all of
// them are in memory.
func (s *Sums) addRows(sums, squares []byte, from, to int) {
	if !s.frame.Sum.Float() || !inMemory(s.rows) {
		for ; from < to; from++ {
			s.addRow(sums, squares, s.part(s.rows.Row(from)), 1)
		}
		return
	}
	for from < to {
		s.several = s.several[:0]
		for end := min(from+severalRows, to); from < end; from++ {
			s.several = append(s.several, s.part(s.rows.Row(from)))
		}
		s.kernel.AddRows(sums, squares, s.several, s.frame.Offset)
	}
}

// inMemory reports whether rows stay valid when others are requested.
func inMemory(rows Rows) bool {
	switch rows.(type) {
	case *Image, *ownRows:
		return true
	}
	return false
}

// visitsOnce reports whether windows are so high that each row is visited once and multiplied,
// instead of being visited as often as the window contains it.
func (s *Sums) visitsOnce() bool {
	return s.frame.Height > 0 && s.frame.Shape.Height() > 2*s.frame.Height
}

// visit returns the strip's part of row k of the image, and how often the window of row y contains it, or, after the last
// row, that of the row outside.
func (s *Sums) visit(k int) (row []byte, times int) {
	f := &s.frame
	switch {
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

// reach returns the range of rows in the window of row y, limited to the image if the
// border is Clip.
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

// pad fills in the columns outside the image.
func (s *Sums) pad() {
	copyPads(s.sums.cols, s.pads, s.sums.size)
	if s.frame.squared() {
		copyPads(s.squares.cols, s.pads, s.squares.size)
	}
}

// Columns returns the column sums over the rows of the windows, including columns outside
// the image. A window is the sum of span of these columns, the first of which has the
// same index as the window's pixel. The requested number of zeros, at most
// [kernel.Slack], precedes the columns, and [windows.Slack] elements follow them. Columns
// returns nil if windows contain further pixels: see Extra in package windows.
func (s *Sums) Columns(before int) (cols []byte, span int) {
	if s.extra() {
		return nil, 0
	}
	return s.sums.padded(s, before), s.across.span
}

// SquareColumns is like Columns for squares.
func (s *Sums) SquareColumns(before int) []byte {
	if s.extra() {
		return nil
	}
	return s.squares.padded(s, before)
}

func (l *lane) padded(s *Sums, before int) []byte {
	return l.memory[(kernel.Slack-before)*l.size:][:(before+(s.n+s.across.span-1)*s.frame.Channels+windows.Slack)*l.size]
}

// Squared reports whether squares are summed too.
func (s *Sums) Squared() bool { return s.frame.squared() }

// Row returns the sizes of the windows of row y, for callers that use Columns. The sums of
// the result are not set.
func (s *Sums) Row() *Row {
	if s.row.Across != nil {
		s.row.Down = int64(s.down.count(s.y))
		if s.frame.Height == 0 {
			s.row.Down = int64(s.y + s.frame.Down + 1 - max(0, s.y-s.frame.Up))
		}
	}
	return &s.row
}

// Windows returns the sums of the windows of row y. They are valid until the next call.
func (s *Sums) Windows() *Row {
	r := s.Row()
	if s.careful {
		s.withoutSubtraction(r)
		s.addExtras(r)
		return r
	}
	s.sums.sumPrefix(s)
	if s.frame.squared() {
		s.squares.sumPrefix(s)
	}
	if s.frame.Sum.Float() && !s.steady() {
		s.careful = true
		s.recompute()
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

// window computes the sums of windows as differences of prefix sums.
func (l *lane) window(s *Sums, r *windows.Sums) {
	n, span := s.n*s.frame.Channels*l.size, s.across.span*s.frame.Channels*l.size
	r.Hi, r.Lo = l.prefix[span:][:n], l.prefix[:n]
}

// addExtras adds the pixels that all windows contain in addition to the columns.
func (s *Sums) addExtras(r *Row) {
	if !s.extra() {
		return
	}
	s.sums.addExtra(s, &r.Sums)
	if s.frame.squared() {
		s.squares.addExtra(s, &r.Squares)
	}
}

// addExtra adds what all windows contain in addition to the columns: whole periods of the
// image, or pixels outside it.
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

// Rows returns the rows that are summed, as they were before any of them was overwritten.
// At least [Layer.Reach] rows above and below row y are available.
func (s *Sums) Rows() Rows { return s.rows }

// Plain reports whether the sums of Columns are complete windows: see [Sums.Columns].
func (f *Frame) Plain() bool {
	a := newAxis(f.Width, f.Left, f.Right, f.Border)
	return a.periods == 0 && a.low == 0 && a.high == 0
}

// Span returns the number of columns in a window: see [Sums.Columns].
func (f *Frame) Span() int {
	a := newAxis(f.Width, f.Left, f.Right, f.Border)
	return a.span
}

// extra reports whether windows contain pixels in addition to the columns.
func (s *Sums) extra() bool {
	return s.across.periods > 0 || s.across.low > 0 || s.across.high > 0
}

// Bytes returns the size of the memory that s keeps.
func (s *Sums) Bytes() int {
	return engine.Bytes(s.pads) + engine.Bytes(s.nothing) + engine.Bytes(s.counts) + s.flats.bytes() +
		s.sums.bytes() + s.squares.bytes() + s.groups.bytes()
}

func (l *lane) bytes() int {
	return cap(l.columns) + cap(l.prefixes) + cap(l.constants) + cap(l.extras) + cap(l.hi) + cap(l.zeros)
}

// End sets the height of the image if it was unknown.
func (s *Sums) End(height int) {
	s.frame.Height = height
	s.down = newAxis(height, s.frame.Up, s.frame.Down, s.frame.Border)
}

// Forget drops references to the rows.
func (s *Sums) Forget() {
	s.rows, s.own, s.valid, s.flats.valid = nil, nil, false, false
	clear(s.several)
}
