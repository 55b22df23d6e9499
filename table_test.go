package boxsum_test

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/ref"
	"pgregory.net/rapid"
)

// shapes are chosen to be awkward: empty, tiny, one vector more or less, wider than a
// tile, taller than a band.
var shapes = []struct{ width, height int }{
	{0, 0}, {0, 5}, {5, 0}, {1, 1}, {2, 1}, {1, 2}, {2, 2}, {7, 3}, {8, 4}, {9, 5}, {15, 16}, {16, 17}, {17, 15},
	{31, 63}, {33, 65}, {65, 129}, {1, 300}, {8300, 3}, {700, 203},
}

func toRef[P boxsum.Pixel](im boxsum.Image[P]) ref.Image[P] {
	return ref.Image[P]{Pix: im.Pix, Stride: im.Stride, Width: im.Width, Height: im.Height, Channels: im.Channels}
}

// epsilon returns half the distance from 1 to the next float, or 0 for integers.
func epsilon[S boxsum.Sum]() float64 {
	switch any(*new(S)).(type) {
	case float32:
		return math.Pow(2, -24)
	case float64:
		return math.Pow(2, -53)
	}
	return 0
}

func TestTables(t *testing.T) {
	testPair[uint8, uint32, uint64](t)
	testPair[uint8, uint64, uint64](t)
	testPair[uint8, float32, uint64](t)
	testPair[uint8, float64, uint64](t)
	testPair[uint8, uint32, float64](t)
	testPair[uint8, int64, uint64](t)
	testPair[uint8, int64, float64](t)
	testPair[uint16, uint64, uint64](t)
	testPair[uint16, float64, float64](t)
	testPair[uint16, float64, uint64](t)
	testPair[uint16, uint32, uint64](t)
	testPair[uint16, uint32, float64](t)
	testPair[uint32, uint32, uint64](t)
	testPair[uint32, uint64, uint64](t)
	testPair[uint32, uint64, float64](t)
	testPair[int16, int64, uint64](t)
	testPair[int16, int64, float64](t)
	testPair[int16, float64, uint64](t)
	testPair[int16, float64, float64](t)
	testPair[int32, int64, uint64](t)
	testPair[int32, int64, float64](t)
	testPair[float32, float32, float64](t)
	testPair[float32, float64, float64](t)
	testPair[float64, float64, float64](t)
}

func testPair[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *testing.T) {
	t.Run(fmt.Sprintf("%T to %T", *new(P), *new(S)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, shape := range shapes {
			for _, channels := range []int{1, 2, 3, 4, 7} {
				n := shape.width * shape.height * channels
				if n > 300_000 || n > 30_000 && testing.Short() || n > 3_000 && ref.Race { // tables this small have one worker
					continue
				}
				im := fixture.Image[P](rng, shape.width, shape.height, channels)
				wantSums := ref.Table[S](toRef(im), false)
				wantSquares := ref.Table[Q](toRef(im), true)
				var first *boxsum.Table[S]
				var single, sums [2]guarded[S] // at 1 the packed ones
				var squares [2]guarded[Q]
				for i, packed := range []bool{false, true} {
					single[i] = newGuarded[S](im.Width, im.Height, channels, packed)
					sums[i] = newGuarded[S](im.Width, im.Height, channels, packed)
					squares[i] = newGuarded[Q](im.Width, im.Height, channels, !packed)
				}
				workers := []int{3}
				if n > 100_000 { // smaller tables have one worker, see engine.Work.Plan
					workers = []int{1, 2, 3}
				}
				for _, level := range boxsum.Levels() {
					for _, workers := range workers {
						for i, packed := range []bool{false, true} {
							what := fmt.Sprintf("%d×%d×%d, %v, %d workers, packed %v", im.Width, im.Height, channels, level, workers, packed)
							opt := &boxsum.Options{Level: level, Workers: workers, Plain: true}
							single[i].mark()
							if err := boxsum.IntegrateInto(single[i].table, im, opt); err != nil {
								t.Fatal(err)
							}
							single[i].check(t, what, im.Width, im.Height)
							compare(t, what, single[i].table, wantSums, largest[P]())
							if first == nil {
								first = new(*single[i].table)
								first.Sums = slices.Clone(first.Sums)
							}
							equal(t, what, single[i].table, first)

							sums[i].mark()
							squares[i].mark()
							both := &boxsum.SquaredTable[S, Q]{Sum: sums[i].table, Squares: squares[i].table}
							if err := boxsum.IntegrateSquaresInto(both, im, opt); err != nil {
								t.Fatal(err)
							}
							sums[i].check(t, what, im.Width, im.Height)
							squares[i].check(t, what, im.Width, im.Height)
							compare(t, what+", squares", squares[i].table, wantSquares, largest[P]()*largest[P]())
							equal(t, what+", with squares", sums[i].table, first)
						}
					}
				}
			}
		}
	})
}

// guarded is a table inside a buffer whose other elements hold a marker.
type guarded[S boxsum.Sum] struct {
	table *boxsum.Table[S]
	buf   []S
	start int
}

const mark = 77

func newGuarded[S boxsum.Sum](width, height, channels int, packed bool) guarded[S] {
	line := 64 / int(unsafe.Sizeof(*new(S)))
	stride := (width + 1) * channels
	if !packed {
		stride = (stride+line-1)/line*line + line
	}
	g := guarded[S]{buf: make([]S, 3*line+stride*(height+1))}
	g.start = line
	if !packed { // align entry (1, 0) with a cache line, like NewTable
		for uintptr(unsafe.Pointer(&g.buf[g.start+channels]))%64 != 0 {
			g.start++
		}
	}
	n := height*stride + (width+1)*channels
	g.table = &boxsum.Table[S]{
		Sums:   g.buf[g.start:][:n:n],
		Stride: stride, Width: width, Height: height, Channels: channels,
	}
	return g
}

// mark makes the table one that was never filled, with the marker everywhere.
func (g guarded[S]) mark() {
	*g.table = boxsum.Table[S]{Sums: g.table.Sums, Stride: g.table.Stride, Width: g.table.Width, Height: g.table.Height, Channels: g.table.Channels}
	for i := range g.buf {
		g.buf[i] = mark
	}
}

func (g guarded[S]) check(t *testing.T, what string, width, height int) {
	t.Helper()
	row := (width + 1) * g.table.Channels
	from := 0 // of the elements before a row, or after the last
	for y := range height + 2 {
		to, next := len(g.buf), 0
		if y <= height {
			to = g.start + y*g.table.Stride
			next = to + row
		}
		for i, v := range g.buf[from:to] {
			if v != mark {
				t.Fatalf("%s: written outside of the table, at %d", what, from+i-g.start)
			}
		}
		from = next
	}
}

// compare compares a table with the packed reference. Floats may differ by the
// documented bound: the number of roundings times the sum of the magnitudes, which are
// at most largest.
func compare[S boxsum.Sum](t *testing.T, what string, got *boxsum.Table[S], want []S, largest float64) {
	t.Helper()
	row := (got.Width + 1) * got.Channels
	bound := epsilon[S]() * float64(roundings(got)) * float64(got.Width) * float64(got.Height) * largest * 2
	for y := range got.Height + 1 {
		sums := got.Sums[y*got.Stride:][:row]
		if slices.Equal(sums, want[y*row:][:row]) {
			continue
		}
		for i, g := range sums {
			if w := want[y*row+i]; g != w && !(math.Abs(float64(g)-float64(w)) <= bound) {
				t.Fatalf("%s: entry (%d,%d) is %v, want %v", what, i, y, g, w)
			}
		}
	}
}

// largest returns the bound of the magnitude of random pixels.
func largest[P boxsum.Pixel]() float64 {
	switch any(*new(P)).(type) {
	case uint8:
		return 1 << 8
	case uint16, int16:
		return 1 << 16
	case int32, uint32:
		return 1 << 32
	}
	return 1
}

// roundings returns the maximum number of additions that lead to an entry.
func roundings[S boxsum.Sum](t *boxsum.Table[S]) int {
	return t.Width*t.Channels/(32/int(unsafe.Sizeof(*new(S)))) + 5 + t.Height
}

func equal[S boxsum.Sum](t *testing.T, what string, got, want *boxsum.Table[S]) {
	t.Helper()
	row := (got.Width + 1) * got.Channels
	for y := range got.Height + 1 {
		sums := got.Sums[y*got.Stride:][:row]
		if slices.Equal(sums, want.Sums[y*want.Stride:][:row]) {
			continue
		}
		for i, g := range sums {
			if w := want.Sums[y*want.Stride+i]; g != w {
				t.Fatalf("%s: entry (%d,%d) is %v, elsewhere %v", what, i, y, g, w)
			}
		}
	}
}

// TestLarge uses tables large enough for streaming stores and several workers.
func TestLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	im := fixture.Image[uint8](rng, 2051, 1027, 1)
	want := ref.Table[uint32](toRef(im), false)
	floats := fixture.Image[float32](rng, 1531, 1027, 1)
	wantFloats := ref.Table[float64](toRef(floats), false)
	var first *boxsum.Table[float64]
	for _, level := range boxsum.Levels() {
		for workers := 1; workers <= 4; workers++ {
			what := fmt.Sprintf("%v, %d workers", level, workers)
			opt := &boxsum.Options{Level: level, Workers: workers}
			table, err := boxsum.Integrate[uint32](im, opt)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, what, table, want, 0)
			table64, err := boxsum.Integrate[float64](floats, opt)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, what, table64, wantFloats, 1)
			if first == nil {
				first = table64
			}
			equal(t, what, table64, first)
		}
	}
}

// TestBoxes tests that any box of any table equals the direct sum.
func TestBoxes(t *testing.T) {
	t.Run("uint8", rapid.MakeCheck(boxProperty[uint8, uint32, uint64]))
	t.Run("uint16", rapid.MakeCheck(boxProperty[uint16, uint64, uint64]))
	t.Run("uint8 in int64", rapid.MakeCheck(boxProperty[uint8, int64, uint64]))
	t.Run("uint16 in uint32", rapid.MakeCheck(boxProperty[uint16, uint32, uint64]))
	t.Run("int16 in floats", rapid.MakeCheck(boxProperty[int16, float64, float64]))
	t.Run("uint32", rapid.MakeCheck(boxProperty[uint32, uint64, uint64]))
	t.Run("uint32 in floats", rapid.MakeCheck(boxProperty[uint32, uint64, float64]))
	t.Run("int16", rapid.MakeCheck(boxProperty[int16, int64, uint64]))
	t.Run("int32", rapid.MakeCheck(boxProperty[int32, int64, uint64]))
	t.Run("int32 in floats", rapid.MakeCheck(boxProperty[int32, int64, float64]))
	t.Run("float64", rapid.MakeCheck(boxProperty[float64, float64, float64]))
}

func boxProperty[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *rapid.T) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
	width, height := rapid.IntRange(0, 70).Draw(t, "width"), rapid.IntRange(0, 70).Draw(t, "height")
	im := fixture.Image[P](rng, width, height, rapid.IntRange(1, 5).Draw(t, "channels"))
	for i, p := range im.Pix {
		switch v := any(p).(type) { // so that the squares of a box fit
		case int32:
			im.Pix[i] = P(v >> 8)
		case uint32:
			im.Pix[i] = P(v >> 8)
		}
	}
	table, err := boxsum.IntegrateSquares[S, Q](im, &boxsum.Options{Workers: rapid.IntRange(0, 3).Draw(t, "workers")})
	if err != nil {
		t.Fatal(err)
	}
	coordinate := rapid.IntRange(-10, 80)
	box := image.Rect(coordinate.Draw(t, "x0"), coordinate.Draw(t, "y0"), coordinate.Draw(t, "x1"), coordinate.Draw(t, "y1"))
	in := box.Intersect(table.Sum.Bounds())
	sums := make([]S, im.Channels)
	if err := table.Sum.SumBoxes(sums, []image.Rectangle{box}); err != nil {
		t.Fatal(err)
	}
	for c := range im.Channels {
		got, want := table.Sum.SumChannel(box, c), ref.Box[S](toRef(im), in.Min.X, in.Min.Y, in.Max.X, in.Max.Y, c, false)
		gotQ, wantQ := table.Squares.SumChannel(box, c), ref.Box[Q](toRef(im), in.Min.X, in.Min.Y, in.Max.X, in.Max.Y, c, true)
		// Each of four entries may be off by the bound in doc.go, and the reference,
		// which adds pixel by pixel, by one rounding for each pixel.
		roundings := float64(4*(width+height+5) + in.Dx()*in.Dy())
		tolerance := epsilon[S]() * 200 * 4900
		if !near(got, want, tolerance) || !near(gotQ, wantQ, tolerance+epsilon[Q]()*roundings*float64(table.Squares.At(width, height, c))) || got != sums[c] {
			t.Fatalf("channel %d of %v: sum %v (%v in the batch), want %v; squares %v, want %v", c, box, got, sums[c], want, gotQ, wantQ)
		}
		mean, deviation := meanAndDeviation(toRef(im), in, c)
		if g := table.Mean(box, c); math.Abs(g-mean) > 1e-9*(1+math.Abs(mean)) {
			t.Fatalf("channel %d of %v: mean %v, want %v", c, box, g, mean)
		}
		// Squares of float pixels leave a rounding error in the variance, not in its
		// root.
		if g := table.StdDev(box, c); math.Abs(g-deviation) > 1e-6*deviation && math.Abs(g*g-deviation*deviation) > 1e-12 {
			t.Fatalf("channel %d of %v: deviation %v, want %v", c, box, g, deviation)
		}
	}
}

func near[S boxsum.Sum](a, b S, tolerance float64) bool {
	return a == b || math.Abs(float64(a)-float64(b)) <= tolerance
}

// meanAndDeviation computes in two passes, like the definitions.
func meanAndDeviation[P boxsum.Pixel](im ref.Image[P], box image.Rectangle, c int) (mean, deviation float64) {
	if box.Empty() {
		return 0, 0
	}
	n := float64(box.Dx() * box.Dy())
	for pass := range 2 {
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				p := float64(im.Pix[y*im.Stride+x*im.Channels+c])
				if pass == 0 {
					mean += p / n
				} else {
					deviation += (p - mean) * (p - mean) / n
				}
			}
		}
	}
	return mean, math.Sqrt(deviation)
}

// TestWrap tests that a table that has wrapped still gives exact boxes.
func TestWrap(t *testing.T) {
	const width, height = 4096, 4200 // 255 each is more than 2^32
	im, err := boxsum.NewImage[uint8](width, height, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range im.Pix {
		im.Pix[i] = 255 - uint8(i%7/6)
	}
	table, err := boxsum.Integrate[uint32](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last := table.At(width, height, 0); uint64(last) > 255*width*height/2 {
		t.Fatalf("the table should have wrapped, its last entry is %d", last)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		x, y := rng.IntN(width), height-1-rng.IntN(200)
		box := image.Rect(x, y, x+1+rng.IntN(300), y+1+rng.IntN(200)).Intersect(table.Bounds())
		want := ref.Box[uint32](toRef(im), box.Min.X, box.Min.Y, box.Max.X, box.Max.Y, 0, false)
		if got := table.Sum(box); got != want {
			t.Fatalf("%v sums to %d, want %d", box, got, want)
		}
	}
}

// TestStream tests that rows pushed one at a time give the same bits as the whole
// image.
func TestStream(t *testing.T) {
	testStream[uint8, uint32, uint64](t)
	testStream[uint32, uint32, uint64](t)
	testStream[uint32, uint64, float64](t)
	testStream[int16, int64, uint64](t)
	testStream[int16, float64, float64](t)
	testStream[uint16, uint32, uint64](t)
	testStream[uint8, int64, uint64](t)
	testStream[float32, float32, float64](t)
	testStream[float64, float64, float64](t)
}

func testStream[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, level := range boxsum.Levels() {
		for _, shape := range shapes {
			opt := &boxsum.Options{Level: level, Plain: true}
			im := fixture.Image[P](rng, shape.width, shape.height, 1+rng.IntN(4))
			whole, err := boxsum.IntegrateSquares[S, Q](im, opt)
			if err != nil {
				t.Fatal(err)
			}
			one, err := boxsum.NewStream[S, P](im.Width, im.Channels, opt)
			if err != nil {
				t.Fatal(err)
			}
			both, err := boxsum.NewSquaredStream[S, Q, P](im.Width, im.Channels, opt)
			if err != nil {
				t.Fatal(err)
			}
			for y := range im.Height {
				sums, err := one.Push(im.Row(y))
				if err != nil {
					t.Fatal(err)
				}
				sums2, squares, err := both.Push(im.Row(y))
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range whole.Sum.Exclusive().Row(y + 1) {
					if sums[i] != want || sums2[i] != want || squares[i] != whole.Squares.Exclusive().Row(y + 1)[i] {
						t.Fatalf("%v, %d×%d: row %d differs at %d", level, im.Width, im.Height, y+1, i)
					}
				}
			}
			if _, err := one.Push(make([]P, im.Width*im.Channels+1)); err == nil {
				t.Fatal("a row of the wrong length was taken")
			}
		}
	}
}
