package detect

import (
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/engine"
)

// First stages see little of how far an object is turned: 22.5° off, it still passes them. So
// an angle between two multiples of 45° that are searched too is left to their first stages.
// Where neither passes, no angle between them is looked at: one rejection is for all. That
// it loses nothing was measured, see docs/detect.md; TestShared holds that nothing else
// changes.

const (
	// markStages is how many stages a window passes that leaves a mark.
	markStages = 8
	// markPlaces is how many places for marks lie side by side in a window.
	markPlaces = 3
	// markReach is for how many sizes a mark is, beside its own.
	markReach = 1
)

// markLog is from one size of marks to the next.
var markLog = math.Log(1.1)

// marks is where first stages passed: a byte for a place and a size, with a bit for each
// multiple of 45°. It keeps its memory, and its zero value is ready to plan.
type marks struct {
	levels []markLevel
	words  []uint32 // of four places, since several workers set bits
	log    float64  // of the least size
}

// A markLevel is the places of one size.
type markLevel struct {
	first         int // place
	columns, rows int
	scale         float64 // places to a pixel
}

// plan clears the marks of an image, and of objects of these sizes.
func (m *marks) plan(width, height int, least, largest float64) {
	m.levels, m.log = m.levels[:0], math.Log(least)
	n := 0
	for i := range m.level(largest) + 1 {
		scale := markPlaces / (least * math.Exp(float64(i)*markLog))
		l := markLevel{first: n, columns: int(float64(width)*scale) + 1, rows: int(float64(height)*scale) + 1, scale: scale}
		m.levels = append(m.levels, l)
		n += l.columns * l.rows
	}
	m.words = engine.AtLeast(m.words, n/4+1)
	clear(m.words)
}

// level is that of a size.
func (m *marks) level(size float64) int {
	return max(0, int(math.Round((math.Log(size)-m.log)/markLog)))
}

// set leaves a mark at a point of the image.
func (m *marks) set(level int, x, y float64, bits uint8) {
	for i := max(level-markReach, 0); i <= min(level+markReach, len(m.levels)-1); i++ {
		l := &m.levels[i]
		at := l.first + min(max(int(y*l.scale), 0), l.rows-1)*l.columns + min(max(int(x*l.scale), 0), l.columns-1)
		word, bit := &m.words[at>>2], uint32(bits)<<(at&3*8)
		if atomic.LoadUint32(word)&bit != bit {
			atomic.OrUint32(word, bit)
		}
	}
}

// read gets the marks of points on a line.
func (m *marks) read(to []uint8, level int, x, y, dx, dy float64) {
	l := &m.levels[min(level, len(m.levels)-1)]
	const bits = 20
	fix := func(v float64) int64 { return int64(math.Floor(v * l.scale * (1 << bits))) }
	px, py, paceX, paceY := fix(x), fix(y), fix(dx), fix(dy)
	for i := range to {
		at := l.first + min(max(int(py>>bits), 0), l.rows-1)*l.columns + min(max(int(px>>bits), 0), l.columns-1)
		to[i] = uint8(m.words[at>>2] >> (at & 3 * 8))
		px, py = px+paceX, py+paceY
	}
}

func (m *marks) bytes() int { return engine.Bytes(m.levels) + engine.Bytes(m.words) }

// markBit is that of an angle, if it is a multiple of 45°.
func markBit(angle float64) uint8 {
	n := math.Floor(angle / 45)
	if n*45 != angle {
		return 0
	}
	return 1 << (int(n) & 7)
}

// between is the marks that an angle is left to: of the two multiples of 45° beside it, if
// both are in the list, or none.
func between(angle float64, list uint8) uint8 {
	n := int(math.Floor(angle / 45))
	bits := uint8(1)<<(n&7) | uint8(1)<<((n+1)&7)
	if markBit(angle) != 0 || list&bits != bits {
		return 0
	}
	return bits
}

// unmarked is a bit for each of 64 places or less that has none of these marks.
func unmarked(seen []uint8, bits uint8) (word uint64) {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	i := 0
	for ; i+8 <= len(seen); i += 8 {
		v := binary.LittleEndian.Uint64(seen[i:]) & (ones * uint64(bits))
		v = ^(v&low + low | v) &^ low >> 7 // a one in each byte that is zero
		word |= v * 0x0102040810204080 >> 56 << i
	}
	for ; i < len(seen); i++ {
		if seen[i]&bits == 0 {
			word |= 1 << i
		}
	}
	return word
}

// sharing is which multiples of 45° are in the list of angles, and which of them leave marks
// for angles between.
func (o *Options) sharing() (list, marks uint8) {
	for _, angle := range o.Angles {
		list |= markBit(angle)
	}
	if o.EachAngle {
		return list, 0
	}
	for _, angle := range o.Angles {
		marks |= between(angle, list)
	}
	return list, marks
}
