package store

import (
	"encoding/binary"
	"math/bits"
)

// lz4Table is where each of the hashes of six bytes was seen last.
type lz4Table [1 << lz4Bits]uint32

const (
	lz4Bits = 13
	lz4Far  = 1<<16 - 1 // the largest distance of a copy
	lz4End  = 5         // bytes at the end that are literals
	lz4Last = 13        // no copy begins in as many bytes at the end, but for one
)

// lz4Bound is the most bytes that n take, with room to write eight at once.
func lz4Bound(n int) int { return n + n/255 + 32 }

// appendLZ4 appends a block of LZ4, see [lz4]: the nearest copy that a table of hashes knows, and longer steps where there is none.
func appendLZ4(out, src []byte, seen *lz4Table) []byte {
	clear(seen[:])
	at := len(out)
	out = grown(out, lz4Bound(len(src)))
	from, i := 0, 1 // where literals begin, and where a copy is looked for
	for last := len(src) - lz4Last; i < last; {
		var copied int
		for steps := 64; ; steps++ {
			v := binary.LittleEndian.Uint64(src[i:])
			h := v << 16 * 0x9fb21c651e98df25 >> (64 - lz4Bits)
			copied = int(seen[h])
			seen[h] = uint32(i)
			if i-copied <= lz4Far && binary.LittleEndian.Uint32(src[copied:]) == uint32(v) {
				break
			}
			if i += steps >> 6; i >= last {
				return lz4Literals(out, at, src[from:])
			}
		}
		for i > from && copied > 0 && src[i-1] == src[copied-1] {
			i, copied = i-1, copied-1
		}
		n := 4 + sameBytes(src[i+4:len(src)-lz4End], src[copied+4:])
		// The token has the lengths, or 15 where bytes with the rest follow.
		literals := src[from:i]
		token := at
		at++
		if len(literals) < 15 {
			out[token] = byte(len(literals) << 4)
			// Both have the bytes: src the last ones after a copy, out its room.
			binary.LittleEndian.PutUint64(out[at:], binary.LittleEndian.Uint64(src[from:]))
			if len(literals) > 8 {
				copy(out[at+8:], literals[8:])
			}
			at += len(literals)
		} else {
			out[token] = 15 << 4
			at = lz4Length(out, at, len(literals)-15)
			at += copy(out[at:], literals)
		}
		binary.LittleEndian.PutUint16(out[at:], uint16(i-copied))
		at += 2
		if n < 4+15 {
			out[token] |= byte(n - 4)
		} else {
			out[token] |= 15
			at = lz4Length(out, at, n-4-15)
		}
		i += n
		from = i
	}
	return lz4Literals(out, at, src[from:])
}

// lz4Literals ends a block.
func lz4Literals(out []byte, at int, literals []byte) []byte {
	token := at
	at++
	if len(literals) < 15 {
		out[token] = byte(len(literals) << 4)
	} else {
		out[token] = 15 << 4
		at = lz4Length(out, at, len(literals)-15)
	}
	at += copy(out[at:], literals)
	return out[:at]
}

func lz4Length(out []byte, at, n int) int {
	for ; n >= 255; n -= 255 {
		out[at] = 255
		at++
	}
	out[at] = byte(n)
	return at + 1
}

// sameBytes is how many bytes at the beginning of a are those of b, which is no shorter.
func sameBytes(a, b []byte) (n int) {
	for ; n+8 <= len(a); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// grown is a slice with n more bytes.
func grown(out []byte, n int) []byte {
	if cap(out)-len(out) >= n {
		return out[:len(out)+n]
	}
	more := aligned(len(out) + n)
	copy(more, out)
	return more
}
