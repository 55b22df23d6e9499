package raster

import (
	"encoding/binary"
	"math/bits"
)

// BigEndian reports whether this machine stores the most significant byte of a number
// first.
var BigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// Aligned returns n bytes that are aligned for elements of any type; see [Elems].
func Aligned(n int) []byte { return Bytes(make([]uint64, (n+7)/8))[:n] }

// Reuse returns n bytes, reusing buf if it is large enough.
func Reuse(buf []byte, n int) []byte {
	if cap(buf) >= n {
		return buf[:n]
	}
	return Aligned(n)
}

// SwapBytes copies elements of size bytes to the other byte order. dst and src may be the same.
func SwapBytes(dst, src []byte, size int) {
	switch size {
	case 2:
		for i := 0; i+2 <= len(src); i += 2 {
			binary.LittleEndian.PutUint16(dst[i:], bits.ReverseBytes16(binary.LittleEndian.Uint16(src[i:])))
		}
	case 4:
		for i := 0; i+4 <= len(src); i += 4 {
			binary.LittleEndian.PutUint32(dst[i:], bits.ReverseBytes32(binary.LittleEndian.Uint32(src[i:])))
		}
	case 8:
		for i := 0; i+8 <= len(src); i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], bits.ReverseBytes64(binary.LittleEndian.Uint64(src[i:])))
		}
	default:
		copy(dst, src)
	}
}

// Product returns the product of the sizes of a shape, which is its number of elements.
func Product(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// CeilDiv returns n/d rounded up, without overflow if n is close to the largest int.
func CeilDiv(n, d int) int { return n/d + (n%d+d-1)/d }
