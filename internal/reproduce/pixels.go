package reproduce

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/papers"
)

// pixels are an image whose sums are exact in its precision, in the types that
// the contestants of one group take.
type pixels struct {
	Size
	kind   string // f32, f32x4, f64 or u8
	float  boxsum.Image[float32]
	double boxsum.Image[float64]
	bytes  boxsum.Image[uint8]
	words  boxsum.Image[uint32] // the bytes
}

// pixelType is which pixels a precision shares with others: integers are made
// from the same bytes.
func pixelType(precision string) string {
	if precision == "u32" {
		return "u8"
	}
	return precision
}

func newPixels(size Size, precision string) (p pixels, err error) {
	p.Size, p.kind = size, pixelType(precision)
	switch p.kind {
	case "f32":
		p.float, err = papers.ExactImage[float32](size.Width, size.Height, papers.Float)
	case "f32x4":
		p.float, err = papers.ExactImage[float32](size.Width, size.Height, papers.Float4)
	case "f64":
		p.double, err = papers.ExactImage[float64](size.Width, size.Height, papers.Double)
	case "u8":
		if p.bytes, err = papers.ExactImage[uint8](size.Width, size.Height, papers.Int); err != nil {
			return p, err
		}
		if p.words, err = boxsum.NewImage[uint32](size.Width, size.Height, 1); err != nil {
			return p, err
		}
		for y := range size.Height {
			words := p.words.Row(y)
			for x, b := range p.bytes.Row(y) {
				words[x] = uint32(b)
			}
		}
	default:
		err = fmt.Errorf("reproduce: no pixels of %q", precision)
	}
	return p, err
}

// check compares every entry of a table with sums of its own. Bands of rows go
// side by side: each starts from the row above it in the table, which the band
// above finds right or not.
func check[P boxsum.Pixel, S boxsum.Sum](t *boxsum.Table[S], img boxsum.Image[P]) error {
	for i, got := range t.Exclusive().Row(0) {
		if got != 0 {
			return fmt.Errorf("entry %d of row 0 is %v and not 0", i, got)
		}
	}
	bands := min(img.Height, runtime.GOMAXPROCS(0))
	errs := make([]error, bands)
	var working sync.WaitGroup
	for i := range bands {
		working.Go(func() { errs[i] = checkRows(t, img, img.Height*i/bands, img.Height*(i+1)/bands) })
	}
	working.Wait()
	return cmp.Or(errs...)
}

func checkRows[P boxsum.Pixel, S boxsum.Sum](t *boxsum.Table[S], img boxsum.Image[P], from, to int) error {
	entries, channels := t.Exclusive(), img.Channels
	column := make([]float64, img.Width*channels) // exact below 2^53
	for i, above := range entries.Row(from)[channels:] {
		column[i] = float64(above)
	}
	row := make([]float64, channels)
	for y := from; y < to; y++ {
		clear(row)
		sums := entries.Row(y + 1)
		for i, got := range sums[:channels] {
			if got != 0 {
				return fmt.Errorf("entry (0, %d) of channel %d is %v and not 0", y+1, i, got)
			}
		}
		pixels := img.Row(y)
		for c := range channels {
			for i := c; i < len(pixels); i += channels {
				row[c] += float64(pixels[i])
				column[i] += row[c]
				if got, want := sums[channels+i], wrapped[S](column[i]); got != want {
					return fmt.Errorf("entry (%d, %d) of channel %d is %v and not %v", i/channels+1, y+1, c, got, want)
				}
			}
		}
	}
	return nil
}

// wrapped is a sum in the type of a table: integers wrap.
func wrapped[S boxsum.Sum](v float64) S {
	if one := S(1); one/2 == 0 {
		return S(uint64(v))
	}
	return S(v)
}
