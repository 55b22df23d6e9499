package measure

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// verify compares every entry of an upright table with a reference that shares no code with the
// library: a running sum along the row plus the entry above and, in a volume, plus that of the
// previous slice. Bands of rows are verified concurrently: each starts from the row above it in the
// table, which is verified with the band above. Sums are exact in their type, in any order of
// additions; see [randomImage]. values writes the summands of a row of pixels.
func verify[S boxsum.Sum](t, before boxsum.View[S], values func(y int, to []S)) error {
	c := t.Channels
	if err := zeros(t, 0, t.Row(0)); err != nil {
		return err
	}
	return inBands(t.Height-1, func(from, to int) error {
		column := slices.Clone(t.Row(from)[c:])
		row, above := make([]S, len(column)), make([]S, len(column))
		if before.Sums != nil {
			for i, sum := range before.Row(from)[c:] {
				column[i] -= sum
			}
		}
		for y := from; y < to; y++ {
			sums := t.Row(y + 1)
			if err := zeros(t, y+1, sums[:c]); err != nil {
				return err
			}
			if before.Sums != nil {
				above = before.Row(y + 1)[c:]
			}
			values(y, row)
			for i, got := range sums[c:] {
				if i >= c {
					row[i] += row[i-c]
				}
				column[i] += row[i]
				if want := column[i] + above[i]; got != want {
					return differs("the reference", c+i, y+1, c, got, want)
				}
			}
		}
		return nil
	})
}

// zeros returns an error if one of the first entries of a row is not zero.
func zeros[S boxsum.Sum](t boxsum.View[S], y int, entries []S) error {
	if i := slices.IndexFunc(entries, func(sum S) bool { return sum != 0 }); i >= 0 {
		return differs("the reference", i, y, t.Channels, entries[i], S(0))
	}
	return nil
}

// pixelsOf converts a row of an image of any type to sums, which is exact.
func pixelsOf[S boxsum.Sum](img *raster.Array, y int, to []S) {
	for i, p := range img.Floats(nil, y, 0, len(to), 1) {
		to[i] = S(p)
	}
}

// viewOf returns slice z of a table of a known type, or the only one of an image. If inclusive is set, it
// leaves out row and column 0.
func viewOf[S boxsum.Sum](t *raster.Array, z int, inclusive bool) boxsum.View[S] {
	v := boxsum.View[S]{Sums: raster.Elems[S](t.Data)[z*t.SliceStride:], Stride: t.Stride, Width: t.Width + 1, Height: t.Height + 1, Channels: t.Channels}
	if inclusive {
		v.Sums = v.Sums[v.Stride+v.Channels:]
		v.Width--
		v.Height--
	}
	return v
}

// A comparison compares tables of one type of sums with a reference, or with those of a peer.
type comparison struct {
	upright, tilted, volume func(t, img *raster.Array) error
	equal, equalVolume      func(r io.Reader, t *raster.Array, inclusive bool) error
}

func comparisonOf[S boxsum.Sum]() comparison {
	return comparison{
		verifyUpright[S], verifyTilted[S], verifyVolume[S],
		func(r io.Reader, t *raster.Array, inclusive bool) error {
			return equal[S](r, viewOf[S](t, 0, inclusive))
		},
		equalVolume[S],
	}
}

// comparisons holds the comparisons by sum type.
var comparisons = [raster.NumTypes]comparison{
	raster.U32: comparisonOf[uint32](),
	raster.U64: comparisonOf[uint64](),
	raster.I64: comparisonOf[int64](),
	raster.F32: comparisonOf[float32](),
	raster.F64: comparisonOf[float64](),
}

// verifyUpright compares the table of an image.
func verifyUpright[S boxsum.Sum](t, img *raster.Array) error {
	return verify(viewOf[S](t, 0, false), boxsum.View[S]{}, func(y int, to []S) { pixelsOf(img, y, to) })
}

// verifySquares compares the table of the squares of an image, which are of uint64.
func verifySquares(t, img *raster.Array) error {
	return verify(viewOf[uint64](t, 0, false), boxsum.View[uint64]{}, func(y int, to []uint64) {
		pixelsOf(img, y, to)
		for i := range to {
			to[i] *= to[i]
		}
	})
}

// verifyHistogram compares the counts of a histogram, in which each pixel counts once in its bin.
func verifyHistogram(t boxsum.View[uint32], img boxsum.Image[uint8]) error {
	n := t.Channels / img.Channels
	return verify(t, boxsum.View[uint32]{}, func(y int, to []uint32) {
		clear(to)
		for i, p := range img.Row(y) {
			to[i*n+int(p)*n/256] = 1
		}
	})
}

// verifyVolume compares the table of a volume slice by slice. No gaps are between the slices of img.
func verifyVolume[S boxsum.Sum](t, img *raster.Array) error {
	before := viewOf[S](t, 0, false)
	for y := range t.Height + 1 {
		if err := zeros(before, y, before.Row(y)); err != nil {
			return fmt.Errorf("slice 0: %w", err)
		}
	}
	for z := range t.Depth {
		slice := viewOf[S](t, z+1, false)
		if err := verify(slice, before, func(y int, to []S) { pixelsOf(img, z*t.Height+y, to) }); err != nil {
			return fmt.Errorf("slice %d: %w", z+1, err)
		}
		before = slice
	}
	return nil
}

// verifyTilted compares every entry with a reference that shares no code with the library: the entry
// above plus the pixels on the two diagonals that end in the tip of the entry's triangle, which
// belongs to both.
func verifyTilted[S boxsum.Sum](t, img *raster.Array) error {
	entries := viewOf[S](t, 0, false)
	c, n := entries.Channels, (entries.Width-1)*entries.Channels
	if err := zeros(entries, 0, entries.Row(0)); err != nil {
		return err
	}
	// Sums and both diagonals of the row above, each one pixel wider on both sides.
	sums, fromLeft, fromRight := make([]S, n+2*c), make([]S, n+2*c), make([]S, n+2*c)
	pixels := make([]S, n)
	for y := range entries.Height - 1 {
		row := entries.Row(y + 1)
		for i := range c { // sums left of the image equal those of the pixel to the right, one row higher
			if want := sums[c+i]; n > 0 && row[i] != want {
				return differs("the reference", i, y+1, c, row[i], want)
			}
		}
		copy(fromRight[c:], fromRight[2*c:]) // each moves by one pixel
		copy(fromLeft[c:], fromLeft[:n])
		clear(fromRight[c+n:])
		pixelsOf(img, y, pixels)
		for i, p := range pixels {
			fromLeft[c+i] += p
			fromRight[c+i] += p
			sums[c+i] += fromLeft[c+i] + fromRight[c+i] - p
			if got, want := row[c+i], sums[c+i]; got != want {
				return differs("the reference", c+i, y+1, c, got, want)
			}
		}
	}
	return nil
}

// inBands calls f concurrently for bands of n rows, one per core. It returns the error of the
// uppermost band that has one.
func inBands(n int, f func(from, to int) error) error {
	bands := min(n, runtime.GOMAXPROCS(0))
	if bands < 1 {
		return nil
	}
	errs := make([]error, bands)
	parallel(bands, func(band int) { errs[band] = f(n*band/bands, n*(band+1)/bands) })
	return cmp.Or(errs...)
}

// equal compares every entry of a view with values of type D that r yields row by row, in the
// machine's byte order. It reads all of them even if they differ.
func equal[D, S boxsum.Sum](r io.Reader, v boxsum.View[S]) error {
	var first error
	row := make([]D, v.Width*v.Channels)
	for y := range v.Height {
		if _, err := io.ReadFull(r, raster.Bytes(row)); err != nil {
			return err
		}
		if first != nil {
			continue
		}
		for i, ours := range v.Row(y) {
			if row[i] != D(ours) {
				first = differs("the peer", i, y, v.Channels, ours, row[i])
				break
			}
		}
	}
	return first
}

// equalVolume compares every entry with those that r yields slice by slice.
func equalVolume[S boxsum.Sum](r io.Reader, t *raster.Array, inclusive bool) error {
	start := 0
	if inclusive {
		start = 1
	}
	var first error
	for z := start; z <= t.Depth; z++ {
		if err := equal[S](r, viewOf[S](t, z, inclusive)); err != nil && first == nil {
			first = fmt.Errorf("slice %d: %w", z-start, err)
		}
	}
	return first
}

// A DiffersError reports a wrong entry.
type DiffersError struct{ text string }

func (e *DiffersError) Error() string { return e.text }

// differs returns an error that names an entry of a row by its index in the row.
func differs(who string, i, y, channels int, got, want any) error {
	return &DiffersError{fmt.Sprintf("entry (%d, %d) of channel %d is %v, and %s has %v",
		i/channels, y, i%channels, got, who, want)}
}
