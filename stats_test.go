package boxsum_test

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
)

// reference returns the mean and standard deviation of a box, computed in big integers:
// floats are multiples of a power of two.
func reference[P boxsum.Pixel](im boxsum.Image[P], box image.Rectangle, channel int) (mean, std float64) {
	box = box.Intersect(image.Rect(0, 0, im.Width, im.Height))
	sum, squares, x := new(big.Rat), new(big.Rat), new(big.Rat)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		row := im.Row(y)
		for i := box.Min.X; i < box.Max.X; i++ {
			x.SetFloat64(float64(row[i*im.Channels+channel]))
			sum.Add(sum, x)
			squares.Add(squares, x.Mul(x, x))
		}
	}
	n := new(big.Rat).SetInt64(int64(box.Dx() * box.Dy()))
	sum.Quo(sum, n)
	mean, _ = sum.Float64()
	squares.Quo(squares, n)
	v, _ := squares.Sub(squares, sum.Mul(sum, sum)).Float64()
	return mean, math.Sqrt(v)
}

// TestWideBoxes tests that means and deviations are correct for boxes of any size, also
// if their sum does not fit the sum type.
func TestWideBoxes(t *testing.T) {
	side := 5000
	im, err := boxsum.NewImage[uint8](side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range im.Pix {
		im.Pix[i] = 255
	}
	table, err := boxsum.IntegrateSquares[uint32, uint64](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := table.Sum.Bounds()
	if mean, std := table.Mean(all, 0), table.StdDev(all, 0); mean != 255 || std != 0 {
		t.Errorf("mean %v and deviation %v of white", mean, std)
	}
	for i := range im.Pix[:len(im.Pix)/2] {
		im.Pix[i] = 253
	}
	if err := boxsum.IntegrateSquaresInto(table, im, nil); err != nil {
		t.Fatal(err)
	}
	if mean, std := table.Mean(all, 0), table.StdDev(all, 0); mean != 254 || std != 1 {
		t.Errorf("mean %v and deviation %v of half and half", mean, std)
	}
}

// TestHugePixels is like TestWideBoxes for pixels of which few or none fit a sum, or
// squares.
func TestHugePixels(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, bits := range []int{1, 8, 16, 20, 28, 32} {
		u, _ := boxsum.NewImage[uint32](53, 37, 2)
		s, _ := boxsum.NewImage[int32](53, 37, 2)
		for i := range u.Pix {
			u.Pix[i] = uint32(rng.Uint64()) >> (32 - bits)
			s.Pix[i] = int32(rng.Uint64()) >> (32 - bits)
		}
		wide(t, u, must(boxsum.IntegrateSquares[uint64, uint64](u, nil)))
		wide(t, u, must(boxsum.IntegrateSquares[uint32, uint64](u, nil)))
		wide(t, u, must(boxsum.IntegrateSquares[uint64, float64](u, nil)))
		wide(t, s, must(boxsum.IntegrateSquares[int64, uint64](s, nil)))
		wide(t, s, must(boxsum.IntegrateSquares[int64, float64](s, nil)))
	}
}

func must[T any](t T, err error) T {
	if err != nil {
		panic(err)
	}
	return t
}

func wide[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *testing.T, im boxsum.Image[P], table *boxsum.SquaredTable[S, Q]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		x, y := rng.IntN(im.Width), rng.IntN(im.Height)
		box := image.Rect(x, y, x+1+rng.IntN(im.Width-x), y+1+rng.IntN(im.Height-y))
		channel := rng.IntN(im.Channels)
		mean, std := reference(im, box, channel)
		if got := table.Mean(box, channel); math.Abs(got-mean) > 0x1p-51*math.Abs(mean) {
			t.Fatalf("%T in %T: %v has mean %v, want %v", im.Pix, table, box, got, mean)
		}
		got := table.StdDev(box, channel)
		if math.IsNaN(got) && any(*new(Q)) == any(0.0) {
			continue // the rounding error was too large, and NaN is the documented result
		}
		if !(math.Abs(got-std) <= 1e-12*std) && !(any(*new(Q)) == any(0.0) && math.Abs(got-std) <= 1e-2*std) {
			t.Fatalf("%T in %T: %v has deviation %v, want %v", im.Pix, table, box, got, std)
		}
	}
}

// TestFarFromZero tests the deviations of floats far from zero, and that the result is
// NaN if floats are not accurate enough.
func TestFarFromZero(t *testing.T) {
	centers := []float64{-1e5, 1e9, 0, 0.5, 100, 1e5, 1e6, 1e7}
	if testing.Short() {
		centers = centers[:2]
	}
	for _, center := range centers {
		t.Run(fmt.Sprint(center), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			doubles, _ := boxsum.NewImage[float64](701, 503, 1)
			singles, _ := boxsum.NewImage[float32](701, 503, 1)
			for i := range doubles.Pix {
				doubles.Pix[i] = center + rng.NormFloat64()
				singles.Pix[i] = float32(doubles.Pix[i])
			}
			plain := &boxsum.Options{Plain: true}
			deviations(t, doubles,
				deviating{must(boxsum.IntegrateSquares[float64, float64](doubles, nil)), math.Abs(center) <= 1e7},
				deviating{must(boxsum.IntegrateSquares[float64, float64](doubles, plain)), false})
			deviations(t, singles,
				deviating{must(boxsum.IntegrateSquares[float64, float64](singles, nil)), math.Abs(center) <= 1e7},
				deviating{must(boxsum.IntegrateSquares[float32, float64](singles, nil)), false},
				deviating{must(boxsum.IntegrateSquares[float32, float64](singles, plain)), false})
		})
	}
}

// deviating is a table to test. If known is set, all deviations must be accurate to six
// digits; otherwise they may be NaN, but numbers must be accurate to a hundredth.
type deviating struct {
	table interface {
		StdDev(box image.Rectangle, channel int) float64
	}
	known bool
}

// deviations tests boxes of tables of one image.
func deviations[P boxsum.Pixel](t *testing.T, im boxsum.Image[P], tables ...deviating) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	refused := make([]int, len(tables))
	boxes := 200
	if ref.Race { // big rationals are slow under it, and this test has no goroutines to check
		boxes = 20
	}
	for range boxes {
		x, y, w, h := rng.IntN(im.Width), rng.IntN(im.Height), 2+rng.IntN(30), 2+rng.IntN(30)
		box := image.Rect(x, y, x+w, y+h)
		if x+2 > im.Width || y+2 > im.Height {
			continue
		}
		_, std := reference(im, box, 0)
		for i, d := range tables {
			got := d.table.StdDev(box, 0)
			switch off := math.Abs(got-std) / std; {
			case math.IsNaN(got):
				refused[i]++
			case d.known && off > 1e-6 || off > 1e-2:
				t.Fatalf("%T %d: %v has deviation %v, want %v: off by %v", d.table, i, box, got, std, off)
			}
		}
	}
	for i, d := range tables {
		if d.known && refused[i] > 0 {
			t.Errorf("%T %d: %d of %d refused", d.table, i, refused[i], boxes)
		}
	}
}

// TestRampWithNoise uses an image that is far from zero in places: inaccurate results
// must be NaN.
func TestRampWithNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	im, _ := boxsum.NewImage[float64](600, 500, 1)
	for y := range im.Height {
		for x := range im.Width {
			im.Pix[y*im.Stride+x] = float64(x/100)*2e6 + rng.NormFloat64()
		}
	}
	deviations(t, im, deviating{must(boxsum.IntegrateSquares[float64, float64](im, nil)), false})
}

// TestFlatFloats tests that whole numbers in floats are exact, also if they are all
// equal.
func TestFlatFloats(t *testing.T) {
	im, _ := boxsum.NewImage[float32](300, 200, 1)
	for i := range im.Pix {
		im.Pix[i] = float32(i * 7 % 256)
		if x := i % im.Stride; x > 100 {
			im.Pix[i] = 255
		}
	}
	table := must(boxsum.IntegrateSquares[float64, float64](im, nil))
	if got := table.StdDev(image.Rect(110, 20, 200, 90), 0); got != 0 {
		t.Errorf("flat pixels have deviation %v", got)
	}
	if mean, std := reference(im, image.Rect(10, 10, 50, 50), 0); table.StdDev(image.Rect(10, 10, 50, 50), 0) != std || table.Mean(image.Rect(10, 10, 50, 50), 0) != mean {
		t.Errorf("want %v and %v", mean, std)
	}
}

// TestMeanBoxes compares the batch methods with the single ones.
func TestMeanBoxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	im, _ := boxsum.NewImage[uint8](40, 30, 3)
	for i := range im.Pix {
		im.Pix[i] = uint8(rng.Uint32())
	}
	table := must(boxsum.IntegrateSquares[uint32, uint64](im, nil))
	boxes := []image.Rectangle{{}, image.Rect(3, 4, 20, 21), image.Rect(-5, -5, 100, 100), image.Rect(39, 29, 40, 30), image.Rect(50, 0, 60, 5)}
	means, variances, deviations := make([]float64, 3*len(boxes)), make([]float64, 3*len(boxes)), make([]float64, 3*len(boxes))
	for _, err := range []error{table.MeanBoxes(means, boxes), table.VarianceBoxes(variances, boxes), table.StdDevBoxes(deviations, boxes)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, box := range boxes {
		for c := range 3 {
			if means[3*i+c] != table.Mean(box, c) || variances[3*i+c] != table.Variance(box, c) || deviations[3*i+c] != table.StdDev(box, c) {
				t.Errorf("%v, channel %d: %v, %v, %v", box, c, means[3*i+c], variances[3*i+c], deviations[3*i+c])
			}
		}
	}
	if err := table.StdDevBoxes(means[:3], boxes); err == nil {
		t.Error("no error for a destination that is too short")
	}
	if err := (&boxsum.SquaredTable[uint32, uint64]{}).StdDevBoxes(means, boxes); err == nil {
		t.Error("no error without tables")
	}
}

// TestSquaredTableOf tests that a table of memory filled elsewhere takes the properties of
// its pixels from its fields, and that SquaredTableOf adds back an offset like
// IntegrateSquares.
func TestSquaredTableOf(t *testing.T) {
	im := boxsum.Image[float32]{Pix: []float32{1000, 1001, 1002, 1003, 1004, 1005}, Width: 3, Height: 2}
	want, err := boxsum.IntegrateSquares[float64, float64](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want.Squares.Offset == 0 {
		t.Fatal("no offset to put back")
	}
	of := func(t *boxsum.Table[float64]) *boxsum.Table[float64] {
		return &boxsum.Table[float64]{Sums: t.Sums, Stride: t.Stride, Width: t.Width, Height: t.Height, Channels: t.Channels, Offset: t.Offset}
	}
	got, err := boxsum.SquaredTableOf(of(want.Sum), of(want.Squares))
	if err != nil {
		t.Fatal(err)
	}
	box := image.Rect(1, 0, 3, 2)
	if g, w := got.Squares.Sum(box), want.Squares.Sum(box); g != w {
		t.Errorf("squares sum to %v, want %v", g, w)
	}
	if g, w := got.Variance(box, 0), want.Variance(box, 0); g != w {
		t.Errorf("variance %v, want %v", g, w)
	}
	other := of(want.Squares)
	other.Offset++
	if _, err := boxsum.SquaredTableOf(want.Sum, other); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("another offset: %v", err)
	}
	other.Offset, other.Width = 0, 2
	if _, err := boxsum.SquaredTableOf(want.Sum, other); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("another size: %v", err)
	}
	if _, err := boxsum.SquaredTableOf(want.Sum, (*boxsum.Table[uint64])(nil)); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("no squares: %v", err)
	}
}

// TestValidTableOf tests that tables of memory filled elsewhere answer like those of
// IntegrateValid, also with an offset to add back.
func TestValidTableOf(t *testing.T) {
	im := boxsum.Image[float32]{Pix: []float32{1000, float32(math.NaN()), 1002, 1003, 1004, 1005}, Width: 3, Height: 2}
	want, err := boxsum.IntegrateValid[float64, float64](im, boxsum.Valid{SkipNaN: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want.Squares.Offset == 0 {
		t.Fatal("no offset to put back")
	}
	of := func(t *boxsum.Table[float64]) *boxsum.Table[float64] {
		return &boxsum.Table[float64]{Sums: t.Sums, Stride: t.Stride, Width: t.Width, Height: t.Height, Channels: t.Channels, Offset: t.Offset}
	}
	count := &boxsum.Table[uint32]{Sums: want.Count.Sums, Stride: want.Count.Stride, Width: 3, Height: 2, Channels: 1}
	got, err := boxsum.ValidTableOf(of(want.Sum), of(want.Squares), count)
	if err != nil {
		t.Fatal(err)
	}
	for _, box := range []image.Rectangle{image.Rect(0, 0, 3, 2), image.Rect(1, 0, 3, 1), image.Rect(1, 0, 2, 1)} {
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		if g, w := got.Sum.Sum(box), want.Sum.Sum(box); g != w {
			t.Errorf("%v sums to %v, want %v", box, g, w)
		}
		if g, w := got.Squares.Sum(box), want.Squares.Sum(box); g != w {
			t.Errorf("squares of %v sum to %v, want %v", box, g, w)
		}
		if g, w := got.Mean(box, 0), want.Mean(box, 0); !same(g, w) {
			t.Errorf("the mean of %v is %v, want %v", box, g, w)
		}
		if g, w := got.StdDev(box, 0), want.StdDev(box, 0); !same(g, w) {
			t.Errorf("the deviation of %v is %v, want %v", box, g, w)
		}
	}
	if _, err := boxsum.ValidTableOf[float64, float64](of(want.Sum), nil, count); err != nil {
		t.Errorf("without squares: %v", err)
	}
	other := of(want.Squares)
	other.Offset++
	if _, err := boxsum.ValidTableOf(of(want.Sum), other, count); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("another offset: %v", err)
	}
	count.Width = 2
	if _, err := boxsum.ValidTableOf[float64, float64](of(want.Sum), nil, count); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("another size: %v", err)
	}
	if _, err := boxsum.ValidTableOf[float64, float64](of(want.Sum), nil, nil); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("no counts: %v", err)
	}
}

// TestBound tests that a box of a uint32 table whose sum does not fit is summed in
// parts of the size that Bound requires.
func TestBound(t *testing.T) {
	const side, value = 300, 65535
	table, err := boxsum.NewTable[uint32](side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	for y := range side + 1 {
		for x := range side + 1 {
			table.Sums[y*table.Stride+x] = uint32(x * y * value)
		}
	}
	table.Bound = value
	if mean := table.Mean(table.Bounds(), 0); mean != value {
		t.Errorf("mean %v of pixels up to %d, want %d", mean, value, value)
	}
	for y := range side + 1 {
		for x := range side + 1 {
			table.Sums[y*table.Stride+x] = -uint32(x * y)
		}
	}
	table.Bound, table.Signed = 1, true
	if mean := table.Mean(table.Bounds(), 0); mean != -1 {
		t.Errorf("mean %v of int32 sums, want -1", mean)
	}
}
