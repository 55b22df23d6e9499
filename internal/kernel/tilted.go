package kernel

import (
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// A TiltedTile is one parallelogram of work on a 45° table: row r of it starts
// TiltedSkew elements further left than the row above. So all that it needs
// lies in the tiles above and on its left, although a sum of such a table needs
// the row above on both sides. Widths and strides count elements: pixels times
// channels.
type TiltedTile struct {
	Dst       []byte // column 0 of the tile's first row; rows are DstStride apart
	DstStride int
	Src       []byte // from the first pixel of that row on; rows are SrcStride apart
	SrcStride int

	// Sums is, from TiltedLead on, the lowest row of the table done so far at
	// each place, and column 0 of it before that. Diagonals is the same for the
	// sums along the diagonals that come down from the right, up to each pixel.
	// Both have TiltedSlack elements beyond those of the row, and hold
	// TiltedZero at first.
	Sums, Diagonals []byte

	// Edge hands on, for each row of a band, the sums just left of it in the
	// row above, which the tile on the left has replaced: CarryLen elements
	// each, of which the first Channels count.
	Edge []byte

	X, Width          int  // where the first row begins and ends; may be beyond its ends
	Rows, N, Channels int  // N of the image
	First             bool // the first row is that of the image
	Writes            Writes

	masks tiltedMasks
}

// A TiltedFunc integrates one tile of a 45° table.
type TiltedFunc func(*TiltedTile)

// TiltedLead is how many elements Sums and Diagonals have before a row.
func TiltedLead(channels int) int { return max(tiltedRows*Slack, channels) }

// TiltedSlack is how many elements they have beyond it.
func TiltedSlack(channels int) int { return (tiltedRows+2)*Slack + channels }

// TiltedSkew is how much further left every row of a tile starts, in tables
// whose sums have that many bytes: a cache line, or 16 elements for those of
// several sizes, and a pixel at least. Where tiles begin must be a multiple of
// it.
func TiltedSkew(channels, sumBytes int) int {
	if channels <= FastChannels && sumBytes == 8 {
		return LineBytes / 8
	}
	return (channels + 15) / 16 * 16
}

// TiltedZero fills memory with the sum that changes no other, not even a float −0:
// that is −0 itself, and 0 for integers.
func TiltedZero(sums []byte, sum raster.Type) {
	switch sum {
	case raster.F32:
		negativeZeros(raster.Elems[float32](sums))
	case raster.F64:
		negativeZeros(raster.Elems[float64](sums))
	default:
		clear(sums)
	}
}

func negativeZeros[S float32 | float64](sums []S) {
	zero := S(math.Copysign(0, -1))
	for i := range sums {
		sums[i] = zero
	}
}

// tiltedKernel is a level's: plain Go where it has no assembly.
type tiltedKernel struct {
	span  tiltedSpan
	asm   tiltedRoutine
	group tiltedGroup
	size  sizes
	line  int  // sums in a cache line
	float bool // sums are floats
}

// A tiltedSpan makes elements [from, to) of a row of a tile in Go.
type tiltedSpan func(t *TiltedTile, r, from, to int, edge []byte)

func tiltedSums[P Pixel, S Sum](t *TiltedTile, r, from, to int, edge []byte) {
	span[P](t, r, from, to, raster.Elems[S](edge), false)
}

func tiltedSquares[P Pixel, S Sum](t *TiltedTile, r, from, to int, edge []byte) {
	span[P](t, r, from, to, raster.Elems[S](edge), true)
}

func (k *tiltedKernel) tile(t *TiltedTile) {
	skew := TiltedSkew(t.Channels, k.size.sum)
	group := k.group != nil && t.Channels <= FastChannels
	if group {
		t.masks.set(t.Channels, t.N, k.line)
	}
	for r := 0; r < t.Rows; {
		if group && r+tiltedRows <= t.Rows && k.rows(t, r) {
			r += tiltedRows
			continue
		}
		from, to := max(0, t.X-r*skew), min(t.N, t.X+t.Width-r*skew)
		if to <= 0 {
			break
		}
		k.row(t, r, from, to)
		r++
	}
	// Nobody reads the table before the band is done.
	if done := t.X+t.Width-(t.Rows-1)*skew >= t.N; done && k.asm != nil && t.Writes != Ahead {
		StoreFence()
	}
}

// row makes elements [from, to) of a row. Their sums go in place, from left to
// right.
func (k *tiltedKernel) row(t *TiltedTile, r, from, to int) {
	if from >= to {
		return
	}
	c := t.Channels
	carry := CarryLen(c) * k.size.sum
	edge := t.Edge[r*carry:][:carry]
	if from == 0 {
		k.start(t, r, edge)
	}
	if k.asm != nil && c <= FastChannels {
		from = k.lines(t, r, from, to, edge)
		if from == to {
			return
		}
	}
	k.span(t, r, from, to, edge[:c*k.size.sum])
}

// start puts down column 0 of a row: entry (0, y+1) is entry (1, y). The one
// above it, which the row needs on its left, goes to the edge.
func (k *tiltedKernel) start(t *TiltedTile, r int, edge []byte) {
	pixel, first := t.Channels*k.size.sum, TiltedLead(t.Channels)*k.size.sum
	column, lead := t.Dst[r*t.DstStride*k.size.sum:][:pixel], t.Sums[first-pixel:][:pixel]
	copy(edge, lead)
	copy(lead, t.Sums[first:])
	copy(column, lead)
	if t.First && r == 0 {
		clear(column)
	}
}

// span is the specification. With v(x,y) a pixel or its square, d its diagonal
// and t its sum:
//
//	d(x,y) = d(x+1,y-1) + v(x,y)
//	t(x,y) = d(x,y-1) + (d(x,y) + t(x-1,y-1))
//
// but in the first pixel of a row, and in the last one unless that is the first:
//
//	t(0,y)   = (t(0,y-1) + v(0,y)) + d(1,y-1)
//	t(W-1,y) = (v(W-1,y) + d(W-1,y-1)) + t(W-2,y-1)
//
// all of it the same in whole numbers. It is OpenCV's order of additions, and
// gives its bits.
func span[P Pixel, S Sum](t *TiltedTile, r, from, to int, edge []S, square bool) {
	if from >= to {
		return
	}
	c, i := t.Channels, from
	dst, src := raster.Elems[S](t.Dst)[r*t.DstStride+c:][:to], raster.Elems[P](t.Src)[r*t.SrcStride:][:to]
	sums, diagonals := raster.Elems[S](t.Sums)[TiltedLead(c):], raster.Elems[S](t.Diagonals)[TiltedLead(c):]
	for ; i < min(c, to); i++ {
		v, right := tiltedValue[S](src[i], square), diagonals[i+c]
		edge[i] = sums[i]
		sums[i] = (sums[i] + v) + right
		dst[i] = sums[i]
		diagonals[i] = right + v
		if t.N == c {
			diagonals[i+c] = 0 // OpenCV adds this to a single column, and not −0, below the first row
		}
	}
	if last := min(to, t.N-c); i < last {
		if c == 1 {
			edge[0] = tiltedSingle(dst[i:last], sums[i:last], diagonals[i:last+1], src[i:last], edge[0], square)
			i = last
		}
		for k := 0; i < last; i++ {
			d := diagonals[i]
			diagonals[i] = diagonals[i+c] + tiltedValue[S](src[i], square)
			s := d + (diagonals[i] + edge[k])
			edge[k], sums[i], dst[i] = sums[i], s, s
			if k++; k == c {
				k = 0
			}
		}
		rotate(edge, (last-max(from, min(c, to)))%c)
	}
	k := 0
	for ; i < to; i, k = i+1, k+1 {
		v := tiltedValue[S](src[i], square)
		s := (v + diagonals[i]) + edge[k]
		edge[k], sums[i], dst[i], diagonals[i] = sums[i], s, s, v
	}
	rotate(edge, k)
}

// tiltedSingle is the middle of a row for one channel. It returns the sum on
// the left of the elements to come.
func tiltedSingle[P Pixel, S Sum](dst, sums, diagonals []S, src []P, left S, square bool) S {
	dst, sums, diagonals = dst[:len(src)], sums[:len(src)], diagonals[:len(src)+1]
	d := diagonals[0]
	for i, p := range src {
		right := diagonals[i+1]
		down := right + tiltedValue[S](p, square)
		s := d + (down + left)
		left, sums[i], dst[i] = sums[i], s, s
		d, diagonals[i] = right, down
	}
	return left
}

func tiltedValue[S Sum, P Pixel](p P, square bool) S {
	if square {
		return S(S(p) * S(p)) // the conversion keeps the compiler from fusing
	}
	return S(p)
}

func rotate[S Sum](s []S, n int) {
	for ; n > 0; n-- {
		first := s[0]
		copy(s, s[1:])
		s[len(s)-1] = first
	}
}
