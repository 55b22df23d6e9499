package tilted_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/tilted"
)

// inside reports whether a pixel is in a box, by testing its four sides.
func inside(b tilted.Box, x, y int) bool {
	down, across := x+y-(b.X+b.Y-1), b.X-b.Y-1-(x-y) // steps from the upper left and the upper right side
	return down >= 0 && down < 2*b.W && across >= 0 && across < 2*b.H
}

// TestBoxes compares sums and statistics of boxes with those of their pixels in the
// image, also in tables that have wrapped.
func TestBoxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 30).Draw(t, "width"), rapid.IntRange(1, 30).Draw(t, "height")
		channels := rapid.IntRange(1, 3).Draw(t, "channels")
		img := randomImage[uint32](rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), width, height, channels)
		for i := range img.Pix {
			img.Pix[i] >>= 9 // so that boxes fit
		}
		both, err := tilted.IntegrateSquares[uint32, uint64](img, nil)
		if err != nil {
			t.Fatal(err)
		}
		near := func(name string, limit int) int { return rapid.IntRange(-2, limit+2).Draw(t, name) }
		b := tilted.Box{X: near("X", width), Y: near("Y", height), W: near("W", 8), H: near("H", 8)}
		for c := range channels {
			var sum uint32
			var all []float64
			for y := range height {
				for x := range width {
					if inside(b, x, y) {
						p := img.Pix[y*img.Stride+x*channels+c]
						sum += p
						all = append(all, float64(p))
					}
				}
			}
			corners := b.W >= 0 && b.H >= 0 && b.Y >= 0 && b.X-b.H >= 0 && b.X+b.W <= width && b.X <= width && b.Y+b.W+b.H <= height
			if both.Sum.Contains(b) != corners {
				t.Fatalf("%+v in %d×%d: Contains says %v", b, width, height, !corners)
			}
			if corners && len(all) != b.Area() || len(all) != both.Sum.Area(b) {
				t.Fatalf("%+v in %d×%d: %d pixels, the areas are %d and %d", b, width, height, len(all), b.Area(), both.Sum.Area(b))
			}
			mean, variance := statistics(all)
			if got := both.Sum.SumChannel(b, c); got != sum {
				t.Fatalf("%+v in %d×%d, channel %d: sum %d, want %d", b, width, height, c, got, sum)
			}
			if got := both.Mean(b, c); got != mean {
				t.Fatalf("%+v: mean %v, want %v", b, got, mean)
			}
			if got := both.StdDev(b, c); math.Abs(got-math.Sqrt(variance)) > 1e-9*(1+mean) {
				t.Fatalf("%+v: deviation %v, want %v", b, got, math.Sqrt(variance))
			}
			if got := both.Sum.SumChannels(nil, b); got[c] != sum {
				t.Fatalf("%+v: channels %v, want %v", b, got, sum)
			}
			sums := make([]uint32, channels)
			if err := both.Sum.SumBoxes(sums, []tilted.Box{b}); err != nil || sums[c] != sum {
				t.Fatalf("%+v: sums %v and %v", b, sums, err)
			}
		}
		n := 2 * channels
		means, variances, deviations := make([]float64, n), make([]float64, n), make([]float64, n)
		boxes := []tilted.Box{b, {X: width / 2, Y: 1, W: 2, H: 1}}
		if err := errors.Join(both.MeanBoxes(means, boxes), both.VarianceBoxes(variances, boxes), both.StdDevBoxes(deviations, boxes)); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			b, c := boxes[i/channels], i%channels
			if means[i] != both.Mean(b, c) || variances[i] != both.Variance(b, c) || deviations[i] != both.StdDev(b, c) {
				t.Fatalf("%+v, channel %d: %v, %v, %v of several boxes", b, c, means[i], variances[i], deviations[i])
			}
		}
	})
}

func statistics(all []float64) (mean, variance float64) {
	if len(all) == 0 {
		return 0, 0
	}
	for _, v := range all {
		mean += v
	}
	mean /= float64(len(all))
	for _, v := range all {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(all))
}

func TestSquares(t *testing.T) {
	testSquares[uint8, uint32, uint64](t)
	testSquares[uint8, uint32, float64](t)
	testSquares[uint16, uint64, float64](t)
	testSquares[uint16, uint64, uint64](t)
	testSquares[uint32, uint64, uint64](t)
	testSquares[uint32, uint32, float64](t)
	testSquares[int16, int64, uint64](t)
	testSquares[int16, float64, uint64](t)
	testSquares[int16, float64, float64](t)
	testSquares[uint16, uint32, uint64](t)
	testSquares[uint8, int64, uint64](t)
	testSquares[int32, int64, uint64](t)
	testSquares[int32, int64, float64](t)
	testSquares[float32, float32, float64](t)
	testSquares[float64, float64, float64](t)
}

func testSquares[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *testing.T) {
	t.Run(fmt.Sprintf("%T to %T and %T", *new(P), *new(S), *new(Q)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, size := range sizes {
			channels := 1 + rng.IntN(5)
			if size[0]*size[1] > 20_000 {
				if channels = 1; testing.Short() {
					continue
				}
			}
			img := randomImage[P](rng, size[0], size[1], channels)
			sums, squares := model[S](img, false), model[Q](img, true)
			for _, level := range boxsum.Levels() {
				for _, workers := range []int{1, 2 + rng.IntN(2)} {
					sum, square := newGuarded[S](rng, size[0], size[1], channels), newGuarded[Q](rng, size[0], size[1], channels)
					both := &tilted.SquaredTable[S, Q]{Sum: sum.table, Squares: square.table}
					if err := tilted.IntegrateSquaresInto(both, img, &tilted.Options{Level: level, Workers: workers}); err != nil {
						t.Fatal(err)
					}
					what := fmt.Sprintf("%d×%d×%d, %v on %d workers", size[0], size[1], channels, level, workers)
					sum.check(t, sums, what)
					square.check(t, squares, what+", squares")
				}
			}
		}
	})
}

// TestStream tests that a stream returns the rows of the table, at every level.
func TestStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, size := range [][2]int{{0, 3}, {1, 5}, {17, 9}, {130, 40}} {
		img := randomImage[float32](rng, size[0], size[1], 3)
		want := model[float32](img, false)
		for _, level := range boxsum.Levels() {
			s, err := tilted.NewStream[float32, float32](size[0], 3, &tilted.Options{Level: level})
			if err != nil {
				t.Fatal(err)
			}
			for y := range size[1] {
				row, err := s.Push(img.Row(y))
				if err != nil || len(row) != len(want[y+1]) {
					t.Fatalf("row %d: %d sums, %v", y, len(row), err)
				}
				for i := range row {
					if !ref.Same(row[i], want[y+1][i]) {
						t.Fatalf("%d×%d at %v: value %d of row %d is %v, want %v", size[0], size[1], level, i, y, row[i], want[y+1][i])
					}
				}
			}
			if _, err := s.Push(make([]float32, 2)); !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("a short row gives %v", err)
			}
		}
	}
}

// TestEmpty tests that tables of images without pixels are zero.
func TestEmpty(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {0, 5}, {5, 0}} {
		g := newGuarded[uint32](rand.New(rand.NewPCG(1, 1)), size[0], size[1], 2)
		img := boxsum.Image[uint8]{Width: size[0], Height: size[1], Channels: 2}
		if err := tilted.IntegrateInto(g.table, img, nil); err != nil {
			t.Fatal(err)
		}
		g.check(t, model[uint32](img, false), fmt.Sprint(size))
		if got := g.table.Sum(tilted.Box{}); got != 0 {
			t.Errorf("%v: an empty box sums to %d", size, got)
		}
	}
}

// TestDefaults tests that a table of the caller's own memory needs only its size.
func TestDefaults(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: []uint8{1, 2, 3, 4, 5, 6}, Width: 3, Height: 2}
	table := &tilted.Table[uint32]{Sums: make([]uint32, 12), Width: 3, Height: 2}
	if err := tilted.IntegrateInto(table, img, nil); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(table.Sums); got != "[0 0 0 0 0 1 2 3 1 7 11 11]" {
		t.Error(got)
	}
	if table.At(2, 2, 0) != 11 || table.At(-1, 0, 0)+table.At(4, 1, 0)+table.At(1, 3, 0)+table.At(1, 1, 1) != 0 {
		t.Error("At")
	}
}

func TestNoAllocation(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](1500, 1100, 1)
	table, _ := tilted.NewTable[uint32](1500, 1100, 1)
	both, _ := tilted.NewSquaredTable[uint32, uint64](1500, 1100, 1)
	stream, _ := tilted.NewStream[uint32, uint8](1500, 1, nil)
	for _, workers := range []int{1, 2} {
		opt := &tilted.Options{Workers: workers}
		for name, f := range map[string]func() error{
			"IntegrateInto":        func() error { return tilted.IntegrateInto(table, img, opt) },
			"IntegrateSquaresInto": func() error { return tilted.IntegrateSquaresInto(both, img, opt) },
			"Stream":               func() error { _, err := stream.Push(img.Row(0)); return err },
		} {
			ref.AllocatesNothing(t, fmt.Sprintf("%s with %d workers", name, workers), f)
		}
	}
}

func TestErrors(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3}
	table, _ := tilted.NewTable[uint32](4, 3, 1)
	with := func(change func(*boxsum.Image[uint8])) error {
		im := img
		change(&im)
		_, err := tilted.Integrate[uint32](im, nil)
		return err
	}
	into := func(change func(*tilted.Table[uint32])) error {
		broken := *table
		change(&broken)
		return tilted.IntegrateInto(&broken, img, nil)
	}
	opt := func(opt tilted.Options) error { _, err := tilted.Integrate[uint32](img, &opt); return err }
	failure := func(_ any, err error) error { return err }
	huge := make([]uint32, 100)
	for name, test := range map[string]struct{ err, want error }{
		"negative width":    {with(func(im *boxsum.Image[uint8]) { im.Width = -1 }), boxsum.ErrInvalid},
		"negative height":   {with(func(im *boxsum.Image[uint8]) { im.Height = -3 }), boxsum.ErrInvalid},
		"negative channels": {with(func(im *boxsum.Image[uint8]) { im.Channels = -1 }), boxsum.ErrInvalid},
		"negative stride":   {with(func(im *boxsum.Image[uint8]) { im.Stride = -4 }), boxsum.ErrInvalid},
		"short stride":      {with(func(im *boxsum.Image[uint8]) { im.Stride = 3 }), boxsum.ErrInvalid},
		"huge stride":       {with(func(im *boxsum.Image[uint8]) { im.Stride = math.MaxInt }), boxsum.ErrInvalid},
		"huge width":        {with(func(im *boxsum.Image[uint8]) { im.Width = math.MaxInt }), boxsum.ErrInvalid},
		"huge height":       {with(func(im *boxsum.Image[uint8]) { im.Height = math.MaxInt }), boxsum.ErrInvalid},
		"huge channels":     {with(func(im *boxsum.Image[uint8]) { im.Channels = math.MaxInt }), boxsum.ErrInvalid},
		"short pixels":      {with(func(im *boxsum.Image[uint8]) { im.Pix = im.Pix[:11] }), boxsum.ErrInvalid},
		"short table":       {into(func(t *tilted.Table[uint32]) { t.Sums = t.Sums[:3*t.Stride+4] }), boxsum.ErrInvalid},
		"table stride":      {into(func(t *tilted.Table[uint32]) { t.Stride = 4 }), boxsum.ErrInvalid},
		"table width":       {into(func(t *tilted.Table[uint32]) { t.Width = 5 }), boxsum.ErrInvalid},
		"table height":      {into(func(t *tilted.Table[uint32]) { t.Height = 2 }), boxsum.ErrInvalid},
		"table channels":    {into(func(t *tilted.Table[uint32]) { t.Channels = 2 }), boxsum.ErrInvalid},
		"no table":          {tilted.IntegrateInto((*tilted.Table[uint32])(nil), img, nil), boxsum.ErrInvalid},
		"no tables":         {tilted.IntegrateSquaresInto((*tilted.SquaredTable[uint32, uint64])(nil), img, nil), boxsum.ErrInvalid},
		"half a table":      {tilted.IntegrateSquaresInto(&tilted.SquaredTable[uint32, uint64]{Sum: table}, img, nil), boxsum.ErrInvalid},
		"workers":           {opt(tilted.Options{Workers: -1}), boxsum.ErrInvalid},
		"types":             {failure(tilted.Integrate[uint32](boxsum.Image[float32]{}, nil)), boxsum.ErrTypes},
		"squares":           {failure(tilted.IntegrateSquares[float32, uint64](boxsum.Image[float32]{}, nil)), boxsum.ErrTypes},
		"stream":            {failure(tilted.NewStream[uint32, uint8](-1, 1, nil)), boxsum.ErrInvalid},
		"stream types":      {failure(tilted.NewStream[uint32, float64](1, 1, nil)), boxsum.ErrTypes},
		"zero stream":       {failure(new(tilted.Stream[uint32, uint8]).Push(nil)), boxsum.ErrInvalid},
		"memory":            {failure(tilted.NewTable[uint64](1<<24, 1<<24, 1)), boxsum.ErrMemory},
		"overlap": {tilted.IntegrateInto(&tilted.Table[uint32]{Sums: huge, Width: 4, Height: 3},
			boxsum.Image[uint32]{Pix: huge[50:], Width: 4, Height: 3}, nil), boxsum.ErrOverlap},
		"few sums": {table.SumBoxes(nil, []tilted.Box{{X: 1, Y: 0, W: 1, H: 1}}), boxsum.ErrInvalid},
	} {
		if test.err == nil || strings.HasPrefix(test.err.Error(), "boxsum: ") || test.want != nil && !errors.Is(test.err, test.want) {
			t.Errorf("%s: %v", name, test.err)
		}
	}
}

// TestStreamNotMade tests that a stream not made by a constructor returns an error
// and does not panic.
func TestStreamNotMade(t *testing.T) {
	for _, s := range []*tilted.Stream[uint32, uint8]{nil, {}} {
		if _, err := s.Push(nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Error(err)
		}
	}
}
