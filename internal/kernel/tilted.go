package kernel

import (
	"math"

	"github.com/boxsum/boxsum/internal/raster"
)

// A TiltedTile is a parallelogram of work on a 45° table: each row starts TiltedSkew elements to
// the left of the row above. A sum of such a table depends on the row above on both sides, and with
// this shape everything that a tile needs is in the tiles above it and to its left. Widths and
// strides count elements, that is, pixels times channels.
type TiltedTile struct {
	Dst       []byte // starts at column 0 of the tile's first row; rows are DstStride apart
	DstStride int
	Src       []byte // starts at the first pixel of that row; rows are SrcStride apart
	SrcStride int

	// Sums holds, from TiltedLead on, the sum of each column in the lowest row
	// computed so far, preceded by that of column 0. Diagonals holds the same
	// for the sums along the diagonals that come down from the right, up to
	// each pixel. Both extend TiltedSlack elements beyond the row, and initially
	// hold TiltedZero.
	Sums, Diagonals []byte

	// Edge passes on, for each row of a band, the sums just left of the tile in the row above,
	// which the tile on the left has overwritten: CarryLen elements for each row, of which the
	// first Channels are used.
	Edge []byte

	X, Width          int  // start of the first row, and its length, which may extend beyond the image
	Rows, N, Channels int  // N is the number of elements in a row of the image
	First             bool // the first row is the first of the image
	Writes            Writes

	masks tiltedMasks
}

// A TiltedFunc integrates one tile of a 45° table.
type TiltedFunc func(*TiltedTile)

// TiltedLead returns the number of elements in Sums and Diagonals before a row.
func TiltedLead(channels int) int { return max(tiltedRows*Slack, channels) }

// TiltedSlack returns the number of elements in Sums and Diagonals after a row.
func TiltedSlack(channels int) int { return (tiltedRows+2)*Slack + channels }

// TiltedSkew returns the number of elements by which each row of a tile starts to the left of the
// row above, for sums of the given size. It is a cache line, or 16 elements for all sizes but 8
// bytes, and at least one pixel. Tiles must begin at a multiple of it.
func TiltedSkew(channels, sumBytes int) int {
	if channels <= FastChannels && sumBytes == 8 {
		return LineBytes / 8
	}
	return (channels + 15) / 16 * 16
}

// TiltedZero fills memory with the number that does not change a sum when it is added: 0 for
// integers and −0 for floats, because adding 0 would change −0.
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

// A tiltedKernel is the kernel of a level. It uses plain Go if the level has no assembly.
type tiltedKernel struct {
	span  tiltedSpan
	asm   tiltedRoutine
	group tiltedGroup
	size  sizes
	line  int  // sums in a cache line
	float bool // sums are floats
}

// A tiltedSpan computes elements [from, to) of a row of a tile in Go.
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
	// The table is not read before the band is complete.
	if done := t.X+t.Width-(t.Rows-1)*skew >= t.N; done && k.asm != nil && t.Writes != Ahead {
		StoreFence()
	}
}

// row computes elements [from, to) of a row in place, from left to right.
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

// start stores column 0 of a row: entry (0, y+1) equals entry (1, y). It saves the entry above,
// which the row needs on its left, in edge.
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

// span is the specification. Let v(x,y) be a pixel or its square, d its diagonal and t its sum:
//
//	d(x,y) = d(x+1,y-1) + v(x,y)
//	t(x,y) = d(x,y-1) + (d(x,y) + t(x-1,y-1))
//
// except for the first pixel of a row, and for the last one unless it is also the first:
//
//	t(0,y)   = (t(0,y-1) + v(0,y)) + d(1,y-1)
//	t(W-1,y) = (v(W-1,y) + d(W-1,y-1)) + t(W-2,y-1)
//
// These are equivalent for integers. For floats this is OpenCV's order of additions, and gives the
// same bits.
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
			diagonals[i+c] = 0 // below the first row of a single column, OpenCV adds 0 instead of −0
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

// tiltedSingle computes the middle of a row for one channel. It returns the sum on the left of the
// next element.
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
		return S(S(p) * S(p)) // the conversion prevents a fused multiply-add
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
