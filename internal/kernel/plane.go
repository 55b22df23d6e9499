package kernel

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// routine is an assembly kernel. Strides are in bytes.
type routine func(dst *byte, dstStride int, src *byte, srcStride int, above, carry *byte, rows, n int, lanes *uint32, offset float32, writes uint8)

// planeFunc returns a kernel that passes tiles to the assembly of a level, after checking bounds,
// which the assembly does not. Tiles that the assembly does not support are passed to the portable
// loop, whose carries have the same layout. If the level supports only whole groups of rows, the
// remaining rows are passed to the level below, whose carries have the same layout too.
func planeFunc(r, below *routines, portable Func, size sizes) Func {
	if r.plane == nil {
		return portable
	}
	many, single := r.plane, r.plane
	if r.planeDot != nil {
		single = r.planeDot
	}
	manyRest, singleRest := many, single
	if r.planeGroups {
		manyRest = below.plane
		if r.planeDot == nil {
			singleRest = below.plane
		}
	}
	minWidth := size.minWidth()
	return func(t *Tile) {
		if t.Channels > FastChannels || t.N < minWidth || t.Rows == 0 {
			portable(t)
			return
		}
		t.check(size)
		writes := t.Writes
		if !t.onLines(size) {
			writes = Ahead
		}
		asm, rest := many, manyRest
		if t.Channels == 1 {
			asm, rest = single, singleRest
		}
		lanes := processor.Lanes(size.sum, t.Channels)
		carries, dstStride, srcStride := CarryLen(t.Channels)*size.sum, t.DstStride*size.sum, t.SrcStride*size.pixel
		for y, rows := 0, t.Rows&^(groupRows-1); y < t.Rows; y, rows, asm = y+rows, t.Rows-rows, rest {
			if rows > 0 {
				asm(&t.Dst[y*dstStride], dstStride, &t.Src[y*srcStride], srcStride, &t.Above[0], &t.Carry[y*carries], rows, t.N, lanes, t.Offset, uint8(writes))
			}
		}
	}
}

// groupRows is the number of rows that the assembly processes at once.
const groupRows = 4

// sizes holds the sizes of a pair's elements in bytes.
type sizes struct{ pixel, sum int }

// minWidth returns the width of the narrowest tile that the assembly accepts, in
// elements: it loads the tail of a row as one full block.
func (s sizes) minWidth() int { return sumBlock / s.sum }

// check panics if a slice of the tile is too short.
func (t *Tile) check(size sizes) {
	_ = t.Dst[:((t.Rows-1)*t.DstStride+t.N)*size.sum]
	_ = t.Src[:((t.Rows-1)*t.SrcStride+t.N)*size.pixel]
	_ = t.Above[:(t.N+Slack)*size.sum]
	_ = t.Carry[:t.Rows*CarryLen(t.Channels)*size.sum]
}

// onLines reports whether every row of sums starts at a cache line.
func (t *Tile) onLines(size sizes) bool {
	first, stride := uintptr(unsafe.Pointer(unsafe.SliceData(t.Dst))), uintptr(t.DstStride*size.sum)
	return (first|stride)%LineBytes == 0
}
