package kernel

import "unsafe"

// A VolumeTile is one rectangle of work on a slice of a volume: a [Tile] whose
// sums are laid on those of the slice over it.
type VolumeTile[S Sum] struct {
	Tile[S]

	// Over holds the sums of the table's slice over the tile and, afterwards,
	// those of the tile itself. It has OverLen elements, zeros at first, in a
	// layout private to the level and the shape of the tile.
	Over []S

	// Whole reports whether what lies between the rows belongs to the table: zeros are
	// written after every row, up to DstStride elements from its first sum. Rows
	// are then whole cache lines, as it takes to write past the caches and not
	// wait for them. It needs Dst and DstStride on 64 bytes.
	Whole bool
}

// OverLen is how many elements the Over of a tile has.
func OverLen(rows, n int) int { return rows * overPitch(n) }

// overPitch is what a row of Over takes at most: whole vectors.
func overPitch(n int) int { return (n + 15) &^ 15 }

// A VolumeFunc integrates one tile of a slice.
type VolumeFunc[S Sum] func(*VolumeTile[S])

// portableVolume is the specification, on top of that of planes:
//
//	over[r][i] += plane[r][i]
//	dst[r][i] = over[r][i]
//
// The assembly lay, which may be nil, does whole lines of that.
func portableVolume[S Sum](plane Func[S], lay func(dst, over *S, n int)) VolumeFunc[S] {
	return func(t *VolumeTile[S]) {
		all := t.Tile // of which the plane kernel gets a row at a time
		t.Rows = 1
		for r := range all.Rows {
			t.Dst, t.Src, t.Carry = all.Dst[r*all.DstStride:], all.Src[r*all.SrcStride*all.PixelBytes:], all.Carry[r*CarryLen(all.Channels):]
			plane(&t.Tile)
			layRow(t.Dst[:t.N], t.Over[r*overPitch(t.N):][:t.N], lay)
			if t.Whole {
				clear(t.Dst[t.N:t.DstStride])
			}
		}
		t.Tile = all
	}
}

// volumeRoutine is an assembly kernel for groups of rows. Strides are in bytes.
type volumeRoutine[P Pixel, S Sum] func(dst *S, dstStride int, src *P, srcStride int, above, carry, over *S, rows, n, ahead, along int, lanes *uint32, offset float32, writes uint8)

// How the assembly writes, see [VolumeTile.Whole]. Some rows past the caches and
// some not, [Mixed], is slower here than either.
const (
	volumeCached uint8 = iota
	volumeBeyond
	volumeWhole
)

// volumeFunc is planeFunc for tiles of volumes. What is left of groups of rows is
// made as a plane and laid on the slice over it.
func volumeFunc[S Sum](r *routines[byte, S], plane Func[S], portable VolumeFunc[S]) VolumeFunc[S] {
	if r.volume == nil {
		return portable
	}
	many, single := r.volume, r.volume
	if r.volumeDot != nil {
		single = r.volumeDot
	}
	size, rest := int(unsafe.Sizeof(*new(S))), portableVolume(plane, r.lay)
	return func(t *VolumeTile[S]) {
		if t.Channels > FastChannels || t.N < narrow[S]() || t.Rows == 0 {
			portable(t)
			return
		}
		t.check()
		_ = t.Over[:OverLen(t.Rows, t.N)]
		onLines := t.onLines()
		writes := volumeCached
		switch {
		case t.Whole && onLines:
			_ = t.Dst[:t.Rows*t.DstStride]
			writes = volumeWhole
		case t.Whole:
			portable(t)
			return
		case t.Writes != Ahead && onLines:
			writes = volumeBeyond
		}
		ahead, along := volumeAhead(t.N, t.SrcStride, t.PixelBytes)
		asm := many
		if t.Channels == 1 {
			asm = single
		}
		rows := t.Rows &^ (groupRows - 1)
		if rows > 0 {
			asm(&t.Dst[0], t.DstStride*size, &t.Src[0], t.SrcStride*t.PixelBytes, &t.Above[0], &t.Carry[0], &t.Over[0],
				rows, t.N, ahead, along, &lanesOf[size/4-1][t.Channels-1].step[0][0], t.Offset, writes)
		}
		if rows < t.Rows {
			tile, over := t.Tile, t.Over
			t.Dst, t.Src, t.Carry = t.Dst[rows*t.DstStride:], t.Src[rows*t.SrcStride*t.PixelBytes:], t.Carry[rows*CarryLen(t.Channels):]
			t.Over, t.Rows, t.Writes = t.Over[OverLen(rows, t.N):], t.Rows-rows, Ahead
			rest(t)
			t.Tile, t.Over = tile, over
		}
	}
}

// volumeAhead is how far ahead of its loads a kernel asks for the pixels of groups
// to come: a page or so, in bytes, for short rows, four at a time, are more than
// the processor foresees. Along is all ones to go on from there as the group
// does, which takes rows that lie close together, and zero to stay and so ask
// for nothing.
func volumeAhead(n, stride, pixelBytes int) (ahead, along int) {
	const page, group = 4096, 4
	if n > stride || stride-n > n/4 {
		return 0, 0
	}
	rows := group * stride * pixelBytes
	return rows * max(1, page/max(1, rows)), -1
}
