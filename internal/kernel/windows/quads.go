package windows

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

const (
	// QuadWidth is the greatest number of pixels in a row of [Quads].
	QuadWidth = 2048
	// quadSpan and quadHeight limit the size of windows: their columns must fit in quadMemory, and
	// the difference of two column sums must fit a signed 16-bit number.
	quadSpan, quadHeight = 1024, 128
	// quadColumns is the number of columns in quadMemory, a whole number of cache lines in each
	// array.
	quadColumns = 3200
)

// quadMemory holds column sums in the order in which vectors load them: those of even columns,
// those of odd columns, and those of squares by the column's position in its group of four. So a
// lane of 32 bits corresponds to four neighboring columns, as it does for pixels.
type quadMemory struct {
	cols    [2][quadColumns / 2]uint16
	squares [4][quadColumns / 4]uint32
}

type quadFunc = func(dst, pix, memory, even, odd, first, second, third, fourth, inverse *byte, n int, lanes *uint32, scratch *byte)

// Quads decides like a [Decider] for bytes and windows that are clipped at the edge of the image,
// and updates the columns itself. The prefix sum along a row adds groups of four columns. The sums
// of the first three windows of a group are computed from that of the last one.
type Quads struct {
	Decider
	half        bool    // vectors have 32 bytes, not 64
	left, width int     // columns of a window to the left of its pixel, and width of the image
	start       int     // position in the image of column 0, which precedes the first window by one
	from, to    int     // range of columns, in whole lines, that are read in place
	same        [2]int  // range of pixels, in whole lines, whose windows have full width
	one         float32 // the value of all inverses
	inverses    [decideChunk]float32
	zeros       []uint8
	edge        [2][raster.LineBytes]uint8
	room        [unsafe.Sizeof(quadMemory{}) + raster.LineBytes - 1]byte
}

// QuadsDecide reports whether a level has kernels for windows of this size.
func QuadsDecide(level processor.Level, f *Formula, span, height int) bool {
	return thresholdTable[level].slideQuads != nil && f.Kind <= BradleyFormula && span <= quadSpan && height <= quadHeight &&
		(!f.Kind.Squares() || float64(span)*float64(height)*255*255 < 1<<31)
}

func (q *Quads) memory() *quadMemory {
	return (*quadMemory)(unsafe.Pointer(&q.room[-uintptr(unsafe.Pointer(&q.room))&(raster.LineBytes-1)]))
}

// Strip starts at the top of the n columns from x on, in an image of the given width. The window of
// a pixel begins left pixels before it.
func (q *Quads) Strip(x, n, left, width int) {
	*q.memory() = quadMemory{}
	q.left, q.width, q.start = left, width, x-left-1
	q.half = q.level.String() == "avx2"
	// These lines are entirely inside the image. border slides the others.
	q.from = (max(0, -q.start) + raster.LineBytes - 1) &^ (raster.LineBytes - 1)
	end := min(n+q.span, width-q.start)
	q.to = max(q.from, end&^(raster.LineBytes-1))
	q.zeros = zeros(q.zeros, q.to+raster.LineBytes)
	q.Decider.x, q.Decider.n, q.down = x, n, 0
}

func zeros(have []uint8, n int) []uint8 {
	if len(have) < n {
		return make([]uint8, n)
	}
	return have
}

// Slide moves the columns down by one row: row add enters the windows and row sub leaves them. A
// nil row stands for zeros. Slide also prefetches next, the row that enters next, and out, the row
// of results.
func (q *Quads) Slide(add, sub, next, out []uint8) {
	if q.to > q.from {
		if len(out) == 0 {
			out = q.zeros
		}
		q.slide(q.from, q.to, q.part(add), q.part(sub), q.part(next), &out[0])
	}
	if first := -q.start; first > 0 && q.from > 0 {
		q.border(max(0, q.from-raster.LineBytes), add, sub)
	}
	if q.start+q.to < q.width && q.to < q.Decider.n+q.span {
		q.border(q.to, add, sub)
	}
}

// part returns the address of the first whole line of a row.
func (q *Quads) part(row []uint8) *byte {
	if row == nil {
		return &q.zeros[0]
	}
	row = row[q.start+q.from:]
	_ = row[q.to-q.from-1]
	return &row[0]
}

// border slides a line of columns that is partly outside the image.
func (q *Quads) border(at int, add, sub []uint8) {
	for i, row := range [2][]uint8{add, sub} {
		line := &q.edge[i]
		clear(line[:])
		if row != nil {
			from, to := max(0, q.start+at), min(q.width, q.start+at+raster.LineBytes)
			copy(line[from-q.start-at:], row[from:max(from, to)])
		}
	}
	q.slide(at, at+raster.LineBytes, &q.edge[0][0], &q.edge[1][0], &q.edge[0][0], &q.edge[0][0])
}

func (q *Quads) slide(from, to int, add, sub, next, out *byte) {
	asm := thresholdTable[q.level].slideQuads
	if q.Formula.Kind.Squares() {
		asm = thresholdTable[q.level].slideQuadSquares
	}
	asm((*byte)(unsafe.Add(unsafe.Pointer(q.memory()), from)), add, sub, next, out, to-from)
}

// Counts sets the number of rows in the windows.
func (q *Quads) Counts(down int64) {
	if down == q.down {
		return
	}
	q.down = down
	n := q.Decider.n
	// Lines of pixels whose windows have full width share one array of inverses.
	right := q.span - 1 - q.left
	from, to := max(0, q.left-q.Decider.x), min(n, q.width-right-q.Decider.x)
	q.same[0] = min((from+raster.LineBytes-1)&^(raster.LineBytes-1), n)
	q.same[1] = max(q.same[0], to&^(raster.LineBytes-1))
	room := (n + raster.LineBytes - 1) &^ (raster.LineBytes - 1)
	if len(q.single) < room {
		q.single = make([]float32, room)
	}
	for i := 0; i < room; i++ { // in the order of the kernels: a vector for each of four positions
		if i == q.same[0] && i < q.same[1] {
			if i = q.same[1]; i == room {
				break
			}
		}
		q.single[i] = 1
		if pixel := q.pixel(i); pixel < n {
			q.single[i] = float32(1 / float64(q.count(pixel)))
		}
	}
	if q.same[0] == q.same[1] {
		return
	}
	if one := float32(1 / float64(q.count(q.same[0]))); one != q.one {
		q.one = one
		for i := range q.inverses {
			q.inverses[i] = one
		}
	}
}

// pixel returns the pixel at a place of the vectors, which hold every fourth pixel.
func (q *Quads) pixel(place int) int {
	if q.half {
		return place&^31 + place&7<<2 + place>>3&3
	}
	return place&^63 + place&15<<2 + place>>4&3
}

func (q *Quads) count(i int) int64 {
	x := q.Decider.x + i
	return int64(min(x+q.span-q.left, q.width)-max(0, x-q.left)) * q.down
}

// Row thresholds a row of pixels to 0 and 255. dst must not overlap pix.
func (q *Quads) Row(dst, pix []uint8) {
	m, s := q.memory(), q.scratch()
	var sum, square uint32 // of the window before the first
	for i := range m.cols {
		for _, v := range m.cols[i][:(q.span+1-i)/2] {
			sum += uint32(v)
		}
	}
	for i := range s.carry {
		s.carry[i] = sum
	}
	if q.Formula.Kind.Squares() {
		for i := range m.squares {
			for _, v := range m.squares[i][:(q.span+3-i)/4] {
				square += v
			}
		}
		for i := range s.carry2 {
			s.carry2[i] = square
		}
	}
	dst = dst[:len(pix)]
	for from, to := 0, 0; from < len(pix); from = to {
		to = min(len(pix), from+decideChunk)
		switch {
		case from < q.same[0]:
			to = min(to, q.same[0])
		case from < q.same[1]:
			to = min(to, q.same[1])
		}
		part := pix[from:to]
		whole := len(part) &^ (raster.LineBytes - 1)
		if whole > 0 {
			q.chunk(dst[from:][:whole], part[:whole], from)
		}
		if whole < len(part) {
			n := copy(q.edge[0][:], part[whole:])
			q.chunk(q.edge[1][:], q.edge[0][:], from+whole)
			copy(dst[from+whole:][:n], q.edge[1][:])
		}
	}
}

func (q *Quads) chunk(dst, pix []uint8, at int) {
	w, m, s := &thresholdTable[q.level], q.memory(), q.scratch()
	var asm quadFunc
	switch q.kernel {
	case BradleyFormula:
		asm = w.quadBradley
	case TRSinghFormula:
		asm = w.quadTRSingh
	case SauvolaFormula:
		asm = w.quadSauvola
	case NiblackFormula:
		asm = w.quadNiblack
	case NICKFormula:
		asm = w.quadNICK
	case PhansalkarFormula:
		asm = w.quadPhansalkar
	case WolfFormula:
		asm = w.quadLinear
	default:
		asm = w.quadCareful
	}
	inverse := raster.First(q.single[at:])
	if at >= q.same[0] && at < q.same[1] {
		inverse = raster.First(q.inverses[:])
	}
	enter := at + q.span // the column that enters the window of the first pixel
	next := func(k int) *byte {
		e := enter + k
		return (*byte)(unsafe.Pointer(&m.squares[e%4][e/4]))
	}
	asm(raster.First(dst), raster.First(pix), (*byte)(unsafe.Add(unsafe.Pointer(m), at)), raster.First(m.cols[enter%2][enter/2:]), raster.First(m.cols[(enter+1)%2][(enter+1)/2:]),
		next(0), next(1), next(2), next(3), inverse, len(pix), processor.Lanes(4, 1), (*byte)(unsafe.Pointer(s)))
	n, squares := min(len(pix), q.Decider.n-at), q.Formula.Kind.Squares()
	for group := 0; group < n; group += raster.LineBytes {
		for doubt := binary.LittleEndian.Uint64(s.doubt[group/8:]); doubt != 0; doubt &= doubt - 1 {
			slot := group + bits.TrailingZeros64(doubt)
			j := q.pixel(slot)
			if j >= n {
				continue
			}
			square := uint64(0)
			if squares {
				square = uint64(s.squares[slot])
			}
			dst[j] = q.decideExactly(pix[j], uint64(s.sums[slot]), square, q.count(at+j))
		}
	}
}
