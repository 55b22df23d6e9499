package boxsum_test

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/google/go-cmp/cmp"
)

func rows[S boxsum.Sum](v boxsum.View[S]) [][]S {
	all := make([][]S, v.Height)
	for y := range all {
		all[y] = v.Row(y)
	}
	return all
}

func TestViews(t *testing.T) {
	// The worked example in section II of Bilgic, Horn and Masaki, "Efficient integral
	// image computation on the GPU".
	bilgic := boxsum.Image[uint8]{Width: 4, Height: 3, Pix: []uint8{
		2, 1, 3, 1,
		3, 2, 1, 1,
		4, 1, 3, 1,
	}}
	table, err := boxsum.Integrate[uint32](bilgic, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameSize := [][]uint32{{0, 0, 0, 0}, {0, 2, 3, 6}, {0, 5, 8, 12}}
	if d := cmp.Diff(sameSize, rows(table.SameSize())); d != "" {
		t.Error("same-size exclusive:", d)
	}
	exclusive := [][]uint32{{0, 0, 0, 0, 0}, {0, 2, 3, 6, 7}, {0, 5, 8, 12, 14}, {0, 9, 13, 20, 23}}
	if d := cmp.Diff(exclusive, rows(table.Exclusive())); d != "" {
		t.Error("exclusive:", d)
	}

	// Figure 11 of Messom and Barczak, on rotated Haar-like features by stream
	// processing. It prints the fifth pixel of the third row as 1, but adds it as 3,
	// the value used here.
	messom := boxsum.Image[float32]{Width: 6, Height: 4, Pix: []float32{
		2, 1, 3, 1, 1, 2,
		3, 2, 1, 1, 3, 4,
		1, 2, 3, 2, 3, 2,
		4, 1, 3, 1, 1, 3,
	}}
	floats, err := boxsum.Integrate[float32](messom, nil)
	if err != nil {
		t.Fatal(err)
	}
	inclusive := [][]float32{{2, 3, 6, 7, 8, 10}, {5, 8, 12, 14, 18, 24}, {6, 11, 18, 22, 29, 37}, {10, 16, 26, 31, 39, 50}}
	if d := cmp.Diff(inclusive, rows(floats.Inclusive())); d != "" {
		t.Error("inclusive:", d)
	}

	// Figure 1 of Bertazzini and Guiducci, "Integral Images with Java Threads and
	// CUDA".
	bertazzini := boxsum.Image[int32]{Width: 3, Height: 3, Pix: []int32{
		1, 0, 2,
		3, 2, 4,
		1, 5, 0,
	}}
	signed, err := boxsum.Integrate[int64](bertazzini, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][]int64{{1, 1, 3}, {4, 6, 12}, {5, 12, 18}}, rows(signed.Inclusive())); d != "" {
		t.Error("inclusive:", d)
	}

	// Views share the table's memory.
	view := table.Inclusive()
	view.Sums[0] = 99
	if table.At(1, 1, 0) != 99 || view.Stride != table.Stride {
		t.Error("the view is a copy")
	}

	empty, err := boxsum.Integrate[uint32](boxsum.Image[uint8]{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(empty.Inclusive().Sums) + len(empty.SameSize().Sums); n != 0 || len(rows(empty.Exclusive())) != 1 {
		t.Error("views of an empty image")
	}
}

func TestNoAllocation(t *testing.T) {
	im, _ := boxsum.NewImage[uint8](1500, 1100, 1)
	table, _ := boxsum.NewTable[uint32](1500, 1100, 1)
	both, _ := boxsum.NewSquaredTable[uint32, uint64](1500, 1100, 1)
	stream, _ := boxsum.NewStream[uint32, uint8](1500, 1, nil)
	boxes := []image.Rectangle{image.Rect(1, 2, 3, 4), image.Rect(0, 0, 1500, 1100)}
	sums := make([]uint32, len(boxes))
	for _, workers := range []int{1, 2} {
		opt := &boxsum.Options{Workers: workers}
		for name, f := range map[string]func() error{
			"IntegrateInto":        func() error { return boxsum.IntegrateInto(table, im, opt) },
			"without options":      func() error { return boxsum.IntegrateInto(table, im, nil) },
			"IntegrateSquaresInto": func() error { return boxsum.IntegrateSquaresInto(both, im, opt) },
			"Stream":               func() error { _, err := stream.Push(im.Row(0)); return err },
			"SumBoxes":             func() error { return table.SumBoxes(sums, boxes) },
		} {
			ref.AllocatesNothing(t, fmt.Sprintf("%s with %d workers", name, workers), f)
		}
	}
}

func TestErrors(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3}
	table, _ := boxsum.NewTable[uint32](4, 3, 1)
	with := func(change func(*boxsum.Image[uint8])) error {
		im := img
		change(&im)
		_, err := boxsum.Integrate[uint32](im, nil)
		return err
	}
	into := func(change func(*boxsum.Table[uint32])) error {
		broken := *table
		change(&broken)
		return boxsum.IntegrateInto(&broken, img, nil)
	}
	pair := func(_ any, err error) error { return err }
	for name, tc := range map[string]struct{ err, want error }{
		"negative width":      {with(func(im *boxsum.Image[uint8]) { im.Width = -1 }), boxsum.ErrInvalid},
		"negative height":     {with(func(im *boxsum.Image[uint8]) { im.Height = -3 }), boxsum.ErrInvalid},
		"negative channels":   {with(func(im *boxsum.Image[uint8]) { im.Channels = -1 }), boxsum.ErrInvalid},
		"negative stride":     {with(func(im *boxsum.Image[uint8]) { im.Stride = -4 }), boxsum.ErrInvalid},
		"short stride":        {with(func(im *boxsum.Image[uint8]) { im.Stride = 3 }), boxsum.ErrInvalid},
		"huge stride":         {with(func(im *boxsum.Image[uint8]) { im.Stride = math.MaxInt }), boxsum.ErrInvalid},
		"short buffer":        {with(func(im *boxsum.Image[uint8]) { im.Pix = im.Pix[:11] }), boxsum.ErrInvalid},
		"overflow":            {with(func(im *boxsum.Image[uint8]) { im.Width, im.Height = math.MaxInt/2, 3 }), boxsum.ErrInvalid},
		"overflow by one":     {with(func(im *boxsum.Image[uint8]) { im.Width, im.Height = math.MaxInt, 0 }), boxsum.ErrInvalid},
		"overflow channels":   {with(func(im *boxsum.Image[uint8]) { im.Width, im.Height, im.Channels = math.MaxInt/3, 0, math.MaxInt/3 }), boxsum.ErrInvalid},
		"wrong table":         {into(func(t *boxsum.Table[uint32]) { t.Width = 3 }), boxsum.ErrInvalid},
		"short table":         {into(func(t *boxsum.Table[uint32]) { t.Sums = t.Sums[:19] }), boxsum.ErrInvalid},
		"table stride":        {into(func(t *boxsum.Table[uint32]) { t.Stride = 4 }), boxsum.ErrInvalid},
		"no table":            {boxsum.IntegrateInto[uint32](nil, img, nil), boxsum.ErrInvalid},
		"no squared table":    {boxsum.IntegrateSquaresInto[uint32, uint64](nil, img, nil), boxsum.ErrInvalid},
		"empty squared":       {boxsum.IntegrateSquaresInto(&boxsum.SquaredTable[uint32, uint64]{}, img, nil), boxsum.ErrInvalid},
		"workers":             {boxsum.IntegrateInto(table, img, &boxsum.Options{Workers: -1}), boxsum.ErrInvalid},
		"batch":               {boxsum.IntegrateInto(table, img, &boxsum.Options{Batch: -1}), boxsum.ErrInvalid},
		"offset":              {boxsum.IntegrateInto(table, img, &boxsum.Options{Offset: 1}), boxsum.ErrTypes},
		"i16 to u32":          {pair(boxsum.Integrate[uint32](boxsum.Image[int16]{}, nil)), boxsum.ErrTypes},
		"f64 to i64":          {pair(boxsum.Integrate[int64](boxsum.Image[float64]{}, nil)), boxsum.ErrTypes},
		"f32 to u32":          {pair(boxsum.Integrate[uint32](boxsum.Image[float32]{}, nil)), boxsum.ErrTypes},
		"squares in integers": {pair(boxsum.IntegrateSquares[float64, uint64](boxsum.Image[float32]{}, nil)), boxsum.ErrTypes},
		"stream pair":         {pair(boxsum.NewStream[uint32, float64](3, 1, nil)), boxsum.ErrTypes},
		"stream width":        {pair(boxsum.NewStream[uint32, uint8](-1, 1, nil)), boxsum.ErrInvalid},
		"stream channels":     {pair(boxsum.NewStream[uint32, uint8](1, -1, nil)), boxsum.ErrInvalid},
		"stream memory":       {pair(boxsum.NewStream[uint32, uint8](math.MaxInt/32, 1, nil)), boxsum.ErrInvalid},
		"zero stream":         {pair(new(boxsum.Stream[uint32, uint8]).Push(nil)), boxsum.ErrInvalid},
		"table memory":        {pair(boxsum.NewTable[uint32](math.MaxInt/64, 1, 1)), boxsum.ErrInvalid},
		"image memory":        {pair(boxsum.NewImage[float64](1<<15, math.MaxInt>>20, 1)), boxsum.ErrInvalid},
		"empty and tall":      {pair(boxsum.Integrate[uint32](boxsum.Image[uint8]{Height: math.MaxInt >> 14}, nil)), boxsum.ErrMemory},
		"one row, stride":     {into(func(t *boxsum.Table[uint32]) { t.Height, t.Stride = 0, -3 }), boxsum.ErrInvalid},
		"infinite offset":     {boxsum.IntegrateInto(table, img, &boxsum.Options{Offset: float32(math.Inf(1))}), boxsum.ErrInvalid},
		"new table":           {pair(boxsum.NewTable[uint32](math.MaxInt/8, 1, 1)), boxsum.ErrInvalid},
		"new image":           {pair(boxsum.NewImage[uint8](3, 3, -1)), boxsum.ErrInvalid},
		"short batch":         {table.SumBoxes(nil, make([]image.Rectangle, 1)), boxsum.ErrInvalid},
	} {
		if tc.err == nil || tc.want != nil && !errors.Is(tc.err, tc.want) {
			t.Errorf("%s: error %v, want %v", name, tc.err, tc.want)
		}
	}
}

// TestBatch tests that the tables of a batch equal those of single images, however they
// are written.
func TestBatch(t *testing.T) {
	for _, size := range [][2]int{{640, 97}, {641, 33}, {17, 5}} {
		img, err := boxsum.NewImage[uint8](size[0], size[1], 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range img.Pix {
			img.Pix[i] = uint8(i * 7 % 251)
		}
		want, err := boxsum.Integrate[uint32](img, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := boxsum.Integrate[uint32](img, &boxsum.Options{Batch: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Sums, want.Sums) {
			t.Errorf("%v: another table", size)
		}
	}
}

func TestLevelNames(t *testing.T) {
	for _, l := range append(boxsum.Levels(), boxsum.Level{}) {
		if got, err := boxsum.ParseLevel(l.String()); err != nil || got != l {
			t.Errorf("%v parses as %v, %v", l, got, err)
		}
	}
	if _, err := boxsum.ParseLevel("mmx"); err == nil {
		t.Error("mmx is a level")
	}
}

// TestOffset tests that subtracting the mean makes float32 boxes nearly exact.
func TestOffset(t *testing.T) {
	const n = 1500
	rng := rand.New(rand.NewPCG(4, 4))
	im, _ := boxsum.NewImage[float32](n, n, 1)
	for i := range im.Pix {
		im.Pix[i] = rng.Float32()
	}
	exact, err := boxsum.Integrate[float64](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	worst := func(offset float32) (worst float64) {
		table, err := boxsum.Integrate[float32](im, &boxsum.Options{Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		for range 5000 {
			x, y := rng.IntN(n-16), rng.IntN(n-16)
			box := image.Rect(x, y, x+16, y+16)
			worst = max(worst, math.Abs(float64(table.Sum(box))-exact.Sum(box)))
		}
		return worst
	}
	plain, centered := worst(0), worst(0.5)
	t.Logf("worst 16×16 box: %.2g as it is, %.2g without the mean", plain, centered)
	if centered > plain/50 {
		t.Errorf("taking the mean away helped from %v to %v only", plain, centered)
	}
}

// TestPrecision tests that float32 sums lose a pixel next to a sum 2^24 times larger,
// and float64 sums do not.
func TestPrecision(t *testing.T) {
	im := boxsum.Image[float32]{Pix: []float32{1 << 25, 2}, Width: 2, Height: 1}
	f32, _ := boxsum.Integrate[float32](im, nil)
	f64, _ := boxsum.Integrate[float64](im, nil)
	if got := f32.At(2, 1, 0); got != 1<<25 {
		t.Errorf("float32: 2^25+2 is %v", got)
	}
	if got := f64.At(2, 1, 0); got != 1<<25+2 {
		t.Errorf("float64: 2^25+2 is %v", got)
	}
}

// TestVarianceExact tests that the variance is exact where floats would cancel.
func TestVarianceExact(t *testing.T) {
	im := boxsum.Image[uint16]{Pix: make([]uint16, 1000*1000), Width: 1000, Height: 1000}
	for i := range im.Pix {
		im.Pix[i] = 65535 - uint16(i&1)
	}
	table, err := boxsum.IntegrateSquares[uint64, uint64](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Variance(table.Sum.Bounds(), 0); got != 0.25 {
		t.Errorf("variance %v, want 0.25", got)
	}
	if got := table.Variance(image.Rect(5, 0, 6, 1000), 0); got != 0 {
		t.Errorf("variance of equal pixels: %v", got)
	}
}

// TestVarianceRounding compares variances with rationals, for all sizes of sums and
// squares that fit.
func TestVarianceRounding(t *testing.T) {
	testVarianceRounding[uint16](t, 0)
	testVarianceRounding[uint32](t, 5) // so that 900 squares fit
}

func testVarianceRounding[P uint16 | uint32](t *testing.T, shift int) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 2000 {
		im := fixture.Image[P](rng, 1+rng.IntN(30), 1+rng.IntN(30), 1)
		for i := range im.Pix {
			im.Pix[i] >>= shift + rng.IntN(16)
		}
		table, err := boxsum.IntegrateSquares[uint64, uint64](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		box := table.Sum.Bounds()
		n := big.NewInt(int64(box.Dx() * box.Dy()))
		sum := new(big.Int).SetUint64(table.Sum.Sum(box))
		squares := new(big.Int).SetUint64(table.Squares.Sum(box))
		numerator := new(big.Int).Mul(n, squares)
		numerator.Sub(numerator, sum.Mul(sum, sum))
		want, _ := new(big.Rat).SetFrac(numerator, n.Mul(n, n)).Float64()
		got := table.Variance(box, 0)
		if ulp := math.Nextafter(want, math.Inf(1)) - want; math.Abs(got-want) > 2*ulp {
			t.Fatalf("variance %v, want %v", got, want)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	im := fixture.Image[uint8](rand.New(rand.NewPCG(6, 6)), 700, 800, 1)
	shared, err := boxsum.Integrate[uint32](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		group.Go(func() {
			own, _ := boxsum.NewTable[uint32](700, 800, 1)
			for range 5 {
				if err := boxsum.IntegrateInto(own, im, &boxsum.Options{Workers: 3}); err != nil {
					t.Error(err)
				}
				if own.Sum(own.Bounds()) != shared.Sum(shared.Bounds()) {
					t.Error("tables of the same image differ")
				}
			}
		})
	}
	group.Wait()
}

// TestCopiedTable tests that a copy of a table with other memory is independent.
func TestCopiedTable(t *testing.T) {
	im := fixture.Image[uint8](rand.New(rand.NewPCG(8, 8)), 300, 200, 1)
	first, err := boxsum.Integrate[uint32](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	second := *first
	second.Sums = make([]uint32, len(first.Sums))
	var group sync.WaitGroup
	for _, table := range []*boxsum.Table[uint32]{first, &second} {
		group.Go(func() {
			for range 50 {
				if err := boxsum.IntegrateInto(table, im, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	equal(t, "the copy", &second, first)
}

func TestOutside(t *testing.T) {
	table, err := boxsum.Integrate[uint32](small, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := image.Rect(-100, -100, 100, 100)
	for name, got := range map[string]uint32{
		"channel 1":  table.SumChannel(all, 1),
		"channel -1": table.SumChannel(all, -1),
		"left":       table.At(-1, 2, 0),
		"right":      table.At(5, 1, 0),
		"below":      table.At(0, 4, 0),
		"channel":    table.At(4, 3, 1),
		"view":       table.Inclusive().At(4, 2, 0),
		"nowhere":    table.Sum(image.Rect(4, 0, 9, 9)),
	} {
		if got != 0 {
			t.Errorf("%s: %d", name, got)
		}
	}
	if table.Exclusive().Row(4) != nil || table.Exclusive().Row(-1) != nil || small.Row(3) != nil {
		t.Error("rows outside are not nil")
	}
	narrow := boxsum.Image[uint8]{Height: 3, Stride: 5}
	if narrow.Row(1) != nil {
		t.Error("a row without pixels is not nil")
	}
}

// TestOwnMemory tests that tables of the caller's own memory have the defaults of
// images.
func TestOwnMemory(t *testing.T) {
	table := &boxsum.Table[uint32]{Sums: make([]uint32, 20), Width: 4, Height: 3}
	if err := boxsum.IntegrateInto(table, small, nil); err != nil {
		t.Fatal(err)
	}
	if got := table.At(4, 3, 0); got != 23 {
		t.Errorf("the last entry is %d, want 23", got)
	}
}

func TestOverlap(t *testing.T) {
	buf := make([]float64, 200)
	img := boxsum.Image[float64]{Pix: buf[50:150], Width: 10, Height: 10}
	table := &boxsum.Table[float64]{Sums: buf[:121], Width: 10, Height: 10}
	if err := boxsum.IntegrateInto(table, img, nil); !errors.Is(err, boxsum.ErrOverlap) {
		t.Errorf("a table in its image gives %v", err)
	}
	table.Sums = make([]float64, 121)
	both := &boxsum.SquaredTable[float64, float64]{Sum: table, Squares: table}
	if err := boxsum.IntegrateSquaresInto(both, img, nil); !errors.Is(err, boxsum.ErrOverlap) {
		t.Errorf("a table in a table gives %v", err)
	}
	next := &boxsum.Table[float64]{Sums: buf[150:], Width: 6, Height: 6}
	if err := boxsum.IntegrateInto(next, boxsum.Image[float64]{Pix: buf[100:150], Width: 6, Height: 6}, nil); err != nil {
		t.Errorf("a table after its image gives %v", err)
	}
}

// TestStreamNotMade tests that a stream not made by a constructor returns an error and
// does not panic.
func TestStreamNotMade(t *testing.T) {
	for _, s := range []*boxsum.Stream[uint32, uint8]{nil, {}} {
		if _, err := s.Push(nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Error(err)
		}
	}
	for _, s := range []*boxsum.SquaredStream[uint32, uint64, uint8]{nil, {}} {
		if _, _, err := s.Push(nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Error(err)
		}
	}
}

// TestUnknownPairs tests that, in every package, the error for an unsupported pair
// names the pairs of the pixel type. They are pairs that no table will ever have: signed
// pixels or floats in unsigned integers.
func TestUnknownPairs(t *testing.T) {
	pair := func(_ any, err error) error { return err }
	signed := raster.SumPairs.Missing(raster.I16, raster.U32)
	small := boxsum.Image[int16]{}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"sums":    {pair(boxsum.Integrate[uint32](small, nil)), signed},
		"stream":  {pair(boxsum.NewStream[uint32, int16](3, 1, nil)), signed},
		"valid":   {pair(boxsum.IntegrateValid[uint32, uint64](small, boxsum.Valid{}, nil)), signed},
		"floats":  {pair(boxsum.Integrate[uint32](boxsum.Image[float32]{}, nil)), "float32 pixels sum to float64 or float32"},
		"int32":   {pair(boxsum.Integrate[uint64](boxsum.Image[int32]{}, nil)), raster.SumPairs.Choices(raster.I32)},
		"squares": {pair(boxsum.IntegrateSquares[float64, uint64](boxsum.Image[float32]{}, nil)), "squares of float32 pixels sum to float64"},
	} {
		if !errors.Is(tc.err, boxsum.ErrTypes) || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", name, tc.err, tc.want)
		}
	}
}

// TestLargeBoxesOfNarrowSums tests boxes whose sum does not fit. Sums of 16-bit pixels
// in 32 bits wrap from 65,537 pixels on. Means and deviations of larger boxes must be
// correct, and so must sums in int64.
func TestLargeBoxesOfNarrowSums(t *testing.T) {
	const side = 700 // 490,000 pixels
	img, err := boxsum.NewImage[uint16](side, side+1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range img.Pix {
		img.Pix[i] = uint16(65535 - i%2)
	}
	table, err := boxsum.IntegrateSquares[uint32, uint64](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, box := range []image.Rectangle{image.Rect(0, 0, side, side), image.Rect(1, 1, side-1, side), image.Rect(3, 5, 259, 261)} {
		if mean, std := table.Mean(box, 0), table.StdDev(box, 0); mean != 65534.5 || std != 0.5 {
			t.Errorf("%v: mean %v, deviation %v; want 65534.5 and 0.5", box, mean, std)
		}
	}
	bytes, err := boxsum.Integrate[int64](boxsum.Image[uint8]{Pix: slices.Repeat([]uint8{255}, 99*101), Width: 99, Height: 101}, nil)
	if err != nil || bytes.Sum(bytes.Bounds()) != 99*101*255 {
		t.Errorf("a sum of %v, %v", bytes.Sum(bytes.Bounds()), err)
	}
}
