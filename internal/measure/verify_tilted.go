package measure

import "github.com/boxsum/boxsum"

// verifyTilted compares every entry with a reference that shares nothing with
// the library: the entry above, and the pixels on the two diagonals that end in
// the corner of the entry, which both have.
func verifyTilted[S boxsum.Sum, P boxsum.Pixel](entries boxsum.View[S], img boxsum.Image[P]) error {
	c, n := img.Channels, img.Width*img.Channels
	// Sums and both diagonals of the row above, each a pixel wider on both sides.
	sums, fromLeft, fromRight := make([]S, n+2*c), make([]S, n+2*c), make([]S, n+2*c)
	for i, got := range entries.Row(0) {
		if got != 0 {
			return differs("the reference", i, 0, c, got, S(0))
		}
	}
	for y := range img.Height {
		row := entries.Row(y + 1)
		for i := range c { // the sums left of the image are those of the pixel to the right, a row higher
			if want := sums[c+i]; n > 0 && row[i] != want {
				return differs("the reference", i, y+1, c, row[i], want)
			}
		}
		copy(fromRight[c:], fromRight[2*c:]) // each moves on by a pixel
		copy(fromLeft[c:], fromLeft[:n])
		clear(fromRight[c+n:])
		for i, p := range img.Row(y) {
			fromLeft[c+i] += S(p)
			fromRight[c+i] += S(p)
			sums[c+i] += fromLeft[c+i] + fromRight[c+i] - S(p)
			if got, want := row[c+i], sums[c+i]; got != want {
				return differs("the reference", c+i, y+1, c, got, want)
			}
		}
	}
	return nil
}
