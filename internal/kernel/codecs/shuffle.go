// Package codecs holds the inner loops of compressors: Blosc's byte shuffle.
package codecs

import (
	"encoding/binary"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// A shuffleRoutine shuffles or unshuffles a multiple of 32 elements of one size. The streams, one
// for each byte of an element, are step bytes apart.
type shuffleRoutine = func(dst, src *byte, n, step int)

// shuffleRoutines holds the routines for elements of 2, 4 and 8 bytes.
type shuffleRoutines struct{ apart, together [3]shuffleRoutine }

func sizeNumber(size int) int {
	switch size {
	case 2:
		return 0
	case 4:
		return 1
	case 8:
		return 2
	}
	return -1
}

// Shuffle rearranges elements of size bytes: first the first bytes of all elements, then their
// second bytes, and so on. Bytes after the last whole element are copied. The slices must have the
// same length and must not overlap.
func Shuffle(level processor.Level, dst, src []byte, size int) {
	n, i := len(src)/size, 0
	dst = dst[:len(src)]
	if s := sizeNumber(size); s >= 0 && n >= 32 {
		if asm := table[level].apart[s]; asm != nil {
			i = n &^ 31
			asm(&dst[0], &src[0], i, n)
		}
	}
	if size == 8 {
		for ; i+8 <= n; i += 8 {
			var m [8]uint64
			for k := range m {
				m[k] = binary.LittleEndian.Uint64(src[8*(i+k):])
			}
			transpose8(&m)
			for k := range m {
				binary.LittleEndian.PutUint64(dst[k*n+i:], m[k])
			}
		}
	}
	for k := range size {
		part := dst[k*n : (k+1)*n]
		for i := i; i < n; i++ {
			part[i] = src[i*size+k]
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// Unshuffle is the inverse of [Shuffle].
func Unshuffle(level processor.Level, dst, src []byte, size int) {
	n, i := len(dst)/size, 0
	src = src[:len(dst)]
	if s := sizeNumber(size); s >= 0 && n >= 32 {
		if asm := table[level].together[s]; asm != nil {
			i = n &^ 31
			asm(&dst[0], &src[0], i, n)
		}
	}
	if size == 8 {
		for ; i+8 <= n; i += 8 {
			var m [8]uint64
			for k := range m {
				m[k] = binary.LittleEndian.Uint64(src[k*n+i:])
			}
			transpose8(&m)
			for k := range m {
				binary.LittleEndian.PutUint64(dst[8*(i+k):], m[k])
			}
		}
	}
	for k := range size {
		part := src[k*n : (k+1)*n]
		for i := i; i < n; i++ {
			dst[i*size+k] = part[i]
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// transpose8 transposes 8×8 bytes by exchanging quadrants, then quadrants of these, and finally
// single bytes.
func transpose8(m *[8]uint64) {
	for i := range 4 {
		a, b := m[i], m[i+4]
		m[i], m[i+4] = a&0x00000000ffffffff|b<<32, a>>32|b&0xffffffff00000000
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		a, b := m[i], m[i+2]
		m[i], m[i+2] = a&0x0000ffff0000ffff|b&0x0000ffff0000ffff<<16, a>>16&0x0000ffff0000ffff|b&0xffff0000ffff0000
	}
	for i := 0; i < 8; i += 2 {
		a, b := m[i], m[i+1]
		m[i], m[i+1] = a&0x00ff00ff00ff00ff|b&0x00ff00ff00ff00ff<<8, a>>8&0x00ff00ff00ff00ff|b&0xff00ff00ff00ff00
	}
}
