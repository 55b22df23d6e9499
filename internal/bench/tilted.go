package bench

import (
	"fmt"
	"io"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/tilted"
)

const (
	// tiltedSuffix follows the types of a 45° table, and tiltedTypes is what
	// the word "tilted" stands for in a list of types.
	tiltedSuffix = "-tilted"
	tiltedTypes  = "u8:u32" + tiltedSuffix
)

// tilted says whether the table of a case is a 45° one.
func (c Case) tilted() bool { return strings.HasSuffix(c.Types, tiltedSuffix) }

// tiltedOf is the 45° table of a pair of types, on the CPU.
func tiltedOf[P boxsum.Pixel, S boxsum.Sum, A accumulator](types string) kind {
	return kind{types: types + tiltedSuffix, make: newTilted[P, S, A]}
}

func newTilted[P boxsum.Pixel, S boxsum.Sum, A accumulator](size Size, channels int) (*work, error) {
	img, err := randomImage[P, S](size, channels)
	if err != nil {
		return nil, err
	}
	sums, err := tilted.NewTable[S](size.Width, size.Height, channels)
	if err != nil {
		return nil, err
	}
	upright, err := boxsum.NewTable[S](size.Width, size.Height, channels)
	if err != nil {
		return nil, err
	}
	return &work{
		pixels: bytesOf(img.Pix),
		tables: []table{newTable(sums.View(), func() error { return verifyTilted[A](sums.View(), img) },
			func(r io.Reader, _ bool) error { return equal[S](r, sums.View()) })},
		run: func(opt *boxsum.Options) error { return tilted.IntegrateInto(sums, img, &tilted.Options{Workers: opt.Workers, Level: opt.Level}) },
		upright: &work{
			tables: []table{newUpright[A, S](upright, img, false)},
			run:    func(opt *boxsum.Options) error { return boxsum.IntegrateInto(upright, img, opt) },
		},
	}, nil
}

// verifyTilted compares every entry with a reference that shares nothing with
// the library: the entry above, and the pixels on the two diagonals that end in
// the corner of the entry, which both have.
func verifyTilted[A accumulator, S boxsum.Sum, P boxsum.Pixel](entries boxsum.View[S], img boxsum.Image[P]) error {
	c, n := img.Channels, img.Width*img.Channels
	// Sums and both diagonals of the row above, each a pixel wider on both sides.
	sums, fromLeft, fromRight := make([]A, n+2*c), make([]A, n+2*c), make([]A, n+2*c)
	for i, got := range entries.Row(0) {
		if got != 0 {
			return differs("the reference", i, 0, c, got, S(0))
		}
	}
	for y := range img.Height {
		row := entries.Row(y + 1)
		for i := range c { // the sums left of the image are those of the pixel to the right, a row higher
			if want := S(sums[c+i]); n > 0 && row[i] != want {
				return differs("the reference", i, y+1, c, row[i], want)
			}
		}
		copy(fromRight[c:], fromRight[2*c:]) // each moves on by a pixel
		copy(fromLeft[c:], fromLeft[:n])
		clear(fromRight[c+n:])
		for i, p := range img.Row(y) {
			fromLeft[c+i] += A(p)
			fromRight[c+i] += A(p)
			sums[c+i] += fromLeft[c+i] + fromRight[c+i] - A(p)
			if got, want := row[c+i], S(sums[c+i]); got != want {
				return differs("the reference", c+i, y+1, c, got, want)
			}
		}
	}
	return nil
}

// withExtra adds what the tilted table costs OpenCV, which makes it beside the
// others only: the time of cv2.integral3 less that of cv2.integral2.
func withExtra(results []Result) []Result {
	var with, without *Result
	for i := range results {
		switch r := &results[i]; {
		case r.is(OpenCVTilted):
			with = r
		case r.is(OpenCVUpright):
			without = r
		}
	}
	if with == nil || without == nil {
		return results
	}
	extra := *with
	extra.Algorithm = fmt.Sprint(OpenCV, strings.TrimPrefix(with.Algorithm, OpenCVTilted))
	extra.Mean, extra.Min, extra.Max = with.Mean-without.Mean, with.Min-without.Min, with.Max-without.Max
	return append(results, extra)
}
