package products_test

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/products"
)

// pairOf returns the pair of two images.
func pairOf[S boxsum.Sum, Q boxsum.Square, R boxsum.Sum, P boxsum.Pixel](t *testing.T, a, b boxsum.Image[P]) *products.Pair[S, Q, R] {
	t.Helper()
	first, err := boxsum.IntegrateSquares[S, Q](a, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := boxsum.IntegrateSquares[S, Q](b, nil)
	if err != nil {
		t.Fatal(err)
	}
	table, err := products.Integrate[R](a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := products.PairOf(first, second, table)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// exactly returns the covariance and both variances of a box, rounded once.
func exactly[P boxsum.Pixel](a, b boxsum.Image[P], box image.Rectangle, c int) (covariance, varianceA, varianceB float64) {
	n, sums := big.NewRat(int64(box.Dx()*box.Dy()), 1), [5]big.Rat{}
	if n.Sign() == 0 {
		return 0, 0, 0
	}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			var p, q, v big.Rat
			p.SetFloat64(float64(a.Pix[y*a.Stride+x*a.Channels+c]))
			q.SetFloat64(float64(b.Pix[y*b.Stride+x*b.Channels+c]))
			for i, term := range []*big.Rat{&p, &q, v.Mul(&p, &q), new(big.Rat).Mul(&p, &p), new(big.Rat).Mul(&q, &q)} {
				sums[i].Add(&sums[i], term)
			}
		}
	}
	of := func(product, a, b *big.Rat) float64 {
		var mean, means big.Rat
		mean.Quo(product, n)
		means.Quo(means.Quo(means.Mul(a, b), n), n)
		f, _ := mean.Sub(&mean, &means).Float64()
		return f
	}
	return of(&sums[2], &sums[0], &sums[1]), of(&sums[3], &sums[0], &sums[0]), of(&sums[4], &sums[1], &sums[1])
}

func TestCovariance(t *testing.T) {
	testCovariance[uint8, uint32, uint64, uint64](t)
	testCovariance[uint8, uint64, uint64, uint32](t)
	testCovariance[uint8, uint32, float64, uint64](t)
	testCovariance[uint8, float64, float64, uint64](t)
	testCovariance[uint8, uint32, uint64, float64](t)
	testCovariance[uint16, uint64, uint64, uint64](t)
	testCovariance[uint16, uint32, uint64, uint32](t)
	testCovariance[int16, int64, uint64, int64](t)
	testCovariance[float32, float64, float64, float64](t)
	testCovariance[float32, float32, float64, float64](t)
	testCovariance[float64, float64, float64, float64](t)
}

// testCovariance compares the covariance and the correlation of all boxes of an image with
// those of their pixels.
func testCovariance[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square, R boxsum.Sum](t *testing.T) {
	t.Run(fmt.Sprintf("%T to %T, %T and %T", *new(P), *new(S), *new(Q), *new(R)), func(t *testing.T) {
		a, b := fixture.Image[P](rand.New(rand.NewPCG(1, 2)), 7, 6, 2), fixture.Image[P](rand.New(rand.NewPCG(3, 4)), 7, 6, 2)
		pair := pairOf[S, Q, R](t, a, b)
		integers := !isFloat[S]() && !isFloat[R]()
		for box := range boxesOf(pair.Products.Bounds()) {
			for c := range a.Channels {
				want, varianceA, varianceB := exactly(a, b, box, c)
				both, got := math.Sqrt(varianceA*varianceB), pair.Covariance(box, c)
				switch {
				case integers && math.Abs(got-want) > 0x1p-51*math.Abs(want):
					t.Fatalf("%v channel %d: covariance %v, want exactly %v", box, c, got, want)
				case math.IsNaN(got) && box.Dx()*box.Dy() > 3:
					t.Fatalf("%v channel %d: no covariance, want %v", box, c, want)
				case math.Abs(got-want) > both/50:
					t.Fatalf("%v channel %d: covariance %v, want %v", box, c, got, want)
				}
				switch r := pair.Correlation(box, c); {
				case both == 0 && !math.IsNaN(r):
					t.Fatalf("%v channel %d: correlation %v of deviations of 0", box, c, r)
				case both == 0 || math.IsNaN(got):
				case !(math.Abs(r-want/both) < 0.03) || integers && math.Abs(r-want/both) > 1e-12:
					t.Fatalf("%v channel %d: correlation %v, want %v", box, c, r, want/both)
				}
			}
		}
	})
}

// TestWrapped tests boxes whose sums exceed the sum type.
func TestWrapped(t *testing.T) {
	a, b := fixture.Image[uint16](rand.New(rand.NewPCG(5, 6)), 400, 300, 1), fixture.Image[uint16](rand.New(rand.NewPCG(7, 8)), 400, 300, 1)
	for i := range a.Pix {
		a.Pix[i] |= 0x8000
	}
	for i := range b.Pix {
		b.Pix[i] |= 0x8000
	}
	narrow, wide := pairOf[uint32, uint64, uint32](t, a, b), pairOf[uint64, uint64, uint64](t, a, b)
	for _, box := range []image.Rectangle{image.Rect(0, 0, 400, 300), image.Rect(3, 5, 399, 222), image.Rect(7, 9, 8, 299)} {
		if got, want := narrow.Covariance(box, 0), wide.Covariance(box, 0); got != want {
			t.Errorf("%v: covariance %v, want %v", box, got, want)
		}
	}
}

// TestLinear tests that the correlation of a line is 1 or -1.
func TestLinear(t *testing.T) {
	a := fixture.Image[uint8](rand.New(rand.NewPCG(9, 10)), 50, 40, 1)
	for i := range a.Pix {
		a.Pix[i] /= 2
	}
	for _, sign := range []float64{1, -1} {
		b := boxsum.Image[uint8]{Pix: make([]uint8, len(a.Pix)), Stride: a.Stride, Width: a.Width, Height: a.Height}
		for i, p := range a.Pix {
			b.Pix[i] = uint8(128 + sign*float64(p))
		}
		pair := pairOf[uint32, uint64, uint64](t, a, b)
		for _, box := range []image.Rectangle{pair.Products.Bounds(), image.Rect(3, 4, 5, 6), image.Rect(-10, 20, 7, 90)} {
			if r := pair.Correlation(box, 0); math.Abs(r-sign) > 1e-12 || math.Abs(r) > 1 {
				t.Errorf("%v: correlation %v, want %v", box, r, sign)
			}
		}
	}
}

// TestCancellation tests that the covariance of floats that lie far from zero is NaN and
// not noise, and that subtracting their mean helps.
func TestCancellation(t *testing.T) {
	a, b := fixture.Image[float64](rand.New(rand.NewPCG(1, 1)), 60, 50, 1), fixture.Image[float64](rand.New(rand.NewPCG(2, 2)), 60, 50, 1)
	box := image.Rect(40, 30, 49, 39)
	want, _, _ := exactly(a, b, box, 0)
	if got := pairOf[float64, float64, float64](t, a, b).Covariance(box, 0); math.Abs(got-want) > 1e-9 {
		t.Errorf("covariance %v, want %v", got, want)
	}
	for _, pix := range [][]float64{a.Pix, b.Pix} {
		for i := range pix {
			pix[i] += 1e8
		}
	}
	pair := pairOf[float64, float64, float64](t, a, b)
	if got, r := pair.Covariance(box, 0), pair.Correlation(box, 0); !math.IsNaN(got) || !math.IsNaN(r) {
		t.Errorf("covariance %v and correlation %v of pixels around 1e8", got, r)
	}
}

// TestValid tests that a table of only some of the pixels gives no covariance.
func TestValid(t *testing.T) {
	a := fixture.Image[float32](rand.New(rand.NewPCG(1, 1)), 20, 10, 1)
	valid, err := boxsum.IntegrateValid[float64, float64](a, boxsum.Valid{Mask: boxsum.Image[uint8]{Pix: append(make([]uint8, 190), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), Width: 20, Height: 10}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair := pairOf[float64, float64, float64](t, a, a)
	pair.B = &boxsum.SquaredTable[float64, float64]{Sum: valid.Sum, Squares: valid.Squares}
	if got := pair.Covariance(pair.Products.Bounds(), 0); !math.IsNaN(got) {
		t.Errorf("covariance %v of pixels of which some are not valid", got)
	}
	if got, want := valid.Sum.Area(pair.Products.Bounds(), 0), 10; got != want {
		t.Errorf("area %d, want %d", got, want)
	}
}

func TestPairOf(t *testing.T) {
	squared := func(width, height int) *boxsum.SquaredTable[uint32, uint64] {
		table, err := boxsum.NewSquaredTable[uint32, uint64](width, height, 1)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	table, err := boxsum.NewTable[uint64](4, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	short := *table
	short.Sums = short.Sums[:18]
	a, half := squared(4, 3), &boxsum.SquaredTable[uint32, uint64]{Sum: squared(4, 3).Sum}
	for name, err := range map[string]error{
		"no table": second(products.PairOf(nil, a, table)), "no products": second(products.PairOf[uint32, uint64, uint64](a, a, nil)),
		"no squares": second(products.PairOf(a, half, table)), "width": second(products.PairOf(a, squared(3, 3), table)),
		"height": second(products.PairOf(squared(4, 4), a, table)), "short": second(products.PairOf(a, a, &short)),
	} {
		if !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := products.PairOf(a, a, table); err != nil {
		t.Error(err)
	}
}

func second(_ any, err error) error { return err }

func TestNil(t *testing.T) {
	ref.NoPanics(t, (*products.Pair[uint32, uint64, uint64])(nil), new(products.Pair[uint32, uint64, uint64]))
}
