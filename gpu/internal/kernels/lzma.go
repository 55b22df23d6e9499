package kernels

import (
	"encoding/binary"
	"errors"
)

// Kernels are LZMA files, as xz --format=lzma writes them: literals that know at which of sixteen bytes they are, the size of an
// instruction, make machine code a quarter smaller than zstd does. Every program carries all kernels and decodes few,
// so that a tenth of a second is well spent.

var errDamaged = errors.New("damaged LZMA data")

// Contexts of the format.
const (
	states    = 12
	positions = 16 // at most
	startProb = 1 << 10
)

// An lzma is a decoder. Each prob is how likely a bit is 0 in its context, of 2048.
type lzma struct {
	in        []byte // what is left
	rng, code uint32
	out       []byte

	literal                                  []prob
	isMatch, isLong                          [states][positions]prob
	isRepeat, notFirst, notSecond, notThird  [states]prob
	slots                                    [4][64]prob
	special                                  [128]prob // low bits of middling distances
	align                                    [16]prob
	matchLength, repeatLength                lengths
	lowLiteral, highLiteral, positionMask, _ uint
}

type prob = uint16

// lengths are of matches: three ranges, the first two by position.
type lengths struct {
	choice   [2]prob
	low, mid [positions][8]prob
	high     [256]prob
}

func fill(probs []prob) {
	for i := range probs {
		probs[i] = startProb
	}
}

func (l *lengths) reset() {
	fill(l.choice[:])
	fill(l.high[:])
	for i := range l.low {
		fill(l.low[i][:])
		fill(l.mid[i][:])
	}
}

// unpackLZMA is the content of an LZMA file. It ends with a mark.
func unpackLZMA(file []byte) (content []byte, err error) {
	const header = 13 // properties, the size of the window, that of the content; then a zero and four bytes of code
	if len(file) < header+5 || file[0] >= 9*5*5 || file[header] != 0 {
		return nil, errDamaged
	}
	properties := uint(file[0])
	d := &lzma{
		in: file[header+5:], rng: 1<<32 - 1, code: binary.BigEndian.Uint32(file[header+1:]), out: make([]byte, 0, 8*len(file)),
		highLiteral: properties % 9, lowLiteral: 1<<(properties/9%5) - 1, positionMask: 1<<(properties/45) - 1,
	}
	d.literal = make([]prob, (d.lowLiteral+1)<<d.highLiteral*0x300)
	fill(d.literal)
	for i := range states {
		fill(d.isMatch[i][:])
		fill(d.isLong[i][:])
	}
	for _, p := range [][]prob{d.isRepeat[:], d.notFirst[:], d.notSecond[:], d.notThird[:], d.special[:], d.align[:]} {
		fill(p)
	}
	for i := range d.slots {
		fill(d.slots[i][:])
	}
	d.matchLength.reset()
	d.repeatLength.reset()
	defer func() {
		if recover() != nil { // the data asked for what is not there
			content, err = nil, errDamaged
		}
	}()
	d.run()
	return d.out, nil
}

// run decodes up to the mark at the end.
func (d *lzma) run() {
	state := 0
	var last [4]uint // distances less one, the newest first
	for {
		at := uint(len(d.out)) & d.positionMask
		switch {
		case d.bit(&d.isMatch[state][at]) == 0:
			d.takeLiteral(state >= 7, last[0])
			switch {
			case state < 4:
				state = 0
			case state < 10:
				state -= 3
			default:
				state -= 6
			}
			continue
		case d.bit(&d.isRepeat[state]) == 0:
			last[3], last[2], last[1] = last[2], last[1], last[0]
			n := d.length(&d.matchLength, at)
			if last[0] = d.distance(n); last[0] == 1<<32-1 {
				return
			}
			state = after(state, 7)
			d.copy(last[0], n)
			continue
		case d.bit(&d.notFirst[state]) == 0:
			if d.bit(&d.isLong[state][at]) == 0 {
				state = after(state, 9)
				d.copy(last[0], 1)
				continue
			}
		case d.bit(&d.notSecond[state]) == 0:
			last[0], last[1] = last[1], last[0]
		case d.bit(&d.notThird[state]) == 0:
			last[0], last[1], last[2] = last[2], last[0], last[1]
		default:
			last[0], last[1], last[2], last[3] = last[3], last[0], last[1], last[2]
		}
		n := d.length(&d.repeatLength, at)
		state = after(state, 8)
		d.copy(last[0], n)
	}
}

// after is the state after a match of some kind: others if no literal came before it.
func after(state, kind int) int {
	if state >= 7 {
		return min(kind+3, 11)
	}
	return kind
}

// bit decodes one, and learns from it.
func (d *lzma) bit(p *prob) uint {
	bound := d.rng >> 11 * uint32(*p)
	bit := uint(0)
	if d.code < bound {
		d.rng = bound
		*p += (1<<11 - *p) >> 5
	} else {
		d.rng -= bound
		d.code -= bound
		*p -= *p >> 5
		bit = 1
	}
	if d.rng < 1<<24 {
		d.next()
	}
	return bit
}

func (d *lzma) next() {
	d.rng, d.code = d.rng<<8, d.code<<8|uint32(d.in[0])
	d.in = d.in[1:]
}

// tree decodes some bits, the highest first; backward, the lowest first.
func (d *lzma) tree(probs []prob, bits uint) uint {
	m := uint(1)
	for range bits {
		m = m<<1 | d.bit(&probs[m])
	}
	return m - 1<<bits
}

func (d *lzma) backward(probs []prob, bits uint) (value uint) {
	m := uint(1)
	for i := range bits {
		b := d.bit(&probs[m])
		m = m<<1 | b
		value |= b << i
	}
	return value
}

// takeLiteral decodes a byte. One after a match is likely not the one that would have gone on with it.
func (d *lzma) takeLiteral(matched bool, distance uint) {
	before := uint(0)
	if len(d.out) > 0 {
		before = uint(d.out[len(d.out)-1])
	}
	context := uint(len(d.out))&d.lowLiteral<<d.highLiteral | before>>(8-d.highLiteral)
	probs := d.literal[context*0x300:][:0x300]
	symbol := uint(1)
	if matched {
		expected := uint(d.out[len(d.out)-1-int(distance)])
		for symbol < 0x100 {
			want := expected >> 7 & 1
			expected <<= 1
			b := d.bit(&probs[(1+want)<<8|symbol])
			if symbol = symbol<<1 | b; b != want {
				break
			}
		}
	}
	for symbol < 0x100 {
		symbol = symbol<<1 | d.bit(&probs[symbol])
	}
	d.out = append(d.out, byte(symbol))
}

func (d *lzma) length(l *lengths, at uint) int {
	switch {
	case d.bit(&l.choice[0]) == 0:
		return 2 + int(d.tree(l.low[at][:], 3))
	case d.bit(&l.choice[1]) == 0:
		return 10 + int(d.tree(l.mid[at][:], 3))
	}
	return 18 + int(d.tree(l.high[:], 8))
}

// distance decodes one for a match of a length.
func (d *lzma) distance(n int) uint {
	slot := d.tree(d.slots[min(n-2, 3)][:], 6)
	if slot < 4 {
		return slot
	}
	bits := slot>>1 - 1
	start := (2 | slot&1) << bits
	if slot < 14 {
		return start + d.backward(d.special[start-slot:], bits)
	}
	high := uint(0)
	for range bits - 4 { // bits that are as likely 0 as 1
		d.rng >>= 1
		b := uint32(0)
		if d.code >= d.rng {
			d.code -= d.rng
			b = 1
		}
		high = high<<1 | uint(b)
		if d.rng < 1<<24 {
			d.next()
		}
	}
	return start + high<<4 + d.backward(d.align[:], 4)
}

// copy repeats what came a distance ago, which may be less than its length.
func (d *lzma) copy(distance uint, n int) {
	from := len(d.out) - 1 - int(distance)
	for n > 0 {
		part := d.out[from:min(from+n, len(d.out))]
		d.out = append(d.out, part...)
		from, n = from+len(part), n-len(part)
	}
}
