package cli

import (
	"image"
	"iter"
	"math"

	"github.com/boxsum/boxsum"
)

// stats is what a query says of one channel of one box.
type stats struct {
	sum       any // of the table's type
	mean, std float64
	area      *int64 // how many pixels are valid, where that may not be all
}

// A sample is one channel of a box of any shape: what tables say of it, and its
// pixels.
type sample[P boxsum.Pixel] struct {
	n      int
	sum    any
	mean   float64
	std    float64       // from a table of squares; negative without one
	noise  float64       // that rounding may add to the variance
	pixels iter.Seq[[]P] // runs of neighbours in a row, each from the channel on
}

// A population is all pixels of an image or a volume.
type population[P boxsum.Pixel] struct {
	channels int
	rows     iter.Seq[[]P]
	peak     uint64 // largest magnitude, once it matters
}

// describe is the statistics of a sample. The deviation comes from the pixels where
// squares may have wrapped, or have few right digits: they are then so large beside it
// that their rounding may be as large.
func (p *population[P]) describe(s sample[P]) stats {
	of := stats{sum: s.sum, mean: s.mean}
	const digits = 1e6
	if s.n == 0 {
		return of
	}
	if of.std = s.std; of.std < 0 || !p.squaresFit(s.n) || !(of.std*of.std >= digits*s.noise) {
		of.std = p.deviation(s)
	}
	return of
}

// squaresFit reports whether the squares of n pixels surely fit a uint64: those of 8
// and 16 bits do in every image, those of 32 if they are small.
func (p *population[P]) squaresFit(n int) bool {
	limit := largestPixel[P]()
	if uint64(n) <= math.MaxUint64/(limit*limit) {
		return true
	}
	if p.peak == 0 {
		p.peak = 1
		for row := range p.rows {
			for _, v := range row {
				p.peak = max(p.peak, uint64(math.Abs(float64(v))))
			}
		}
	}
	return uint64(n) <= math.MaxUint64/(p.peak*p.peak)
}

// deviation goes through the pixels of a sample. The mean may be off by a little: its
// error is taken away again.
func (p *population[P]) deviation(s sample[P]) float64 {
	var sum, squares float64
	for run := range s.pixels {
		for i := 0; i < len(run); i += p.channels {
			d := float64(run[i]) - s.mean
			sum += d
			squares += d * d
		}
	}
	n := float64(s.n)
	return math.Sqrt(max(0, squares-sum*sum/n) / n)
}

// squareNoise is what rounding may add to the variance of a box of n pixels at most, of
// which the table of squares has this entry at its last corner. The corner's coordinates
// add up to what was added up, one after the other, on the way there.
func squareNoise[Q boxsum.Square](entry Q, n int, corner ...int) float64 {
	if Q(1)/2 == 0 {
		return 0 // integers do not round
	}
	steps := 8
	for _, c := range corner {
		steps += c
	}
	return 0x1p-51 * float64(steps) * float64(entry) / float64(n)
}

// boxRows is the rows of a box of an image, from a channel on.
//
//go:noinline
func boxRows[P boxsum.Pixel](img boxsum.Image[P], box image.Rectangle, channel int) iter.Seq[[]P] {
	return func(yield func([]P) bool) {
		for y := box.Min.Y; y < box.Max.Y; y++ {
			if !yield(img.Row(y)[box.Min.X*img.Channels+channel : box.Max.X*img.Channels]) {
				return
			}
		}
	}
}
