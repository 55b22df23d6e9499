package products

import (
	"image"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
)

// A Pair holds the tables of two images and the table of their products, which together
// give the covariance and the correlation of any box.
type Pair[S boxsum.Sum, Q boxsum.Square, R boxsum.Sum] struct {
	A, B     *boxsum.SquaredTable[S, Q]
	Products *boxsum.Table[R]
}

// PairOf combines the tables of two images with the table of their products. All tables
// must have the same size and number of channels. The Pair refers to the tables and
// copies nothing.
func PairOf[S boxsum.Sum, Q boxsum.Square, R boxsum.Sum](a, b *boxsum.SquaredTable[S, Q], products *boxsum.Table[R]) (*Pair[S, Q, R], error) {
	p := &Pair[S, Q, R]{A: a, B: b, Products: products}
	if !p.complete() {
		return nil, raster.NoTable()
	}
	size := extentOf(products)
	for _, err := range [...]error{
		check(products, &size), check(a.Sum, &size), check(a.Squares, &size), check(b.Sum, &size), check(b.Squares, &size),
	} {
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Pair[S, Q, R]) complete() bool {
	return p != nil && p.Products != nil && p.A != nil && p.A.Sum != nil && p.A.Squares != nil && p.B != nil && p.B.Sum != nil && p.B.Squares != nil
}

// check returns an error if a table is invalid or not of the given size.
func check[S boxsum.Sum](t *boxsum.Table[S], size *raster.Extent) error {
	e := extentOf(t)
	if err := e.Sums(len(t.Sums)); err != nil {
		return err
	}
	if e.Width != size.Width || e.Height != size.Height || e.Channels != size.Channels {
		return raster.Invalid("table is %v, want %v like the products", e, *size)
	}
	return nil
}

func extentOf[S boxsum.Sum](t *boxsum.Table[S]) raster.Extent {
	return raster.PlaneExtent(t.Width, t.Height, max(1, t.Channels), t.Stride)
}

// Covariance returns the covariance of one channel over a box, clipped to the images: the
// mean product of the differences of both images from their means. It is 0 for an empty
// box, and NaN if the pixels of an image are not all valid.
//
// The covariance of integer tables is computed from exact integers and accurate to two
// units in the last place, for boxes of any size. The covariance of float tables is NaN
// if the entries of the tables show that its rounding error may exceed a fiftieth of the
// product of both standard deviations. To avoid that for images whose pixels lie far from
// zero, subtract their means first.
func (p *Pair[S, Q, R]) Covariance(box image.Rectangle, channel int) float64 {
	if !p.complete() {
		return 0
	}
	box = box.Intersect(p.Products.Bounds())
	n := p.Products.Area(box, channel)
	switch {
	case n == 0:
		return 0
	case p.A.Sum.Area(box, channel) != n || p.B.Sum.Area(box, channel) != n:
		return math.NaN()
	}
	if s, r := raster.TypeOf[S](), raster.TypeOf[R](); !s.Float() && !r.Float() {
		most := min(knownOf(p.A.Sum).MaxCount(s, false), knownOf(p.B.Sum).MaxCount(s, false), knownOf(p.Products).MaxCount(r, false))
		return stats.Covariance(n, total(p.A.Sum, box, channel, most), total(p.B.Sum, box, channel, most), total(p.Products, box, channel, most))
	}
	steps := box.Max.Y + box.Max.X*min(p.Products.Channels, 4)/4 + 8 // as for variances
	rounding := stats.Rounding{Entries: 4, Pixels: box.Max.X * box.Max.Y, Steps: steps}
	return stats.CovarianceOfFloats(n, sideOf(p.A, box, channel), sideOf(p.B, box, channel),
		p.Products.Mean(box, channel), stats.Unit(raster.TypeOf[R]()), rounding)
}

// Correlation returns the correlation coefficient of one channel over a box, clipped to
// the images: their covariance divided by both standard deviations, from -1 to 1. It is
// NaN if the covariance is NaN, if a standard deviation is 0, or if the box is empty.
func (p *Pair[S, Q, R]) Correlation(box image.Rectangle, channel int) float64 {
	if !p.complete() {
		return math.NaN()
	}
	r := p.Covariance(box, channel) / (p.A.StdDev(box, channel) * p.B.StdDev(box, channel))
	return max(-1, min(1, r)) // NaN stays NaN
}

func knownOf[S boxsum.Sum](t *boxsum.Table[S]) stats.Pixels {
	return stats.Pixels{Bound: t.Bound, Signed: t.Signed}
}

// total returns the sum of a box inside the image, added up from parts of at most the
// given number of pixels.
func total[S boxsum.Sum](t *boxsum.Table[S], box image.Rectangle, channel, most int) stats.Sum {
	width, height := box.Dx(), box.Dy()
	if width*height <= most {
		return knownOf(t).Interpret(stats.SumOf(t.SumChannel(box, channel)))
	}
	one, other := box, box
	if width > height {
		one.Max.X, other.Min.X = box.Min.X+width/2, box.Min.X+width/2
	} else {
		one.Max.Y, other.Min.Y = box.Min.Y+height/2, box.Min.Y+height/2
	}
	return total(t, one, channel, most).Plus(total(t, other, channel, most))
}

// sideOf returns what the covariance of floats needs to know of one image. No entry that
// a box reads sums larger squares than that at its last corner.
func sideOf[S boxsum.Sum, Q boxsum.Square](t *boxsum.SquaredTable[S, Q], box image.Rectangle, channel int) stats.Side {
	before := image.Rectangle{Max: box.Max}
	return stats.Side{
		Mean: t.Mean(box, channel), StdDev: t.StdDev(box, channel),
		Squares: float64(t.Squares.SumChannel(before, channel)), Unit: stats.Unit(raster.TypeOf[S]()),
	}
}
