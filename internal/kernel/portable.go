package kernel

import (
	"github.com/boxsum/boxsum/internal/raster"
	"unsafe"
)

// sumBlock is the size in bytes of the blocks in which float sums are added. Each block is added as
// a balanced tree, and then the sum of the blocks to its left is added. This makes float results
// the same at every level: an AVX2 vector is one block, and an AVX-512 vector is two. It also
// shortens the chain of roundings along a row.
const sumBlock = 32

func portableSum[P Pixel, S Sum](t *Tile)    { portable[P, S](t, false) }
func portableSquare[P Pixel, S Sum](t *Tile) { portable[P, S](t, true) }

// portable is the specification of all plane kernels. It computes prefix sums of every row from
// left to right, starting from its carry, and adds them to the row above:
//
//	s[i] = src[i] + s[i-channels]
//	dst[i] = above[i] + s[i]
func portable[P Pixel, S Sum](t *Tile, square bool) {
	slot := CarryLen(t.Channels)
	above, pixels := raster.Elems[S](t.Above)[:t.N], raster.Elems[P](t.Src)
	sums, carries := raster.Elems[S](t.Dst), raster.Elems[S](t.Carry)
	for r := range t.Rows {
		src := pixels[r*t.SrcStride:][:t.N]
		dst := sums[r*t.DstStride:][:t.N]
		carry := carries[r*slot:][:t.Channels]
		switch {
		case isFloat[S]() && t.Channels <= FastChannels:
			floatRow(dst, above, carry, src, S(t.Offset), square)
		case len(carry) == 1:
			singleRow(dst, above, carry, src, square)
		default:
			channelRow(dst, above, carry, src, S(t.Offset), square)
		}
	}
}

func isFloat[S Sum]() bool {
	one, two := S(1), S(2)
	return one/two != 0
}

func singleRow[P Pixel, S Sum](dst, above, carry []S, src []P, square bool) {
	dst, above = dst[:len(src)], above[:len(src)]
	s := carry[0]
	if square {
		for i, p := range src {
			s += S(p) * S(p)
			above[i] += s
			dst[i] = above[i]
		}
	} else {
		for i, p := range src {
			s += S(p)
			above[i] += s
			dst[i] = above[i]
		}
	}
	carry[0] = s
}

func channelRow[P Pixel, S Sum](dst, above, carry []S, src []P, offset S, square bool) {
	for i := 0; i < len(src); i += len(carry) {
		for c := range carry {
			v := S(src[i+c]) - offset
			if square {
				v = S(v * v)
			}
			carry[c] += v
			above[i+c] += carry[c]
			dst[i+c] = above[i+c]
		}
	}
}

// floatRow sums each block of the row by doubling shifts, as a vector does, and then adds the sum
// of the previous blocks.
func floatRow[P Pixel, S Sum](dst, above, carry []S, src []P, offset S, square bool) {
	channels := len(carry)
	lanes := sumBlock / int(unsafe.Sizeof(carry[0]))
	if channels == 1 && !square {
		n := 0
		if lanes == 8 {
			n = blocksOf8(dst, above, carry, src, offset)
		} else {
			n = blocksOf4(dst, above, carry, src)
		}
		src, dst, above = src[n:], dst[n:], above[n:]
	}
	var block [8]S
	for len(src) > 0 {
		v := block[:min(lanes, len(src))]
		for i := range v {
			v[i] = S(src[i]) - offset
			if square {
				v[i] = S(v[i] * v[i]) // the conversion prevents a fused multiply-add
			}
		}
		for shift := channels; shift < lanes; shift *= 2 {
			for i := len(v) - 1; i >= shift; i-- {
				v[i] += v[i-shift]
			}
		}
		for i := range v {
			v[i] += carry[i%channels]
			above[i] += v[i]
			dst[i] = above[i]
		}
		if len(v) == lanes {
			copy(carry, v[lanes-channels:])
		}
		n := len(v)
		src, dst, above = src[n:], dst[n:], above[n:]
	}
}

// blocksOf4 is like floatRow for whole blocks of four sums of a single channel. It is unrolled so
// that the sums stay in registers. It returns the number of elements computed.
func blocksOf4[P Pixel, S Sum](dst, above, carry []S, src []P) int {
	s := carry[0]
	i := 0
	for ; i+4 <= len(src); i += 4 {
		p, d, a := src[i:i+4:i+4], dst[i:i+4:i+4], above[i:i+4:i+4]
		v0, v1, v2, v3 := S(p[0]), S(p[1]), S(p[2]), S(p[3])
		v3, v2, v1 = v3+v2, v2+v1, v1+v0
		v3, v2 = v3+v1, v2+v0
		v0, v1, v2, v3 = v0+s, v1+s, v2+s, v3+s
		s = v3
		v0, v1, v2, v3 = a[0]+v0, a[1]+v1, a[2]+v2, a[3]+v3
		a[0], a[1], a[2], a[3] = v0, v1, v2, v3
		d[0], d[1], d[2], d[3] = v0, v1, v2, v3
	}
	carry[0] = s
	return i
}

// blocksOf8 is like blocksOf4 for blocks of eight sums.
func blocksOf8[P Pixel, S Sum](dst, above, carry []S, src []P, offset S) int {
	s := carry[0]
	i := 0
	for ; i+8 <= len(src); i += 8 {
		p, d, a := src[i:i+8:i+8], dst[i:i+8:i+8], above[i:i+8:i+8]
		v0, v1, v2, v3 := S(p[0])-offset, S(p[1])-offset, S(p[2])-offset, S(p[3])-offset
		v4, v5, v6, v7 := S(p[4])-offset, S(p[5])-offset, S(p[6])-offset, S(p[7])-offset
		v7, v6, v5, v4, v3, v2, v1 = v7+v6, v6+v5, v5+v4, v4+v3, v3+v2, v2+v1, v1+v0
		v7, v6, v5, v4, v3, v2 = v7+v5, v6+v4, v5+v3, v4+v2, v3+v1, v2+v0
		v7, v6, v5, v4 = v7+v3, v6+v2, v5+v1, v4+v0
		v0, v1, v2, v3, v4, v5, v6, v7 = v0+s, v1+s, v2+s, v3+s, v4+s, v5+s, v6+s, v7+s
		s = v7
		v0, v1, v2, v3 = a[0]+v0, a[1]+v1, a[2]+v2, a[3]+v3
		v4, v5, v6, v7 = a[4]+v4, a[5]+v5, a[6]+v6, a[7]+v7
		a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7] = v0, v1, v2, v3, v4, v5, v6, v7
		d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = v0, v1, v2, v3, v4, v5, v6, v7
	}
	carry[0] = s
	return i
}
