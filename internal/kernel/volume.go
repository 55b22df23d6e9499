package kernel

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// A VolumeTile is a rectangle of work on a slice of a volume: a [Tile] whose sums are added to
// those of the previous slice.
type VolumeTile struct {
	Tile

	// Over holds the tile's sums in the previous slice. The kernel replaces them with those of this
	// slice. It has OverLen elements, initially zero, in a layout private to the level and the
	// shape of the tile.
	Over []byte

	// Whole means that the gaps between the rows belong to the table: after every row, the kernel
	// writes zeros up to DstStride elements from the row's start. Rows are then whole cache lines,
	// as non-temporal stores need to be fast. Dst and DstStride must be aligned to 64 bytes.
	Whole bool
}

// OverLen returns the number of elements in Over.
func OverLen(rows, n int) int { return rows * overPitch(n) }

// overPitch returns the number of elements in a row of Over, rounded up to whole vectors.
func overPitch(n int) int { return (n + 15) &^ 15 }

// A VolumeFunc integrates one tile of a slice.
type VolumeFunc func(*VolumeTile)

// portableVolume is the specification of volume kernels, given that of planes:
//
//	over[r][i] += plane[r][i]
//	dst[r][i] = over[r][i]
func portableVolume(plane Func, lay func(dst, over []byte), size sizes) VolumeFunc {
	return func(t *VolumeTile) {
		all := t.Tile // the plane kernel gets a row at a time
		t.Rows = 1
		for r := range all.Rows {
			t.Dst, t.Src, t.Carry = all.Dst[r*all.DstStride*size.sum:], all.Src[r*all.SrcStride*size.pixel:], all.Carry[r*CarryLen(all.Channels)*size.sum:]
			plane(&t.Tile)
			lay(t.Dst[:t.N*size.sum], t.Over[r*overPitch(t.N)*size.sum:][:t.N*size.sum])
			if t.Whole {
				clear(t.Dst[t.N*size.sum : t.DstStride*size.sum])
			}
		}
		t.Tile = all
	}
}

// layRow adds the previous slice to a row.
func layRow[S Sum](dst, over []byte) {
	sums := raster.Elems[S](dst)
	below := raster.Elems[S](over)[:len(sums)]
	for i := range sums {
		below[i] += sums[i]
		sums[i] = below[i]
	}
}

// layFunc returns a layRow that uses assembly for whole lines, if there is any, and loop for the
// remaining elements.
func layFunc(asm func(dst, over *byte, n int), loop func(dst, over []byte), size sizes) func(dst, over []byte) {
	if asm == nil {
		return loop
	}
	return func(dst, over []byte) {
		lines := len(dst) &^ (LineBytes - 1)
		if lines > 0 {
			_ = over[:lines]
			asm(&dst[0], &over[0], lines/size.sum)
		}
		loop(dst[lines:], over[lines:])
	}
}

// volumeRoutine is an assembly kernel for groups of rows. Strides are in bytes.
type volumeRoutine func(dst *byte, dstStride int, src *byte, srcStride int, above, carry, over *byte, rows, n, ahead, along int, lanes *uint32, offset float32, writes uint8)

// How the assembly writes; see [VolumeTile.Whole]. Mixing cached and non-temporal stores, as
// [Mixed] does, is slower here than either.
const (
	volumeCached uint8 = iota
	volumeBeyond
	volumeWhole
)

// volumeFunc is like planeFunc for tiles of volumes. Rows that do not fill a group are computed as
// a plane and added to the previous slice.
func volumeFunc(r *routines, plane Func, loops *portables, size sizes) VolumeFunc {
	portable := portableVolume(loops.plane, loops.lay, size)
	if r.volume == nil {
		return portable
	}
	many, single := r.volume, r.volume
	if r.volumeDot != nil {
		single = r.volumeDot
	}
	rest := portableVolume(plane, layFunc(r.lay, loops.lay, size), size)
	minWidth := size.minWidth()
	return func(t *VolumeTile) {
		if t.Channels > FastChannels || t.N < minWidth || t.Rows == 0 {
			portable(t)
			return
		}
		t.check(size)
		_ = t.Over[:OverLen(t.Rows, t.N)*size.sum]
		onLines := t.onLines(size)
		writes := volumeCached
		switch {
		case t.Whole && onLines:
			_ = t.Dst[:t.Rows*t.DstStride*size.sum]
			writes = volumeWhole
		case t.Whole:
			portable(t)
			return
		case t.Writes != Ahead && onLines:
			writes = volumeBeyond
		}
		ahead, along := volumeAhead(t.N, t.SrcStride, size.pixel)
		asm := many
		if t.Channels == 1 {
			asm = single
		}
		rows := t.Rows &^ (groupRows - 1)
		if rows > 0 {
			asm(&t.Dst[0], t.DstStride*size.sum, &t.Src[0], t.SrcStride*size.pixel, &t.Above[0], &t.Carry[0], &t.Over[0],
				rows, t.N, ahead, along, processor.Lanes(size.sum, t.Channels), t.Offset, writes)
		}
		if rows < t.Rows {
			tile, over := t.Tile, t.Over
			t.Dst, t.Src, t.Carry = t.Dst[rows*t.DstStride*size.sum:], t.Src[rows*t.SrcStride*size.pixel:], t.Carry[rows*CarryLen(t.Channels)*size.sum:]
			t.Over, t.Rows, t.Writes = t.Over[OverLen(rows, t.N)*size.sum:], t.Rows-rows, Ahead
			rest(t)
			t.Tile, t.Over = tile, over
		}
	}
}

// volumeAhead returns the prefetch distance of pixels in bytes, about a page. Short rows, four at a
// time, are too many streams for the hardware prefetcher. along is all ones to advance the
// prefetched address along the group, which requires rows that are close together in memory. It is
// zero to keep the address constant, so that nothing is prefetched.
func volumeAhead(n, stride, pixelBytes int) (ahead, along int) {
	const page, group = 4096, 4
	if n > stride || stride-n > n/4 {
		return 0, 0
	}
	rows := group * stride * pixelBytes
	return rows * max(1, page/max(1, rows)), -1
}
