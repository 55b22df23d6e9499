package measure

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/boxsum/boxsum"
)

// verify compares every entry of a table with a reference that shares nothing
// with the library: a running sum along the row, added to what the column held
// above. Bands of rows go side by side: each starts from the row above it in the
// table, which the band above finds right or not. The sums of [randomImage] are exact
// in their type, in any order of additions.
func verify[S boxsum.Sum, P boxsum.Pixel](t *boxsum.Table[S], img boxsum.Image[P], square bool) error {
	for i, got := range t.Exclusive().Row(0) {
		if got != 0 {
			return differs("the reference", i, 0, img.Channels, got, S(0))
		}
	}
	return inBands(img.Height, func(from, to int) error { return verifyRows(t, img, square, from, to) })
}

// verifyRows compares the entries under the pixels of a band of rows.
func verifyRows[S boxsum.Sum, P boxsum.Pixel](t *boxsum.Table[S], img boxsum.Image[P], square bool, from, to int) error {
	entries, channels := t.Exclusive(), img.Channels
	column, row := slices.Clone(entries.Row(from)[channels:]), make([]S, channels)
	for y := from; y < to; y++ {
		pixels, sums := img.Row(y), entries.Row(y+1)
		clear(row)
		for i, got := range sums[:channels] {
			if got != 0 {
				return differs("the reference", i, y+1, channels, got, S(0))
			}
		}
		for i := 0; i < len(pixels); i += channels {
			for c := range channels {
				v := S(pixels[i+c])
				if square {
					v *= v
				}
				row[c] += v
				column[i+c] += row[c]
				if got, want := sums[channels+i+c], column[i+c]; got != want {
					return differs("the reference", channels+i+c, y+1, channels, got, want)
				}
			}
		}
	}
	return nil
}

// inBands calls f for bands of n rows, one for every core, at once. Its error is
// that of the uppermost band that has one.
func inBands(n int, f func(from, to int) error) error {
	bands := min(n, runtime.GOMAXPROCS(0))
	if bands < 1 {
		return nil
	}
	errs := make([]error, bands)
	parallel(bands, func(band int) { errs[band] = f(n*band/bands, n*(band+1)/bands) })
	return cmp.Or(errs...)
}

// equal compares every entry of a view with the D values that r yields row by
// row, in the machine's byte order. It reads all of them, whatever it finds.
func equal[D, S boxsum.Sum](r io.Reader, v boxsum.View[S]) error {
	var first error
	row := make([]D, v.Width*v.Channels)
	for y := range v.Height {
		if _, err := io.ReadFull(r, bytesOf(row)); err != nil {
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

// A DiffersError is an entry that is not what it should be.
type DiffersError struct{ text string }

func (e *DiffersError) Error() string { return e.text }

// differs says which entry of a row differs, by its index in the row.
func differs(who string, i, y, channels int, got, want any) error {
	return &DiffersError{fmt.Sprintf("entry (%d, %d) of channel %d is %v, and %s has %v",
		i/channels, y, i%channels, got, who, want)}
}
