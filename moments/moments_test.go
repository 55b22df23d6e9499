package moments_test

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/moments"
	"pgregory.net/rapid"
)

// random returns an image with a gap after every row: integers over their whole
// range, floats between 0 and 1.
func random[P boxsum.Pixel](rng *rand.Rand, width, height, channels int) boxsum.Image[P] {
	return fixture.ImageIn[P](rng, width, height, channels, 0, 1)
}

// powers holds p and q of the raw moments, in the order of values.
var powers = [][2]int64{{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}, {3, 0}, {2, 1}, {1, 2}, {0, 3}}

// values returns all moments in OpenCV's order, followed by the invariants.
func values(m moments.Moments) []float64 {
	hu := m.Hu()
	return append([]float64{
		m.M00, m.M10, m.M01, m.M20, m.M11, m.M02, m.M30, m.M21, m.M12, m.M03,
		m.Mu20, m.Mu11, m.Mu02, m.Mu30, m.Mu21, m.Mu12, m.Mu03,
		m.Nu20, m.Nu11, m.Nu02, m.Nu30, m.Nu21, m.Nu12, m.Nu03,
	}, hu[:]...)
}

// brute adds up the pixels of a box in 400 bits and returns raw and central
// moments, each rounded once.
func brute[P boxsum.Pixel](img boxsum.Image[P], box image.Rectangle, channel int) []float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	box = box.Intersect(image.Rect(0, 0, img.Width, img.Height))
	add := func(cx, cy *big.Float, p, q int64) *big.Float {
		sum := number(0)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				term := number(float64(img.Pix[y*img.Stride+x*img.Channels+channel]))
				for range p {
					term.Mul(term, number(0).Sub(number(float64(x-box.Min.X)), cx))
				}
				for range q {
					term.Mul(term, number(0).Sub(number(float64(y-box.Min.Y)), cy))
				}
				sum.Add(sum, term)
			}
		}
		return sum
	}
	var all []float64
	var exact []*big.Float
	for _, p := range powers {
		s := add(number(0), number(0), p[0], p[1])
		f, _ := s.Float64()
		all, exact = append(all, f), append(exact, s)
	}
	cx, cy := number(0), number(0)
	if exact[0].Sign() != 0 {
		cx.Quo(exact[1], exact[0])
		cy.Quo(exact[2], exact[0])
	}
	for _, p := range powers[3:] {
		f, _ := add(cx, cy, p[0], p[1]).Float64()
		all = append(all, f)
	}
	return all
}

var shapes = [][3]int{{1, 1, 1}, {1, 17, 1}, {23, 1, 1}, {7, 5, 3}, {31, 29, 1}, {20, 37, 2}, {67, 31, 1}}

func TestMoments(t *testing.T) {
	testMoments[uint8](t)
	testMoments[uint16](t)
	testMoments[int16](t)
	testMoments[uint32](t)
	testMoments[int32](t)
	testMoments[float32](t)
	testMoments[float64](t)
}

// testMoments compares raw moments bit for bit, if pixels are integers or floats
// that need no rounding, and central moments approximately.
func testMoments[P boxsum.Pixel](t *testing.T) {
	t.Run(fmt.Sprintf("%T", *new(P)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		shapes := shapes
		if testing.Short() {
			shapes = shapes[:len(shapes)-1]
		}
		for _, shape := range shapes {
			img := random[P](rng, shape[0], shape[1], shape[2])
			for _, workers := range []int{1, 2, 5} {
				table, err := moments.Integrate(img, &moments.Options{Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				for range 3 {
					box, c := fixture.Box(rng, img.Width, img.Height), rng.IntN(img.Channels)
					compare(t, img, box, c, table.Moments(box, c))
				}
				compare(t, img, table.Bounds(), 0, table.Moments(table.Bounds(), 0))
			}
		}
	})
}

func compare[P boxsum.Pixel](t testing.TB, img boxsum.Image[P], box image.Rectangle, channel int, m moments.Moments) {
	t.Helper()
	got, want := values(m), brute(img, box, channel)
	if _, rounded := any(*new(P)).(float64); rounded {
		for i := range powers {
			if math.Abs(got[i]-want[i]) > 1e-14*want[i] {
				t.Fatalf("box %v: raw moment %v is %v, want %v", box, powers[i], got[i], want[i])
			}
		}
	} else {
		for i := range powers {
			if got[i] != want[i] {
				t.Fatalf("box %v: raw moment %v is %v, want %v", box, powers[i], got[i], want[i])
			}
		}
	}
	switch any(*new(P)).(type) {
	case int16, int32:
		return // whose centroid may be anywhere
	}
	// The natural magnitude of a moment: the mass times the spread to the power of its order.
	spread := math.Sqrt((want[10] + want[12]) / want[0])
	for i, p := range powers[3:] {
		scale := want[0] * math.Pow(spread, float64(p[0]+p[1]))
		if diff := math.Abs(got[10+i] - want[10+i]); diff > 1e-13*scale && diff > 1e-300 {
			t.Fatalf("box %v: central moment %v is %v, want %v", box, p, got[10+i], want[10+i])
		}
	}
}

// TestLargeBoxes tests boxes whose moments do not fit 64 bits.
func TestLargeBoxes(t *testing.T) {
	const side = 9000 // white, and a pixel high: there is a formula
	img := boxsum.Image[uint16]{Pix: make([]uint16, side), Width: side, Height: 1}
	for i := range img.Pix {
		img.Pix[i] = math.MaxUint16
	}
	for _, box := range []image.Rectangle{image.Rect(0, 0, side, 1), image.Rect(17, 0, side-1, 1)} {
		wide, err := moments.Integrate(img, nil)
		if err != nil {
			t.Fatal(err)
		}
		tall, err := moments.Integrate(boxsum.Image[uint16]{Pix: img.Pix, Width: 1, Height: side}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := big.NewInt(int64(box.Dx() - 1))
		cubes := new(big.Int).Mul(n, new(big.Int).Add(n, big.NewInt(1)))
		cubes.Mul(cubes, cubes).Div(cubes, big.NewInt(4)).Mul(cubes, big.NewInt(math.MaxUint16))
		want, _ := new(big.Float).SetInt(cubes).Float64()
		turned := image.Rect(box.Min.Y, box.Min.X, box.Max.Y, box.Max.X)
		if m, n := wide.Moments(box, 0), tall.Moments(turned, 0); m.M30 != want || n.M03 != want {
			t.Errorf("box %v: %v and %v, want %v", box, m.M30, n.M03, want)
		}
	}
}

// TestPieces compares a box that is cut in pieces with the same box of 32-bit
// pixels, which is not cut.
func TestPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("needs 500 MB of memory: leave out -short")
	}
	rng := rand.New(rand.NewPCG(8, 8))
	narrow := random[uint16](rng, 1801, 1301, 1)
	wide := boxsum.Image[uint32]{Pix: make([]uint32, len(narrow.Pix)), Stride: narrow.Stride, Width: narrow.Width, Height: narrow.Height}
	for i, p := range narrow.Pix {
		wide.Pix[i] = uint32(p)
	}
	a, err := moments.Integrate(narrow, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := moments.Integrate(wide, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, box := range []image.Rectangle{a.Bounds(), image.Rect(1, 2, 1800, 1300), image.Rect(0, 5, 1801, 8), image.Rect(400, 0, 1760, 1301)} {
		if m, n := a.Moments(box, 0), b.Moments(box, 0); m != n {
			t.Errorf("box %v: %+v as 16 bits and %+v as 32", box, m, n)
		}
	}
}

// TestTranslation moves a shape through images and tests that no bit of its moments
// changes.
func TestTranslation(t *testing.T) {
	testTranslation[uint8](t)
	testTranslation[uint16](t)
	testTranslation[int32](t)
	testTranslation[float32](t)
	testTranslation[float64](t)
}

func testTranslation[P boxsum.Pixel](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	shape := random[P](rng, 37, 41, 1)
	var first moments.Moments
	width, height := 640, 480
	if testing.Short() {
		width, height = 120, 90
	}
	right, bottom := width-shape.Width, height-shape.Height
	for i, at := range []image.Point{{0, 0}, {1, 2}, {right, 3}, {2, bottom - 1}, {right, bottom}} {
		img := random[P](rng, width, height, 1)
		for y := range shape.Height {
			copy(img.Row(at.Y + y)[at.X:], shape.Row(y))
		}
		table, err := moments.Integrate(img, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := table.Moments(image.Rect(at.X, at.Y, at.X+shape.Width, at.Y+shape.Height), 0)
		if i == 0 {
			first = m
		}
		if m != first {
			t.Errorf("%T at %v: %+v, before %+v", *new(P), at, m, first)
		}
	}
}

// TestFarFromCorner tests that a small shape has bit-identical central moments in
// an image of its own and far from the corner of a large one.
func TestFarFromCorner(t *testing.T) {
	const side = 600
	rng := rand.New(rand.NewPCG(5, 5))
	shape := random[uint8](rng, 5, 5, 1)
	img := boxsum.Image[uint8]{Pix: make([]uint8, side*side), Width: side, Height: side}
	for y := range 5 {
		copy(img.Row(side - 9 + y)[side-12:], shape.Row(y))
	}
	table, err := moments.Integrate(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	near, far := table.Moments(image.Rect(side-12, side-9, side-7, side-4), 0), table.Moments(table.Bounds(), 0)
	if a, b := values(near)[10:], values(far)[10:]; !slices.Equal(a, b) {
		t.Errorf("alone %v, in a large box %v", a, b)
	}
}

// TestInvariance rotates, mirrors and scales a shape.
func TestInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		w, h := rapid.IntRange(2, 20).Draw(t, "width"), rapid.IntRange(2, 20).Draw(t, "height")
		img := random[uint8](rng, w, h, 1)
		img.Pix[0] = max(img.Pix[0], 1)
		turned := boxsum.Image[uint8]{Pix: make([]uint8, w*h), Width: h, Height: w}
		mirrored := boxsum.Image[uint8]{Pix: make([]uint8, w*h), Width: w, Height: h}
		for y := range h {
			for x := range w {
				turned.Row(x)[h-1-y] = img.Row(y)[x]
				mirrored.Row(y)[w-1-x] = img.Row(y)[x]
			}
		}
		hu := func(img boxsum.Image[uint8]) [7]float64 {
			table, err := moments.Integrate(img, nil)
			if err != nil {
				t.Fatal(err)
			}
			return table.Moments(table.Bounds(), 0).Hu()
		}
		want, got, other := hu(img), hu(turned), hu(mirrored)
		other[6] = -other[6]
		// The invariants are of order 1, 2, 2, 2, 4, 3 and 4 in the first.
		for i, order := range []float64{1, 2, 2, 2, 4, 3, 4} {
			scale := math.Pow(want[0], order) * 1e-12
			if i >= 2 {
				scale += 1e-12 * math.Pow(want[0], order*1.5)
			}
			if math.Abs(got[i]-want[i]) > scale || math.Abs(other[i]-want[i]) > scale {
				t.Fatalf("invariant %d of %d×%d is %v, turned %v, mirrored %v", i+1, w, h, want[i], got[i], other[i])
			}
		}
	})
}

// TestFloatUnits tests pixels that are tiny, huge, and both.
func TestFloatUnits(t *testing.T) {
	for _, scale := range []float64{1, 0x1p-1070, 0x1p1000, 0x1p-500} {
		img := boxsum.Image[float64]{Pix: []float64{1, 2, 3, 4, 5, 6}, Width: 3, Height: 2}
		for i := range img.Pix {
			img.Pix[i] *= scale
		}
		table, err := moments.Integrate(img, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := table.Moments(image.Rect(1, 0, 3, 2), 0)
		if m.M00 != 16*scale || m.M10 != 9*scale || m.M01 != 11*scale || m.M11 != 6*scale {
			t.Errorf("scale %v: %+v", scale, m)
		}
	}
	img := boxsum.Image[float32]{Pix: []float32{1e30, -3, 1e-30, 0}, Width: 2, Height: 2}
	table, err := moments.Integrate(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Beside 1e30 a unit is 2^100/2^62: the rest of the pixels are below half of it.
	if m := table.Moments(image.Rect(0, 1, 2, 2), 0); m.M00 != 0 {
		t.Errorf("the lower row is %v", m.M00)
	}
	if m := table.Moments(table.Bounds(), 0); m.M00 != float64(float32(1e30)) {
		t.Errorf("all is %v", m.M00)
	}
	zero, err := moments.Integrate(boxsum.Image[float32]{Pix: make([]float32, 4), Width: 2, Height: 2}, nil)
	if err != nil || zero.Moments(zero.Bounds(), 0) != (moments.Moments{}) {
		t.Errorf("black has moments: %v", err)
	}
}

// TestEllipse draws an ellipse and recovers it.
func TestEllipse(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 200*200), Width: 200, Height: 200}
	const a, b, angle = 60, 20, 0.5
	sin, cos := math.Sincos(angle)
	for y := range 200 {
		for x := range 200 {
			u, v := float64(x-110)*cos+float64(y-90)*sin, -float64(x-110)*sin+float64(y-90)*cos
			if u*u/a/a+v*v/b/b <= 1 {
				img.Row(y)[x] = 255
			}
		}
	}
	table, err := moments.Integrate(img, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := table.Moments(table.Bounds(), 0)
	x, y := m.Centroid()
	major, minor, turned := m.Ellipse()
	for i, d := range []float64{x - 110, y - 90, major - a, minor - b, (turned - angle) * 50} {
		if math.Abs(d) > 0.3 {
			t.Errorf("number %d of centroid %v,%v and ellipse %v,%v,%v is off by %v", i, x, y, major, minor, turned, d)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {5, 0}, {0, 5}, {5, 5}} {
		table, err := moments.Integrate(boxsum.Image[uint8]{Pix: make([]uint8, 25), Width: size[0], Height: size[1]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, box := range []image.Rectangle{{}, image.Rect(-9, -9, 9, 9), image.Rect(7, 7, 9, 9)} {
			m := table.Moments(box, 0)
			major, _, _ := m.Ellipse()
			if x, y := m.Centroid(); m != (moments.Moments{}) || x != 0 || y != 0 || major != 0 {
				t.Errorf("%v, box %v: %+v", size, box, m)
			}
		}
	}
}

// TestAgain integrates several images into the same table.
func TestAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	narrow, err := moments.NewTable[uint8](30, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := moments.NewTable[float32](30, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again(t, narrow, random[uint8](rng, 30, 20, 1))
		again(t, narrow, random[uint16](rng, 30, 20, 1))
		again(t, wide, random[int32](rng, 30, 20, 1))
		again(t, wide, random[float32](rng, 30, 20, 1))
	}
	img := random[uint8](rng, 30, 20, 1)
	opt := &moments.Options{Workers: 1}
	again(t, narrow, img)
	ref.AllocatesNothing(t, "a table", func() error { return moments.IntegrateInto(narrow, img, opt) })
	if n := testing.AllocsPerRun(10, func() { narrow.Moments(narrow.Bounds(), 0) }); n != 0 {
		t.Errorf("%v allocations for a box", n)
	}
}

func again[P boxsum.Pixel](t *testing.T, table *moments.Table, img boxsum.Image[P]) {
	t.Helper()
	if err := moments.IntegrateInto(table, img, nil); err != nil {
		t.Fatal(err)
	}
	compare(t, img, image.Rect(3, 4, 27, 20), 0, table.Moments(image.Rect(3, 4, 27, 20), 0))
}

// TestScale multiplies pixels by powers of two: every moment must scale by its
// definition, up to the limits of float64.
func TestScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	const side = 9
	pix := make([]float64, side*side)
	for i := range pix {
		pix[i] = 1 + rng.Float64()
	}
	of := func(pix []float64) moments.Moments {
		table, err := moments.Integrate(boxsum.Image[float64]{Pix: pix, Width: side, Height: side}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return table.Moments(table.Bounds(), 0)
	}
	plain := of(pix)
	for _, exponent := range []int{-1000, -800, -664, -500, -66, -1, 0, 3, 70, 500, 664, 1000, 1010} {
		scaled := make([]float64, len(pix))
		for i, p := range pix {
			scaled[i] = math.Ldexp(p, exponent)
		}
		got, want := reflect.ValueOf(of(scaled)), reflect.ValueOf(plain)
		for i := range got.NumField() {
			name := got.Type().Field(i).Name
			power := float64(exponent)
			switch {
			case strings.HasPrefix(name, "Nu") && name[2]+name[3] == '0'+'2': // of second order
				power = -power
			case strings.HasPrefix(name, "Nu"):
				power *= -1.5
			}
			// Half a power may be left over.
			whole := math.Floor(power)
			w := math.Ldexp(want.Field(i).Float()*math.Exp2(power-whole), int(whole))
			if g := got.Field(i).Float(); g != w && !(math.Abs(g-w) <= 1e-12*math.Abs(w)+1e-320) {
				t.Errorf("pixels of 2^%d: %s is %v, want %v", exponent, name, g, w)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	good := boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3}
	table, err := moments.Integrate(good, nil)
	if err != nil {
		t.Fatal(err)
	}
	integrate := func(img boxsum.Image[uint8], opt *moments.Options) error {
		_, err := moments.Integrate(img, opt)
		return err
	}
	float := func(v float64) error {
		_, err := moments.Integrate(boxsum.Image[float64]{Pix: []float64{0, 1, 2, v}, Width: 2, Height: 2}, nil)
		return err
	}
	_, memory := moments.NewTable[uint8](1<<20, 1<<20, 1)
	_, huge := moments.NewTable[uint8](math.MaxInt, 1, 1)
	_, channels := moments.NewTable[uint8](1, 1, math.MaxInt)
	_, negative := moments.Bytes[uint8](1, -1, 1)
	for _, test := range []struct {
		name string
		err  error
		is   error
	}{
		{"short", integrate(boxsum.Image[uint8]{Pix: make([]uint8, 11), Width: 4, Height: 3}, nil), boxsum.ErrInvalid},
		{"stride", integrate(boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3, Stride: 3}, nil), boxsum.ErrInvalid},
		{"negative", integrate(boxsum.Image[uint8]{Width: -4, Height: 3}, nil), boxsum.ErrInvalid},
		{"large image", integrate(boxsum.Image[uint8]{Width: math.MaxInt, Height: math.MaxInt}, nil), boxsum.ErrInvalid},
		{"workers", integrate(good, &moments.Options{Workers: -1}), boxsum.ErrInvalid},
		{"NaN", float(math.NaN()), nil},
		{"infinity", float(math.Inf(-1)), nil},
		{"memory", memory, boxsum.ErrMemory},
		{"huge", huge, boxsum.ErrInvalid},
		{"channels", channels, boxsum.ErrInvalid},
		{"negative side", negative, boxsum.ErrInvalid},
		{"no table", moments.IntegrateInto(nil, good, nil), boxsum.ErrInvalid},
		{"zero table", moments.IntegrateInto(new(moments.Table), good, nil), boxsum.ErrInvalid},
		{"other size", moments.IntegrateInto(table, boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 3, Height: 4}, nil), boxsum.ErrInvalid},
		{"other pixels", moments.IntegrateInto(table, boxsum.Image[float32]{Pix: make([]float32, 12), Width: 4, Height: 3}, nil), boxsum.ErrTypes},
	} {
		if test.err == nil || test.is != nil && !errors.Is(test.err, test.is) || strings.HasPrefix(test.err.Error(), "boxsum: ") {
			t.Errorf("%s: %v", test.name, test.err)
		}
	}
	if err := float(math.NaN()); !strings.Contains(err.Error(), "(1, 1)") {
		t.Errorf("does not say where: %v", err)
	}
}

func TestBytes(t *testing.T) {
	if got, err := moments.Bytes[uint8](1920, 1080, 0); got != 1921*1081*80 || err != nil {
		t.Errorf("1080p takes %d, %v", got, err)
	}
	if got, err := moments.Bytes[float32](10, 20, 3); got != 11*21*3*160 || err != nil {
		t.Errorf("floats take %d, %v", got, err)
	}
}
