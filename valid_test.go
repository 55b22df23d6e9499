package boxsum_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// holed returns a random image some of whose pixels are invalid, the Valid that selects
// the others, and a function that reports whether a pixel is valid. Invalid pixels are
// large or NaN.
func holed[P boxsum.Pixel](rng *rand.Rand, width, height, channels, maskChannels int) (boxsum.Image[P], boxsum.Valid, func(x, y, c int) bool) {
	im := fixture.Image[P](rng, width, height, channels)
	valid := boxsum.Valid{SkipNaN: rng.IntN(2) == 0 || maskChannels == 0}
	if maskChannels > 0 {
		valid.Mask = fixture.Image[uint8](rng, width, height, maskChannels)
		for i, v := range valid.Mask.Pix {
			valid.Mask.Pix[i] = v * uint8(rng.IntN(2))
		}
	}
	isValid := func(x, y, c int) bool {
		p := im.Pix[y*im.Stride+x*channels+c]
		m := &valid.Mask
		return (m.Pix == nil || m.Pix[y*m.Stride+(x*channels+c)*m.Channels/channels] != 0) && (!valid.SkipNaN || p == p)
	}
	if half := 0.5; P(half) != 0 {
		nan := math.NaN()
		for y := range height {
			for x := range width {
				for c := range channels {
					switch p := &im.Pix[y*im.Stride+x*channels+c]; {
					case !isValid(x, y, c):
						*p = P([]float64{nan, math.Inf(1), -math.MaxFloat32}[rng.IntN(3)])
					case valid.SkipNaN && rng.IntN(5) == 0:
						*p = P(nan)
					}
				}
			}
		}
	}
	return im, valid, isValid
}

// A holedImage holds images of types known at run time: one with invalid pixels, and for the
// expected tables the same with the offset in their place, and one of ones and zeros.
type holedImage struct {
	src, filled, ones raster.Array
	valid             boxsum.Valid
}

func newHoled[P boxsum.Pixel](rng *rand.Rand, width, height, channels, maskChannels int, offset float32) holedImage {
	im, valid, isValid := holed[P](rng, width, height, channels, maskChannels)
	filled, ones := fixture.Image[P](rng, width, height, channels), fixture.Image[uint8](rng, width, height, channels)
	for y := range height {
		for x := range width {
			for c := range channels {
				at := x*channels + c
				if filled.Row(y)[at], ones.Row(y)[at] = P(offset), 0; isValid(x, y, c) {
					filled.Row(y)[at], ones.Row(y)[at] = im.Row(y)[at], 1
				}
			}
		}
	}
	return holedImage{pixels.Of(im), pixels.Of(filled), pixels.Of(ones), valid}
}

var holedImages = [raster.NumTypes]func(rng *rand.Rand, width, height, channels, maskChannels int, offset float32) holedImage{
	raster.U8: newHoled[uint8], raster.U16: newHoled[uint16], raster.U32: newHoled[uint32], raster.I16: newHoled[int16],
	raster.I32: newHoled[int32], raster.F32: newHoled[float32], raster.F64: newHoled[float64],
}

func TestValid(t *testing.T) {
	for _, p := range raster.SumPairs.For(raster.Tilted) {
		for _, square := range raster.SquarePairs.Of(p.Pixel) {
			t.Run(p.String()+"+"+square.Short(), func(t *testing.T) { testValid(t, p, square) })
		}
	}
}

// testValid compares the tables, bit for bit, with those of an image in which a fill
// value replaces pixels that are not valid, and of an image of ones and zeros.
func testValid(t *testing.T, p raster.Pair, square raster.Type) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, shape := range shapes {
		for _, channels := range []int{1, 2, 3, 5} {
			n := shape.width * shape.height * channels
			if n > 150_000 || n > 30_000 && testing.Short() {
				continue
			}
			workers := []int{5}
			if n > 100_000 { // smaller tables have one worker, see engine.Work.Plan
				workers = []int{1, 2, 5}
			}
			plain, offset := rng.IntN(2) == 0, float32(0)
			if p.Pixel.Float() && rng.IntN(2) == 0 {
				offset = 3.25
			}
			im := holedImages[p.Pixel](rng, shape.width, shape.height, channels, []int{0, 1, channels}[rng.IntN(3)], offset)
			counts := tablesOf(t, im.ones, raster.U32, 0, 0)
			want := tablesOf(t, im.filled, p.Sum, square, offset)
			for _, packed := range []bool{false, true} {
				sums, squares := newGuarded(p.Sum, &im.src, packed), newGuarded(square, &im.src, packed)
				count := newGuarded(raster.U32, &im.src, !packed)
				for _, level := range boxsum.Levels() {
					for _, workers := range workers {
						what := fmt.Sprintf("%v, %v, %d workers, packed %v", im.src.Extent, level, workers, packed)
						alone := packed && level == boxsum.Levels()[0] // without squares
						job := engine.ValidJob{Mask: pixels.Of(im.valid.Mask), NaN: im.valid.SkipNaN}
						job.Src, job.Offset, job.Plain = im.src, offset, plain
						job.Options = engine.Options{Level: level.String(), Workers: workers}
						job.Sums.Type, job.Count.Type = p.Sum, raster.U32
						if !alone {
							job.Squares.Type = square
						}
						if err := job.Check(); err != nil {
							t.Fatal(err)
						}
						sums.lend(&job.Sums)
						count.lend(&job.Count)
						if !alone {
							squares.lend(&job.Squares)
						}
						if err := job.Run(); err != nil {
							t.Fatal(err)
						}
						sums.check(t, what)
						count.check(t, what)
						sameArrays(t, what+", counts", &count.table, &counts.Sums.Array)
						sameArrays(t, what, &sums.table, &want.Sums.Array)
						if job.Sums.Offset != offset {
							t.Fatalf("%s: an offset of %v", what, job.Sums.Offset)
						}
						if !alone {
							squares.check(t, what)
							sameArrays(t, what+", squares", &squares.table, &want.Squares.Array)
						}
					}
				}
			}
		}
	}
}

// tablesOf returns a job that has made the table of an image, and of its squares unless square
// is 0.
func tablesOf(t *testing.T, src raster.Array, sum, square raster.Type, offset float32) *engine.Job {
	t.Helper()
	job := &engine.Job{Src: src, Offset: offset, Plain: true}
	job.Sums.Type, job.Squares.Type = sum, square
	if err := job.Check(); err != nil {
		t.Fatal(err)
	}
	for _, dst := range []*engine.Table{&job.Sums, &job.Squares} {
		if dst.Type != 0 {
			dst.Array = must(raster.NewTable(dst.Type, src.Extent))
		}
	}
	if err := job.Run(); err != nil {
		t.Fatal(err)
	}
	return job
}

// TestValidBoxes compares statistics of boxes with those of their valid pixels,
// computed one by one.
func TestValidBoxes(t *testing.T) {
	testValidBoxes[uint8, uint32, uint64](t)
	testValidBoxes[uint16, uint64, uint64](t)
	testValidBoxes[uint32, uint32, uint64](t) // whose sums do not fit
	testValidBoxes[int32, int64, uint64](t)   // whose squares do not fit
	testValidBoxes[float32, float64, float64](t)
	testValidBoxes[float64, float64, float64](t)
}

func testValidBoxes[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 30 {
		width, height, channels := 1+rng.IntN(30), 1+rng.IntN(30), 1+rng.IntN(3)
		im, valid, isValid := holed[P](rng, width, height, channels, []int{0, 1, channels}[rng.IntN(3)])
		far := epsilon[S]() != 0 && rng.IntN(2) == 0
		if far { // far from zero, so that the tables choose an offset
			for i := range im.Pix {
				im.Pix[i] += P(100)
			}
		}
		table := must(boxsum.IntegrateValid[S, Q](im, valid, nil))
		if valid.Mask.Pix == nil || width*height < 200 {
			far = false // the sample of pixels may have no valid one
		}
		if far && table.Sum.Offset == 0 {
			t.Errorf("%T, %d×%d×%d: no offset", *new(P), width, height, channels)
		}
		boxes := []image.Rectangle{table.Sum.Bounds(), image.Rect(-4, -4, 2, 2), {}}
		for range 20 {
			x, y := rng.IntN(width), rng.IntN(height)
			boxes = append(boxes, image.Rect(x, y, x+rng.IntN(5), y+rng.IntN(5)))
		}
		means, deviations, variances := make([]float64, len(boxes)*channels), make([]float64, len(boxes)*channels), make([]float64, len(boxes)*channels)
		if err := errors.Join(table.MeanBoxes(means, boxes), table.StdDevBoxes(deviations, boxes), table.VarianceBoxes(variances, boxes)); err != nil {
			t.Fatal(err)
		}
		sums, sumMeans := make([]S, len(means)), make([]float64, len(means))
		if err := errors.Join(table.Sum.SumBoxes(sums, boxes), table.Sum.MeanBoxes(sumMeans, boxes)); err != nil {
			t.Fatal(err)
		}
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		for i, box := range boxes {
			for c := range channels {
				n, sum, mean, std := validStats(im, isValid, box, c)
				at, what := i*channels+c, fmt.Sprintf("%T, %d×%d×%d, %v of channel %d with %d", *new(P), width, height, channels, box, c, n)
				if got := table.Area(box, c); got != n || int(table.Count.SumChannel(box, c)) != n {
					t.Fatalf("%s: an area of %d", what, got)
				}
				if got := table.Mean(box, c); !same(got, means[at]) || n == 0 && got == got || n > 0 && !(math.Abs(got-mean) <= 1e-9*(1+math.Abs(mean))) {
					t.Fatalf("%s: a mean of %v and %v, want %v", what, got, means[at], mean)
				}
				if got := table.Sum.Mean(box, c); n > 0 && (!same(got, means[at]) || !same(got, sumMeans[at])) {
					t.Fatalf("%s: a mean of %v and %v, want %v", what, got, sumMeans[at], means[at])
				}
				if got := float64(table.Sum.SumChannel(box, c)); got != float64(sums[at]) || sum < 1<<32 && !(math.Abs(got-sum) <= 1e-9*(1+math.Abs(sum))) {
					t.Fatalf("%s: a sum of %v and %v, want %v", what, got, sums[at], sum)
				}
				got := table.StdDev(box, c)
				if !same(got, deviations[at]) || !same(got, math.Sqrt(variances[at])) || n == 0 && got == got || n == 1 && got > 1e-5 || n > 1 && !(math.Abs(got-std) <= 1e-5*(1+std)) {
					t.Fatalf("%s: a deviation of %v and %v, want %v", what, got, deviations[at], std)
				}
				if got := (&boxsum.SquaredTable[S, Q]{Sum: table.Sum, Squares: table.Squares}).StdDev(box, c); n > 0 && !same(got, deviations[at]) {
					t.Fatalf("%s: a deviation of %v from the two tables, want %v", what, got, deviations[at])
				}
			}
		}
	}
}

// validStats computes the statistics of a box pixel by pixel.
func validStats[P boxsum.Pixel](im boxsum.Image[P], isValid func(x, y, c int) bool, box image.Rectangle, c int) (n int, sum, mean, std float64) {
	box = box.Intersect(image.Rect(0, 0, im.Width, im.Height))
	all, squares, p := new(big.Rat), new(big.Rat), new(big.Rat)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if isValid(x, y, c) {
				p.SetFloat64(float64(im.Row(y)[x*im.Channels+c]))
				all.Add(all, p)
				squares.Add(squares, p.Mul(p, p))
				n++
			}
		}
	}
	if n == 0 {
		return 0, 0, 0, 0
	}
	sum, _ = all.Float64()
	count := new(big.Rat).SetInt64(int64(n))
	all.Quo(all, count)
	mean, _ = all.Float64()
	v, _ := squares.Sub(squares.Quo(squares, count), all.Mul(all, all)).Float64()
	return n, sum, mean, math.Sqrt(v)
}

// TestAllValid tests that, if all pixels are valid, all tables equal those of
// Integrate, bit for bit.
func TestAllValid(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	im := fixture.Image[float32](rng, 300, 200, 2)
	for i := range im.Pix {
		im.Pix[i] += 50
	}
	want := must(boxsum.IntegrateSquares[float64, float64](im, nil))
	mask := must(boxsum.NewImage[uint8](300, 200, 1))
	for i := range mask.Pix {
		mask.Pix[i] = 255
	}
	for _, valid := range []boxsum.Valid{{}, {SkipNaN: true}, {Mask: mask}, {mask, true}} {
		got := must(boxsum.IntegrateValid[float64, float64](im, valid, nil))
		equal(t, "sums", got.Sum, want.Sum)
		equal(t, "squares", got.Squares, want.Squares)
		box := image.Rect(30, 40, 50, 60)
		if got.Sum.Offset == 0 || got.Mean(box, 1) != want.Mean(box, 1) || got.StdDev(box, 1) != want.StdDev(box, 1) || got.Area(box, 1) != 400 {
			t.Errorf("%v and %v", got.Mean(box, 1), got.StdDev(box, 1))
		}
		for _, squares := range []*boxsum.Table[float64]{got.Squares, want.Squares} {
			batch := make([]float64, 2)
			if err := squares.MeanBoxes(batch, []image.Rectangle{box}); err != nil {
				t.Fatal(err)
			}
			mean := squares.SumChannel(box, 1) / 400
			if m := squares.Mean(box, 1); math.Abs(m-mean) > 1e-9*mean || batch[1] != m || m < 2400 {
				t.Errorf("the squares have a mean of %v and %v, want %v", m, batch[1], mean)
			}
		}
		// A table in the same memory must not know anything of this one.
		if err := boxsum.IntegrateInto(got.Squares, boxsum.Image[float32]{Pix: im.Pix, Stride: im.Stride, Width: 300, Height: 200, Channels: 2}, &boxsum.Options{Offset: 50}); err != nil {
			t.Fatal(err)
		}
		if a, b := got.Squares.SumChannel(box, 0), want.Sum.SumChannel(box, 0); math.Abs(a-b) > 1e-6 {
			t.Errorf("sums in the place of squares: %v, want %v", a, b)
		}
	}
}

// TestValidLarge uses an image large enough for streaming stores, workers and tiles.
func TestValidLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	im, valid, _ := holed[float32](rng, 1501, 1103, 1, 1)
	var first *boxsum.ValidTable[float64, float64]
	for _, level := range boxsum.Levels() {
		for _, workers := range []int{1, 2, 5} {
			got := must(boxsum.IntegrateValid[float64, float64](im, valid, &boxsum.Options{Level: level, Workers: workers, Offset: 0.25}))
			if first == nil {
				first = got
			}
			what := fmt.Sprintf("%v, %d workers", level, workers)
			equal(t, what, got.Sum, first.Sum)
			equal(t, what+", squares", got.Squares, first.Squares)
			equal(t, what+", counts", got.Count, first.Count)
		}
	}
}

// The image is large enough for two workers.
func TestValidAllocatesNothing(t *testing.T) {
	im, table := must(boxsum.NewImage[float32](500, 400, 1)), must(boxsum.NewValidTable[float64, float64](500, 400, 1))
	mask := must(boxsum.NewImage[uint8](500, 400, 1))
	for _, workers := range []int{1, 2} {
		opt := &boxsum.Options{Workers: workers}
		for _, valid := range []boxsum.Valid{{SkipNaN: true}, {Mask: mask}} {
			ref.AllocatesNothing(t, fmt.Sprintf("IntegrateValidInto with %d workers", workers), func() error {
				return boxsum.IntegrateValidInto(table, im, valid, opt)
			})
		}
	}
}

func TestValidErrors(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3}
	mask := boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	with := func(change func(*boxsum.Image[uint8])) error {
		m := mask
		change(&m)
		_, err := boxsum.IntegrateValid[uint32, uint64](img, boxsum.Valid{Mask: m}, nil)
		return err
	}
	of := func(opt *boxsum.Options) error {
		_, err := boxsum.IntegrateValid[uint32, uint64](img, boxsum.Valid{}, opt)
		return err
	}
	into := func(change func(*boxsum.ValidTable[uint32, uint64])) error {
		table := must(boxsum.NewValidTable[uint32, uint64](4, 3, 1))
		change(table)
		return boxsum.IntegrateValidInto(table, img, boxsum.Valid{Mask: mask}, nil)
	}
	pair := func(_ any, err error) error { return err }
	words := make([]uint32, 40)
	table := must(boxsum.NewValidTable[uint32, uint64](4, 3, 1))
	for name, tc := range map[string]struct{ err, want error }{
		"mask size":     {with(func(m *boxsum.Image[uint8]) { m.Width = 3 }), boxsum.ErrInvalid},
		"mask channels": {with(func(m *boxsum.Image[uint8]) { m.Width, m.Channels = 2, 2 }), boxsum.ErrInvalid},
		"mask buffer":   {with(func(m *boxsum.Image[uint8]) { m.Pix = m.Pix[1:] }), boxsum.ErrInvalid},
		"mask nothing":  {with(func(m *boxsum.Image[uint8]) { m.Pix = nil }), boxsum.ErrInvalid},
		"mask empty":    {with(func(m *boxsum.Image[uint8]) { m.Width, m.Height = 0, 0 }), boxsum.ErrInvalid},
		"workers":       {of(&boxsum.Options{Workers: -1}), boxsum.ErrInvalid},
		"canceled":      {of(&boxsum.Options{Context: done}), context.Canceled},
		"offset":        {of(&boxsum.Options{Offset: 1}), boxsum.ErrTypes},
		"offset u8":     {pair(boxsum.IntegrateValid[float32, uint64](img, boxsum.Valid{}, &boxsum.Options{Offset: 1})), boxsum.ErrTypes},
		"types":         {pair(boxsum.IntegrateValid[uint32, uint64](boxsum.Image[int16]{}, boxsum.Valid{}, nil)), boxsum.ErrTypes},
		"squares":       {pair(boxsum.IntegrateValid[float64, uint64](boxsum.Image[float32]{}, boxsum.Valid{}, nil)), boxsum.ErrTypes},
		"no table":      {boxsum.IntegrateValidInto[uint32, uint64](nil, img, boxsum.Valid{}, nil), boxsum.ErrInvalid},
		"no sums":       {into(func(t *boxsum.ValidTable[uint32, uint64]) { t.Sum = nil }), boxsum.ErrInvalid},
		"no counts":     {into(func(t *boxsum.ValidTable[uint32, uint64]) { t.Count = nil }), boxsum.ErrInvalid},
		"short counts":  {into(func(t *boxsum.ValidTable[uint32, uint64]) { t.Count.Sums = t.Count.Sums[:3] }), boxsum.ErrInvalid},
		"one table":     {into(func(t *boxsum.ValidTable[uint32, uint64]) { t.Count = t.Sum }), boxsum.ErrOverlap},
		"in the mask": {boxsum.IntegrateValidInto(&boxsum.ValidTable[float32, float64]{
			Sum: &boxsum.Table[float32]{Sums: make([]float32, 20), Width: 4, Height: 3}, Count: &boxsum.Table[uint32]{Sums: words[:20], Width: 4, Height: 3},
		}, boxsum.Image[float32]{Pix: make([]float32, 12), Width: 4, Height: 3}, boxsum.Valid{Mask: boxsum.Image[uint8]{Pix: unsafe.Slice((*uint8)(unsafe.Pointer(&words[0])), 12), Width: 4, Height: 3}}, nil), boxsum.ErrOverlap},
		"new table":   {pair(boxsum.NewValidTable[uint32, uint64](-1, 1, 1)), boxsum.ErrInvalid},
		"short batch": {table.MeanBoxes(nil, make([]image.Rectangle, 1)), boxsum.ErrInvalid},
		"no squares":  {(&boxsum.ValidTable[uint32, uint64]{Sum: table.Sum, Count: table.Count}).StdDevBoxes(nil, nil), boxsum.ErrInvalid},
		"other sizes": {(&boxsum.ValidTable[uint32, uint64]{Sum: table.Sum, Count: must(boxsum.NewTable[uint32](3, 3, 1))}).MeanBoxes(nil, nil), boxsum.ErrInvalid},
	} {
		if !errors.Is(tc.err, tc.want) {
			t.Errorf("%s: error %v, want %v", name, tc.err, tc.want)
		}
	}
}

func TestValidProgress(t *testing.T) {
	img := must(boxsum.NewImage[uint8](1500, 1100, 1))
	last := 0.0
	if _, err := boxsum.IntegrateValid[uint32, uint64](img, boxsum.Valid{}, &boxsum.Options{Progress: func(done float64) {
		if done <= last {
			t.Errorf("%v after %v", done, last)
		}
		last = done
	}}); err != nil || last != 1 {
		t.Errorf("%v done, %v", last, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := boxsum.IntegrateValid[uint32, uint64](img, boxsum.Valid{}, &boxsum.Options{Context: ctx, Progress: func(float64) { cancel() }}); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
