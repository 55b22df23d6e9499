package windows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestBoxFloats checks that means in floats are exact for windows of up to maxFloat bytes, at the
// sums on both sides of every tie, with one rounding and with two.
func TestBoxFloats(t *testing.T) {
	for n := 1; n <= maxFloat; n++ {
		b := Box{divisor: NewDivisor(uint64(n))}
		inverse := float32(1 / float64(n))
		bias := float32((float64(b.divisor.half) + 0.5) / float64(n))
		for q := 0; q <= 256; q++ {
			for s := q*n - n/2 - 1; s <= q*n-n/2; s++ {
				if s < 0 || s > 255*n {
					continue
				}
				want := (s + n/2) / n
				product := float32(float32(s) * inverse)
				if got := int(product + bias); got != want {
					t.Fatalf("%d of %d pixels: %d by a product and a sum, want %d", s, n, got, want)
				}
				if got := int(float32(math.FMA(float64(s), float64(inverse), float64(bias)))); got != want {
					t.Fatalf("%d of %d pixels: %d by both at once, want %d", s, n, got, want)
				}
			}
		}
	}
}

// TestDivisor checks that divisors are exact up to the sum that they claim.
func TestDivisor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		n := uint64(i + 1)
		if i > 10000 {
			n = rng.Uint64N(1 << 32)
			n >>= rng.UintN(20)
			n++
		}
		d := NewDivisor(n)
		for _, v := range []uint64{0, n - 1, n, 255*n + n/2, d.most, d.most - 1, rng.Uint64N(1 + d.most)} {
			if v <= d.most && d.most > 0 && v*uint64(d.multiplier)>>32>>d.shift != v/n {
				t.Fatalf("%d/%d", v, n)
			}
		}
		if m, shift, ok := smallDivisor(n); ok {
			for v := uint64(0); v <= 255*n+n/2; v++ {
				if v*uint64(m)>>16>>shift != v/n {
					t.Fatalf("%d/%d in 16 bits", v, n)
				}
			}
		}
	}
}

// TestWindows compares the kernels of windows at every level with the portable loops, and checks
// that they write nothing else.
func TestWindows(t *testing.T) {
	for _, level := range processor.Levels() {
		rng := rand.New(rand.NewPCG(1, 18))
		for range 300 {
			channels := 1 + rng.IntN(4)
			pixels := 1 + rng.IntN(120)
			n := pixels * channels
			testColumns[uint8, uint16](t, rng, level, n)
			testColumns[uint8, uint32](t, rng, level, n)
			testColumns[uint16, uint32](t, rng, level, n)
			testColumns[float32, float64](t, rng, level, n)
			testColumns[float64, float64](t, rng, level, n)
			testPrefix[uint32](t, rng, level, n, channels)
			testPrefix[uint64](t, rng, level, n, channels)
			testPrefix[float64](t, rng, level, n, channels)
			testBoxRow(t, rng, level, pixels, channels)
			testMeans(t, rng, level, n)
		}
	}
}

const guard = 111

func testColumns[P raster.Number, A Number](t *testing.T, rng *rand.Rand, level processor.Level, n int) {
	t.Helper()
	cols, add, sub := make([]A, n+40), make([]P, n), make([]P, n)
	for i := range cols {
		cols[i] = A(rng.IntN(1000) + 300)
	}
	for i := range add {
		add[i], sub[i] = P(rng.IntN(256)), P(rng.IntN(256))
	}
	squares := slices.Clone(cols)
	want, wantSquares := slices.Clone(cols), slices.Clone(cols)
	pixel, sum, enter, leave := raster.TypeOf[P](), raster.TypeOf[A](), raster.Bytes(add), raster.Bytes(sub)
	portable, fast := NewColumns(processor.Portable, pixel, sum, sum), NewColumns(level, pixel, sum, sum)
	alone := NewColumns(level, pixel, sum, 0)
	alone.Slide(raster.Bytes(cols[:n]), nil, enter, leave, 0)
	fast.squares.moveSquares(level, raster.Bytes(squares[:n]), enter, leave, 0)
	portable.Slide(raster.Bytes(want[:n]), raster.Bytes(wantSquares[:n]), enter, leave, 0)
	portable.Slide(raster.Bytes(want[:n]), raster.Bytes(wantSquares[:n]), enter, leave, 0)
	fast.Slide(raster.Bytes(cols[:n]), raster.Bytes(squares[:n]), enter, leave, 0)
	if !slices.Equal(cols, want) || !slices.Equal(squares, wantSquares) {
		t.Fatalf("%v: columns of %T in %T, %d of them, differ", level, *new(P), *new(A), n)
	}
}

func testPrefix[A Number](t *testing.T, rng *rand.Rand, level processor.Level, n, channels int) {
	t.Helper()
	src := make([]A, n+Slack)
	for i := range src {
		src[i] = A(rng.Float64() * 1e6)
	}
	got, want := make([]A, n+channels+Slack), make([]A, n+channels+Slack)
	sum := raster.TypeOf[A]()
	Prefix(level, sum, raster.Bytes(got), raster.Bytes(src), channels)
	Prefix(processor.Portable, sum, raster.Bytes(want), raster.Bytes(src), channels)
	if !slices.Equal(got[:n+channels], want[:n+channels]) {
		t.Fatalf("%v: the prefix of %d of %T in %d channels differs", level, n, *new(A), channels)
	}
	for i := range n {
		sum := 0.0
		for j := i; j >= 0; j -= channels {
			sum += float64(src[j])
		}
		if math.Abs(float64(got[i+channels])-sum) > 1e-6*sum {
			t.Fatalf("%v: prefix %d is %v, want %v", level, i, got[i+channels], sum)
		}
	}
}

func testBoxRow(t *testing.T, rng *rand.Rand, level processor.Level, pixels, channels int) {
	t.Helper()
	span, height := 1+rng.IntN(20), 1+rng.IntN(20)
	if rng.IntN(2) == 0 {
		span, height = 1+rng.IntN(60), 1+rng.IntN(257)
	}
	n := pixels * channels
	box := NewBox(level, span, height, channels)
	cols := make([]uint32, n+span*channels+Slack)
	narrow := make([]uint16, len(cols))
	for i := channels; i < n+span*channels; i++ {
		cols[i] = uint32(rng.IntN(255*height + 1))
		narrow[i] = uint16(cols[i])
	}
	dst := make([]uint8, n+70)
	for i := range dst {
		dst[i] = guard
	}
	var scratch BoxScratch
	area := uint64(span * height)
	check := func(scale uint64, got func(i int) uint64, what string) {
		t.Helper()
		for i := range n {
			sum := uint64(0)
			for j := range span {
				sum += uint64(cols[channels+i+j*channels])
			}
			if want := (sum*scale + area/2) / area; got(i) != want {
				t.Fatalf("%v: %s %d×%d, element %d of %d in %d channels is %d, want %d", level, what, span, height, i, n, channels, got(i), want)
			}
		}
	}
	if box.Kind.Narrow() {
		box.Narrow(dst[:n], narrow, &scratch)
	} else if box.Kind == BoxWords {
		box.Row(dst[:n], cols, &scratch)
	}
	if box.Kind != BoxNone {
		check(1, func(i int) uint64 { return uint64(dst[i]) }, "bytes")
		if slices.ContainsFunc(dst[n:], func(v uint8) bool { return v != guard }) {
			t.Fatalf("%v: a row of %d wrote beyond its end", level, n)
		}
	}
	factor := float32(256 / float64(area))
	if words, ok := NewWordBox(level, span, height, channels, factor); ok {
		dst := make([]uint16, n+40)
		words.Row(dst[:n], cols, &scratch)
		for i := range n {
			sum := float32(0)
			for j := range span {
				sum += float32(cols[channels+i+j*channels])
			}
			if want := math.RoundToEven(float64(float32(sum * factor))); float64(dst[i]) != want {
				t.Fatalf("%v: words %d×%d, element %d of %d in %d channels is %d, want %v", level, span, height, i, n, channels, dst[i], want)
			}
		}
		if slices.ContainsFunc(dst[n:], func(v uint16) bool { return v != 0 }) {
			t.Fatalf("%v: a row of %d wrote beyond its end", level, n)
		}
	}
}

func testMeans(t *testing.T, rng *rand.Rand, level processor.Level, n int) {
	t.Helper()
	area := 1 + rng.IntN(2000)
	hi, lo, hi2, lo2 := make([]uint32, n), make([]uint32, n), make([]uint32, n), make([]uint32, n)
	fhi, flo := make([]float64, n), make([]float64, n)
	for i := range hi {
		lo[i], lo2[i], flo[i] = rng.Uint32(), rng.Uint32(), rng.Float64()
		v := uint32(rng.IntN(256))
		hi[i], hi2[i] = lo[i]+v*uint32(area), lo2[i]+v*v*uint32(area)
		fhi[i] = flo[i] + rng.Float64()*1000
	}
	got, want := make([]float32, n+9), make([]float32, n+9)
	same := func(what string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Fatalf("%v: %s of %d differ", level, what, n)
		}
	}
	most := uint64(area) * 255
	sums, floats := Sums{raster.U32, raster.Bytes(hi), raster.Bytes(lo)}, Sums{raster.F64, raster.Bytes(fhi), raster.Bytes(flo)}
	means := func(s Sums, level processor.Level, dst raster.Type, to []byte, m Mean) {
		m.Count, m.Most = uint64(area), most
		s.Means(level, dst, to, m)
	}
	means(sums, level, raster.F32, raster.Bytes(got[:n]), Mean{})
	means(sums, processor.Portable, raster.F32, raster.Bytes(want[:n]), Mean{})
	same("means")
	means(floats, level, raster.F32, raster.Bytes(got[:n]), Mean{Offset: 3})
	means(floats, processor.Portable, raster.F32, raster.Bytes(want[:n]), Mean{Offset: 3})
	same("means of floats")
	v, ok := NewVariances(uint64(area))
	if !ok {
		t.Fatalf("no variances of %d pixels", area)
	}
	v.Row(level, got[:n], hi, lo, hi2, lo2, true)
	clear(want) // all pixels of a window are equal
	same("deviations")
	for i := range hi { // some differ
		hi[i] -= uint32(rng.IntN(1 + int(hi[i]-lo[i])))
		hi2[i] -= uint32(rng.IntN(1 + int(hi2[i]-lo2[i])))
	}
	for _, root := range []bool{false, true} {
		v.Row(level, got[:n], hi, lo, hi2, lo2, root)
		v.Row(processor.Portable, want[:n], hi, lo, hi2, lo2, root)
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("%v: variance %d of %d pixels is %v, want %v", level, i, area, got[i], want[i])
			}
		}
	}
	bytes, wantBytes := make([]uint8, n+9), make([]uint8, n+9)
	means(sums, level, raster.U8, bytes[:n], Mean{})
	means(sums, processor.Portable, raster.U8, wantBytes[:n], Mean{})
	words, wantWords := make([]uint16, n+9), make([]uint16, n+9)
	means(sums, level, raster.U16, raster.Bytes(words[:n]), Mean{Scale: 8})
	means(sums, processor.Portable, raster.U16, raster.Bytes(wantWords[:n]), Mean{Scale: 8})
	scaled, wantScaled := make([]uint16, n+9), make([]uint16, n+9)
	ScaledMeans(level, scaled[:n], hi, lo, 256/float32(area))
	ScaledMeans(processor.Portable, wantScaled[:n], hi, lo, 256/float32(area))
	if !slices.Equal(scaled, wantScaled) {
		t.Fatalf("%v: scaled means of %d differ", level, n)
	}
	if !slices.Equal(bytes, wantBytes) || !slices.Equal(words, wantWords) {
		t.Fatalf("%v: rounded means of %d differ", level, n)
	}
}
