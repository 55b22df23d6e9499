package boxsum_test

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
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

// TestTables compares tables of every pair, and of their squares, with a reference, at every
// level and with several workers. The public functions only pass their arguments to the jobs
// that this test runs; other tests call them for some types.
func TestTables(t *testing.T) {
	for _, p := range raster.SumPairs.For(raster.Tilted) { // TestWidePixels tests 64-bit pixels
		t.Run(p.String(), func(t *testing.T) { testPair(t, p) })
	}
}

func testPair(t *testing.T, p raster.Pair) {
	for seed, shape := range shapes {
		for _, channels := range []int{1, 2, 3, 4, 7} {
			n := shape.width * shape.height * channels
			if n > 300_000 || n > 30_000 && testing.Short() || n > 3_000 && ref.Race { // tables this small have one worker
				continue
			}
			src := fixture.NoiseArray(p.Pixel, uint64(seed), shape.width, shape.height, channels, (seed+channels)%4)
			workers := []int{3}
			if n > 100_000 { // smaller tables have one worker, see engine.Work.Plan
				workers = []int{1, 2, 3}
			}
			want := referenceOf(&src, p.Sum, false)
			var first raster.Array
			for _, square := range append([]raster.Type{0}, raster.SquarePairs.Of(p.Pixel)...) {
				var wantSquares raster.Array
				if square != 0 {
					wantSquares = referenceOf(&src, square, true)
				}
				for _, packed := range []bool{false, true} {
					sums, squares := newGuarded(p.Sum, &src, packed), newGuarded(square, &src, !packed)
					for _, level := range boxsum.Levels() {
						for _, workers := range workers {
							what := fmt.Sprintf("%v, %v, %d workers, packed %v, squares %d", src.Extent, level, workers, packed, square)
							job := engine.Job{Src: src, Plain: true, Options: engine.Options{Level: level.String(), Workers: workers}}
							job.Sums.Type, job.Squares.Type = p.Sum, square
							if err := job.Check(); err != nil {
								t.Fatal(err)
							}
							sums.lend(&job.Sums)
							squares.lend(&job.Squares)
							if err := job.Run(); err != nil {
								t.Fatal(err)
							}
							sums.check(t, what)
							if first.Data == nil {
								compareArrays(t, what, &sums.table, &want, largest(p.Pixel))
								first = sums.table
								first.Data = bytes.Clone(first.Data)
							}
							sameArrays(t, what, &sums.table, &first)
							if square != 0 {
								squares.check(t, what+", squares")
								compareArrays(t, what+", squares", &squares.table, &wantSquares, largest(p.Pixel)*largest(p.Pixel))
							}
						}
					}
				}
			}
		}
	}
}

// guarded is a table inside a buffer whose other bytes hold a marker.
type guarded struct {
	table raster.Array
	buf   []byte
	start int // of the table in buf
}

const mark = 77

// newGuarded returns room for the table of an image, or nothing if sum is 0.
func newGuarded(sum raster.Type, src *raster.Array, packed bool) *guarded {
	if sum == 0 {
		return nil
	}
	size := sum.Bytes()
	line := 64 / size
	stride := (src.Width + 1) * src.Channels
	if !packed {
		stride = (stride+line-1)/line*line + line
	}
	g := &guarded{buf: raster.Aligned((3*line + stride*(src.Height+1)) * size)}
	g.start = 64
	if !packed { // align entry (1, 0) with a cache line, like NewTable
		for uintptr(unsafe.Pointer(&g.buf[g.start+src.Channels*size]))%64 != 0 {
			g.start += size
		}
	}
	n := (src.Height*stride + (src.Width+1)*src.Channels) * size
	g.table = raster.Array{Data: g.buf[g.start:][:n:n], Type: sum, Extent: raster.PlaneExtent(src.Width, src.Height, src.Channels, stride)}
	return g
}

// lend fills the table with the marker and makes a job write to it.
func (g *guarded) lend(dst *engine.Table) {
	if g == nil {
		return
	}
	for i := range g.buf {
		g.buf[i] = mark
	}
	dst.Array = g.table
}

// check tests that nothing was written around the rows of the table.
func (g *guarded) check(t *testing.T, what string) {
	t.Helper()
	size := g.table.Type.Bytes()
	row := (g.table.Width + 1) * g.table.Channels * size
	from := 0 // of the bytes before a row, or after the last
	for y := range g.table.Height + 2 {
		to, next := len(g.buf), 0
		if y <= g.table.Height {
			to = g.start + y*g.table.Stride*size
			next = to + row
		}
		for i, v := range g.buf[from:to] {
			if v != mark {
				t.Fatalf("%s: written outside of the table, at byte %d", what, from+i-g.start)
			}
		}
		from = next
	}
}

// entriesRow returns row y of a table.
func entriesRow(table *raster.Array, y int) []byte {
	size := table.Type.Bytes()
	return table.Data[y*table.Stride*size:][:(table.Width+1)*table.Channels*size]
}

// sameArrays tests that two tables have the same bits.
func sameArrays(t *testing.T, what string, got, want *raster.Array) {
	t.Helper()
	for y := range got.Height + 1 {
		g, w := entriesRow(got, y), entriesRow(want, y)
		if bytes.Equal(g, w) {
			continue
		}
		for i := range g {
			if g[i] != w[i] {
				t.Fatalf("%s: entry (%d,%d) differs", what, i/got.Type.Bytes(), y)
			}
		}
	}
}

// referenceOf returns the packed table of an image, or that of its squares.
func referenceOf(src *raster.Array, sum raster.Type, square bool) raster.Array {
	table := raster.Array{Type: sum, Extent: raster.PlaneExtent(src.Width, src.Height, src.Channels, (src.Width+1)*src.Channels)}
	switch sum {
	case raster.U32:
		table.Data = raster.Bytes(referenceSums[uint32](src, square))
	case raster.U64:
		table.Data = raster.Bytes(referenceSums[uint64](src, square))
	case raster.I64:
		table.Data = raster.Bytes(referenceSums[int64](src, square))
	case raster.F32:
		table.Data = raster.Bytes(referenceSums[float32](src, square))
	case raster.F64:
		table.Data = raster.Bytes(referenceSums[float64](src, square))
	}
	return table
}

// referenceSums adds pixels modulo the sum type for integers, and in float64 for floats.
func referenceSums[S boxsum.Sum](src *raster.Array, square bool) []S {
	c := src.Channels
	stride := (src.Width + 1) * c
	table := make([]S, stride*(src.Height+1))
	floats := make([]float64, len(table))
	var row []float64
	for y := range src.Height {
		row = src.Floats(row[:0], y, 0, src.Width*c, 1)
		for channel := range c {
			var sum S
			var float float64
			for x := range src.Width {
				p := row[x*c+channel]
				s := S(int64(p))
				if square {
					p, s = p*p, s*s
				}
				sum += s
				float += p
				i := (y+1)*stride + (x+1)*c + channel
				table[i] = table[i-stride] + sum
				floats[i] = floats[i-stride] + float
			}
		}
	}
	if epsilon[S]() != 0 {
		for i, f := range floats {
			table[i] = S(f)
		}
	}
	return table
}

// compareArrays compares a table with the packed reference, see [compare].
func compareArrays(t *testing.T, what string, got, want *raster.Array, largest float64) {
	t.Helper()
	switch got.Type {
	case raster.F32:
		compare(t, what, tableOf[float32](got), raster.Elems[float32](want.Data), largest)
	case raster.F64:
		compare(t, what, tableOf[float64](got), raster.Elems[float64](want.Data), largest)
	default:
		sameArrays(t, what, got, want)
	}
}

func tableOf[S boxsum.Sum](a *raster.Array) *boxsum.Table[S] {
	return &boxsum.Table[S]{Sums: raster.Elems[S](a.Data), Stride: a.Stride, Width: a.Width, Height: a.Height, Channels: a.Channels}
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
func largest(pixel raster.Type) float64 {
	if pixel.Float() {
		return 2
	}
	return math.Ldexp(1, 8*pixel.Bytes())
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
