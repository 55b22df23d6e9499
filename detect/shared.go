package detect

import (
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/boxsum/boxsum/internal/engine"
)

// The first stages are insensitive to rotation: an object still passes them when it is
// rotated by 22.5°. So an angle between two multiples of 45° is searched only where the
// first stages of one of them passed. A single rejection then covers all angles in
// between. Measurements show no loss, see notes/detect.md; TestShared checks that results
// do not change otherwise.

const (
	// markStages is the number of stages that a window must pass to leave a mark.
	markStages = 8
	// markPlaces is the number of marks along the side of a window.
	markPlaces = 3
	// markReach is the number of neighboring sizes, up and down, that a mark also covers.
	markReach = 1
)

// markLog is the logarithm of the ratio between successive mark sizes.
var markLog = math.Log(1.1)

// marks records where first stages passed: one byte for each position and size, with one
// bit for each multiple of 45°. It reuses its memory, and its zero value is ready to plan.
type marks struct {
	levels []markLevel
	words  []uint32 // four marks each, set atomically by several workers
	log    float64  // logarithm of the smallest size
}

// A markLevel holds the marks for one size.
type markLevel struct {
	first         int // index of its first mark
	columns, rows int
	scale         float64 // number of marks per pixel
}

// plan clears the marks and sizes them for an image and a range of object sizes.
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

// level returns the mark level for a size.
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

// read reads the marks of equidistant points on a line.
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

// markBit returns the bit of an angle, or 0 if it is not a multiple of 45°.
func markBit(angle float64) uint8 {
	n := math.Floor(angle / 45)
	if n*45 != angle {
		return 0
	}
	return 1 << (int(n) & 7)
}

// adjacentMarks returns the marks on which an angle depends: those of the adjacent multiples of
// 45° if both are in the list, or none.
func adjacentMarks(angle float64, list uint8) uint8 {
	n := int(math.Floor(angle / 45))
	bits := uint8(1)<<(n&7) | uint8(1)<<((n+1)&7)
	if markBit(angle) != 0 || list&bits != bits {
		return 0
	}
	return bits
}

// unmarked returns a word with one bit for each of up to 64 positions, set if the
// position has none of the given marks.
func unmarked(seen []uint8, bits uint8) (word uint64) {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	i := 0
	for ; i+8 <= len(seen); i += 8 {
		v := binary.LittleEndian.Uint64(seen[i:]) & (ones * uint64(bits))
		v = ^(v&low + low | v) &^ low >> 7 // sets the low bit of each zero byte
		word |= v * 0x0102040810204080 >> 56 << i
	}
	for ; i < len(seen); i++ {
		if seen[i]&bits == 0 {
			word |= 1 << i
		}
	}
	return word
}

// sharing returns the multiples of 45° in the list of angles, and those that leave marks
// for angles between.
func (o *Options) sharing() (list, marks uint8) {
	for _, angle := range o.Angles {
		list |= markBit(angle)
	}
	if o.EachAngle {
		return list, 0
	}
	for _, angle := range o.Angles {
		marks |= adjacentMarks(angle, list)
	}
	return list, marks
}
