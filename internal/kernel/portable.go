package kernel

import "unsafe"

// sumBlock is how many bytes of sums a float row adds up as one balanced tree
// before it goes on from the block's last sum. It is what makes float results
// the same bits at every level: an AVX2 vector is one block, an AVX-512 vector
// two. It also shortens the chain of roundings along a row.
const sumBlock = 32

func portableSum[P Pixel, S Sum](t *Tile[P, S])    { portable(t, false) }
func portableSquare[P Pixel, S Sum](t *Tile[P, S]) { portable(t, true) }

// portable is the specification. Every row is summed from left to right, going
// on from its carry, and laid on the row above it:
//
//	s[i] = src[i] + s[i-channels]
//	dst[i] = above[i] + s[i]
func portable[P Pixel, S Sum](t *Tile[P, S], square bool) {
	slot := CarryLen(t.Channels)
	above := t.Above[:t.N]
	for r := range t.Rows {
		src := t.Src[r*t.SrcStride:][:t.N]
		dst := t.Dst[r*t.DstStride:][:t.N]
		carry := t.Carry[r*slot:][:t.Channels]
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

// floatRow sums each block of the row by doubling shifts, as a vector does,
// and then adds what came before the block.
func floatRow[P Pixel, S Sum](dst, above, carry []S, src []P, offset S, square bool) {
	channels := len(carry)
	lanes := sumBlock / int(unsafe.Sizeof(carry[0]))
	var block [8]S
	for len(src) > 0 {
		v := block[:min(lanes, len(src))]
		for i := range v {
			v[i] = S(src[i]) - offset
			if square {
				v[i] = S(v[i] * v[i]) // the conversion keeps the compiler from fusing
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
