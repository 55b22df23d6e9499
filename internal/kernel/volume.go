package kernel

// A VolumeTile is one rectangle of work on a slice of a volume: a [Tile] whose
// sums are laid on those of the slice over it.
type VolumeTile[P Pixel, S Sum] struct {
	Tile[P, S]

	// Over holds the sums of the table's slice over the tile and, afterwards,
	// those of the tile itself. It has OverLen elements, zeros at first, in a
	// layout private to the level and the shape of the tile.
	Over []S

	// Whole says that what lies between the rows belongs to the table: zeros are
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
type VolumeFunc[P Pixel, S Sum] func(*VolumeTile[P, S])

// VolumeSums is the kernel that adds up pixels of type P in sums of type S, and
// nil for a pair that makes no table. The pairs are those of [Sums].
func VolumeSums[P Pixel, S Sum](level Level) VolumeFunc[P, S] {
	return findVolume[P, S](level, false)
}

// VolumeSquares is the kernel that adds up the squares of pixels of type P in
// sums of type S, and nil for a pair that makes no table. The pairs are those of
// [Squares].
func VolumeSquares[P Pixel, S Sum](level Level) VolumeFunc[P, S] {
	return findVolume[P, S](level, true)
}

// A volumeEntry is the kernels of a pair of types by level.
type volumeEntry[P Pixel, S Sum] struct {
	square  bool
	byLevel [3]VolumeFunc[P, S]
}

func findVolume[P Pixel, S Sum](level Level, square bool) VolumeFunc[P, S] {
	for _, e := range volumes {
		if e, ok := e.(*volumeEntry[P, S]); ok && e.square == square {
			return e.byLevel[level]
		}
	}
	return nil
}

// volumes holds a volumeEntry for every pair of types.
var volumes = []any{
	volumeSums(Sums[uint8, uint32]),
	volumeSums(Sums[uint8, uint64]),
	volumeSums(Sums[uint8, float32]),
	volumeSums(Sums[uint8, float64]),
	volumeSums(Sums[uint16, uint64]),
	volumeSums(Sums[uint16, float64]),
	volumeSums(Sums[uint32, uint32]),
	volumeSums(Sums[uint32, uint64]),
	volumeSums(Sums[int16, int64]),
	volumeSums(Sums[int32, int64]),
	volumeSums(Sums[float32, float32]),
	volumeSums(Sums[float32, float64]),
	volumeSums(Sums[float64, float64]),
	volumeSquares(Squares[uint8, uint64]),
	volumeSquares(Squares[uint16, uint64]),
	volumeSquares(Squares[uint32, uint64]),
	volumeSquares(Squares[uint32, float64]),
	volumeSquares(Squares[int16, uint64]),
	volumeSquares(Squares[int32, uint64]),
	volumeSquares(Squares[int32, float64]),
	volumeSquares(Squares[float32, float64]),
	volumeSquares(Squares[float64, float64]),
}

func volumeSums[P Pixel, S Sum](plane func(Level) Func[P, S]) any {
	return newVolumeEntry(plane, false)
}

func volumeSquares[P Pixel, S Sum](plane func(Level) Func[P, S]) any {
	return newVolumeEntry(plane, true)
}

func newVolumeEntry[P Pixel, S Sum](plane func(Level) Func[P, S], square bool) any {
	e := &volumeEntry[P, S]{square: square}
	portable := portableVolume(plane(Portable))
	avx2, avx512 := volumeAssembly(square, portable)
	e.byLevel = [3]VolumeFunc[P, S]{portable, avx2, avx512}
	return e
}

// portableVolume is the specification, on top of that of planes:
//
//	over[r][i] += plane[r][i]
//	dst[r][i] = over[r][i]
func portableVolume[P Pixel, S Sum](plane Func[P, S]) VolumeFunc[P, S] {
	return func(t *VolumeTile[P, S]) {
		all := t.Tile // of which the plane kernel gets a row at a time
		t.Rows = 1
		for r := range all.Rows {
			t.Dst, t.Src, t.Carry = all.Dst[r*all.DstStride:], all.Src[r*all.SrcStride:], all.Carry[r*CarryLen(all.Channels):]
			plane(&t.Tile)
			dst, over := t.Dst[:t.N], t.Over[r*overPitch(t.N):][:t.N]
			for i, p := range dst {
				over[i] += p
				dst[i] = over[i]
			}
			if t.Whole {
				clear(t.Dst[t.N:t.DstStride])
			}
		}
		t.Tile = all
	}
}
