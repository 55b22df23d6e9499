package imgio

import "math/bits"

// Modes of T.6, which encode a line relative to the one above it.
var (
	passMode       = newCode("0001")
	horizontalMode = newCode("001")
	verticalModes  = [7]bitCode{ // from three to the left to three to the right
		newCode("0000010"), newCode("000010"), newCode("010"), newCode("1"), newCode("011"), newCode("000011"), newCode("0000011"),
	}
	endOfBlock = newCode("000000000001000000000001")
)

// A faxWriter encodes rows of bits, where 1 is black, as ITU-T T.6 (fax group
// 4).
type faxWriter struct {
	width int
	above []byte // the previous row, initially white
	out   []byte
	word  uint64 // bits that do not fill a byte yet
	n     uint
}

func newFaxWriter(width int) *faxWriter {
	return &faxWriter{width: width, above: make([]byte, (width+7)/8)}
}

func (f *faxWriter) put(c bitCode) {
	f.word = f.word<<c.n | uint64(c.bits)
	for f.n += c.n; f.n >= 8; f.n -= 8 {
		f.out = append(f.out, byte(f.word>>(f.n-8)))
	}
}

// run writes the codes of a run of n pixels.
func (f *faxWriter) run(n int, black bool) {
	t := &whiteTable
	if black {
		t = &blackTable
	}
	for most := len(t.long) - 1; n >= 64*(most+1); n -= 64 * most {
		f.put(t.long[most])
	}
	if n >= 64 {
		f.put(t.long[n/64])
	}
	f.put(t.short[n%64])
}

// row encodes a row.
func (f *faxWriter) row(row []byte) {
	for a0, black := -1, false; a0 < f.width; {
		a1 := f.next(row, max(a0, 0), black)
		b1 := f.changing(a0, black)
		b2 := f.next(f.above, b1, !black)
		switch d := a1 - b1; {
		case b2 < a1:
			f.put(passMode)
			a0 = b2
		case d >= -3 && d <= 3:
			f.put(verticalModes[d+3])
			a0, black = a1, !black
		default:
			a2 := f.next(row, a1, !black)
			f.put(horizontalMode)
			f.run(a1-max(a0, 0), black)
			f.run(a2-a1, !black)
			a0 = a2
		}
	}
	copy(f.above, row)
}

// changing returns the first pixel of the row above, right of a0, that differs
// from black in color and follows a pixel that does not.
func (f *faxWriter) changing(a0 int, black bool) int {
	x := a0 + 1
	if x > 0 && x < f.width && bitAt(f.above, x-1) != black { // within a run of the opposite color
		x = f.next(f.above, x, !black)
	}
	return f.next(f.above, x, black)
}

// next returns the position of the first pixel from x on that is not of the
// given color, or the width.
func (f *faxWriter) next(row []byte, x int, black bool) int {
	var flip byte
	if black {
		flip = 255
	}
	for x < f.width {
		if b := (row[x/8] ^ flip) << (x % 8); b != 0 {
			return min(f.width, x+bits.LeadingZeros8(b))
		}
		x = x/8*8 + 8
	}
	return f.width
}

func bitAt(row []byte, x int) bool { return row[x/8]>>(7-x%8)&1 != 0 }

// end returns the encoded data.
func (f *faxWriter) end() []byte {
	f.put(endOfBlock)
	if f.n > 0 {
		f.put(bitCode{0, 8 - f.n})
	}
	return f.out
}
