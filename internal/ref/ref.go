// Package ref holds brute-force references that follow the definitions directly, and are slow. Tests compare
// everything else with them.
package ref

import "github.com/boxsum/boxsum/internal/kernel"

// An Image holds pixels with interleaved channels, in rows that are Stride elements apart.
type Image[P kernel.Pixel] struct {
	Pix                             []P
	Stride, Width, Height, Channels int
}

// Box adds one channel of the pixels in [x0,x1)×[y0,y1), or their squares, one by one: modulo the sum type for
// integers, in float64 for floats.
func Box[S kernel.Sum, P kernel.Pixel](im Image[P], x0, y0, x1, y1, channel int, square bool) S {
	var sum S
	var float float64
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			p := im.Pix[y*im.Stride+x*im.Channels+channel]
			if square {
				sum += S(p) * S(p)
				float += float64(p) * float64(p)
			} else {
				sum += S(p)
				float += float64(p)
			}
		}
	}
	if IsFloat[S]() {
		return S(float)
	}
	return sum
}

// Table returns the whole table without gaps, (Width+1)×(Height+1) entries: each is the entry above plus the sum of
// the row so far, in float64 for floats.
func Table[S kernel.Sum, P kernel.Pixel](im Image[P], square bool) []S {
	stride := (im.Width + 1) * im.Channels
	table := make([]S, stride*(im.Height+1))
	floats := make([]float64, len(table))
	for y := range im.Height {
		for c := range im.Channels {
			var sum S
			var float float64
			for x := range im.Width {
				p := im.Pix[y*im.Stride+x*im.Channels+c]
				if square {
					sum += S(p) * S(p)
					float += float64(p) * float64(p)
				} else {
					sum += S(p)
					float += float64(p)
				}
				i := (y+1)*stride + (x+1)*im.Channels + c
				table[i] = table[i-stride] + sum
				floats[i] = floats[i-stride] + float
			}
		}
	}
	if IsFloat[S]() {
		for i, f := range floats {
			table[i] = S(f)
		}
	}
	return table
}

// IsFloat reports whether S is a float type.
func IsFloat[S kernel.Sum]() bool {
	one, two := S(1), S(2)
	return one/two != 0
}
