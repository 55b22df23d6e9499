package threshold_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/threshold"
)

// strided returns a copy of an image with gaps between its rows, which must stay unchanged.
func strided(img boxsum.Image[uint8], gap int) boxsum.Image[uint8] {
	out := boxsum.Image[uint8]{Width: img.Width, Height: img.Height, Stride: img.Width + gap, Channels: 1}
	out.Pix = bytes.Repeat([]byte{171}, out.Stride*img.Height+7)
	for y := range img.Height {
		copy(out.Row(y), img.Row(y))
	}
	return out
}

// TestForms tests that results are the same at every level, for any number of workers, in place, with gaps between rows,
// and as bits.
func TestForms(t *testing.T) {
	ref.SkipRace(t)
	rng := rand.New(rand.NewPCG(18, 5))
	sizes := []image.Point{{1, 1}, {1, 40}, {70, 1}, {131, 97}, {700, 301}, {4500, 70}}
	if testing.Short() {
		sizes = sizes[2:5]
	}
	for i, size := range sizes {
		img := drawn(rng, size.X, size.Y, 4+i*3%5)
		for _, m := range threshold.Methods() {
			for _, window := range []int{3, 24} {
				r := threshold.New(m, window)
				want, err := threshold.Binarize(img, r, &threshold.Options{Workers: 1, Level: boxsum.Levels()[0]})
				if err != nil {
					t.Fatal(err)
				}
				for j, level := range boxsum.Levels() {
					opt := &threshold.Options{Workers: []int{1, 2, 5}[(i+j)%3], Level: level}
					name := fmt.Sprintf("%v, %v, window %d, level %v, %d workers", size, m, window, level, opt.Workers)
					got, err := threshold.Binarize(img, r, opt)
					if err != nil {
						t.Fatal(name, err)
					}
					same(t, name, got, want.Pix)
					place := strided(img, 5)
					if err := threshold.BinarizeInto(place, place, r, opt); err != nil {
						t.Fatal(name, err)
					}
					same(t, name+" in place", place, want.Pix)
					for k, v := range place.Pix {
						if k%place.Stride >= place.Width && v != 171 {
							t.Fatalf("%s: byte %d beyond the image is %d", name, k, v)
						}
					}
					bits, err := threshold.BinarizeBits(img, r, opt)
					if err != nil {
						t.Fatal(name, err)
					}
					for y := range img.Height {
						for x, v := range want.Row(y) {
							if bits.Black(x, y) != (v == 0) {
								t.Fatalf("%s: bit (%d, %d) is %v", name, x, y, bits.Black(x, y))
							}
						}
					}
				}
			}
		}
	}
}

// TestMaps tests that maps are bit-identical everywhere, and agree with the decisions except where rounding decides.
func TestMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 6))
	img := drawn(rng, 230, 60, 4)
	for _, m := range threshold.Methods() {
		r := threshold.New(m, 15)
		want, err := threshold.Map[float64](img, r, &threshold.Options{Workers: 1, Level: boxsum.Levels()[0]})
		if m == threshold.ISauvola {
			if !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("a map of isauvola: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(m, err)
		}
		black, err := threshold.Binarize(img, r, nil)
		if err != nil {
			t.Fatal(m, err)
		}
		for i, p := range img.Pix {
			if (float64(p) <= want.Pix[i]) != (black.Pix[i] == 0) {
				t.Fatalf("%v: pixel %d is %d, its threshold %v, and it became %d", m, i, p, want.Pix[i], black.Pix[i])
			}
		}
		for _, level := range boxsum.Levels() {
			got, err := threshold.Map[float64](img, r, &threshold.Options{Workers: 3, Level: level})
			if err != nil {
				t.Fatal(m, err)
			}
			single, err := threshold.Map[float32](img, r, &threshold.Options{Level: level})
			if err != nil {
				t.Fatal(m, err)
			}
			for i, v := range want.Pix {
				if got.Pix[i] != v || single.Pix[i] != float32(v) {
					t.Fatalf("%v at level %v: threshold %d is %v and %v, want %v", m, level, i, got.Pix[i], single.Pix[i], v)
				}
			}
		}
	}
}

// TestPixels tests that wider pixel types give the same decisions as bytes of the same values.
func TestPixels(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 7))
	img := drawn(rng, 90, 70, 4)
	words := boxsum.Image[uint16]{Pix: make([]uint16, len(img.Pix)), Width: img.Width, Height: img.Height}
	floats := boxsum.Image[float32]{Pix: make([]float32, len(img.Pix)), Width: img.Width, Height: img.Height}
	for i, p := range img.Pix {
		words.Pix[i], floats.Pix[i] = 257*uint16(p), float32(p)/255
	}
	for _, m := range threshold.Methods() {
		r := threshold.New(m, 21)
		want, err := threshold.Binarize(img, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		deep := r
		deep.C *= 257
		got16, err16 := threshold.Binarize(words, deep, nil)
		deep.C = r.C / 255
		got32, err32 := threshold.Binarize(floats, deep, nil)
		if m >= threshold.ISauvola {
			if !errors.Is(err16, boxsum.ErrTypes) || !errors.Is(err32, boxsum.ErrTypes) {
				t.Errorf("%v of wide pixels: %v, %v", m, err16, err32)
			}
			continue
		}
		if err16 != nil || err32 != nil {
			t.Fatal(m, err16, err32)
		}
		wrong := 0
		for i, v := range want.Pix {
			if got16.Pix[i] != v || got32.Pix[i] != v {
				wrong++
			}
		}
		if wrong > len(img.Pix)/500 { // MeanC rounds means of floats differently
			t.Errorf("%v: %d of %d decisions differ", m, wrong, len(img.Pix))
		}
	}
}

// TestNaN tests that a NaN affects only its own windows.
func TestNaN(t *testing.T) {
	img := boxsum.Image[float64]{Pix: make([]float64, 40*30), Width: 40, Height: 30}
	for i := range img.Pix {
		img.Pix[i] = float64(i%7) / 7
	}
	r := threshold.New(threshold.Sauvola, 5)
	want, err := threshold.Map[float64](img, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	img.Pix[15*40+20] = math.NaN()
	got, err := threshold.Map[float64](img, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Pix {
		x, y := i%40, i/40
		near := x >= 18 && x <= 22 && y >= 13 && y <= 17
		if near != math.IsNaN(v) || !near && math.Abs(v-want.Pix[i]) > 1e-12 {
			t.Fatalf("threshold (%d, %d) is %v", x, y, v)
		}
	}
}

func TestImage(t *testing.T) {
	m := image.NewRGBA(image.Rect(3, 4, 60, 40))
	for y := 4; y < 40; y++ {
		for x := 3; x < 60; x++ {
			m.Set(x, y, color.RGBA{uint8(4 * x), uint8(5 * y), uint8(x * y), 255})
		}
	}
	r := threshold.New(threshold.Wolf, 9)
	got, err := threshold.BinarizeImage(m, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := threshold.Binarize(boxsum.Gray(m), r, nil)
	if got.Rect != m.Rect || !bytes.Equal(got.Pix, want.Pix) {
		t.Error("an image.Image becomes something else than its gray pixels")
	}
	for _, img := range []image.Image{nil, (*image.Gray)(nil), image.NewGray(image.Rect(5, 5, 5, 9))} {
		if got, err := threshold.BinarizeImage(img, r, nil); err != nil || !got.Rect.Empty() {
			t.Errorf("%v: %v, %v", img, got, err)
		}
	}
}

func TestAllocations(t *testing.T) {
	img := drawn(rand.New(rand.NewPCG(1, 1)), 300, 200, 4)
	dst, _ := boxsum.NewImage[uint8](300, 200, 1)
	bits, _ := threshold.NewBitmap(300, 200)
	floats, _ := boxsum.NewImage[float64](300, 200, 1)
	opt := &threshold.Options{Workers: 1}
	for _, m := range threshold.Methods() {
		r := threshold.New(m, 25)
		ref.AllocatesNothing(t, m.String(), func() error { return threshold.BinarizeInto(dst, img, r, opt) })
		ref.AllocatesNothing(t, m.String()+" to bits", func() error { return threshold.BinarizeBitsInto(bits, img, r, opt) })
		if m != threshold.ISauvola {
			ref.AllocatesNothing(t, m.String()+" map", func() error { return threshold.MapInto(floats, img, r, opt) })
		}
	}
}

// TestAbsurd tests that absurd inputs give clear errors or defined results, and never a panic.
func TestAbsurd(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 8))
	nan, inf := math.NaN(), math.Inf(1)
	numbers := []float64{0, 1, -1, 0.2, 1e-300, -1e-300, 1e300, -1e300, 1e9, nan, inf, -inf}
	sides := []int{0, 1, 2, 3, -1, -5, 40, 1000, 1<<30 - 1, 1 << 30, math.MaxInt, math.MinInt}
	errs := 0
	for i := range 3000 {
		pick := func() float64 { return numbers[rng.IntN(len(numbers))] }
		r := threshold.New(threshold.Method(rng.IntN(13)), 5)
		for range 1 + rng.IntN(2) {
			switch rng.IntN(9) {
			case 0:
				r.Window = filter.Window{Width: sides[rng.IntN(len(sides))], Height: sides[rng.IntN(len(sides))]}
			case 1:
				r.K = pick()
			case 2:
				r.R = pick()
			case 3:
				r.White = pick()
			case 4:
				r.P, r.Q = pick(), pick()
			case 5:
				r.T, r.C = pick(), pick()
			case 6:
				r.Border, r.Value = filter.Border(rng.IntN(8)), pick()
			case 7:
				r.MinN = sides[rng.IntN(len(sides))]
			default:
				r.Window.Shift = image.Pt(rng.IntN(9)-4, rng.IntN(9)-4)
			}
		}
		img := drawn(rng, rng.IntN(12), rng.IntN(12), i)
		switch i % 12 {
		case 1:
			img.Width = -3
		case 2:
			img.Height++
		case 3:
			img.Channels = 3
		case 4:
			img.Stride = 1
		case 5:
			img.Pix = nil
		}
		got, err := threshold.Binarize(img, r, nil)
		if err != nil {
			errs++
			if !errors.Is(err, boxsum.ErrInvalid) && !errors.Is(err, boxsum.ErrTypes) {
				t.Fatalf("%+v: %v", r, err)
			}
			if len(err.Error()) < 20 {
				t.Fatalf("%+v: an error that says little: %v", r, err)
			}
			continue
		}
		for _, v := range got.Pix {
			if v != 0 && v != 255 {
				t.Fatalf("%+v: a pixel became %d", r, v)
			}
		}
		if _, err := threshold.Map[float32](img, r, nil); err != nil && r.Method != threshold.ISauvola {
			t.Fatalf("%+v: a map: %v", r, err)
		}
		if _, err := threshold.BinarizeBits(img, r, nil); err != nil {
			t.Fatalf("%+v: bits: %v", r, err)
		}
	}
	if errs < 500 {
		t.Errorf("%d of 3000 were errors", errs)
	}
}

func TestErrors(t *testing.T) {
	img := drawn(rand.New(rand.NewPCG(1, 1)), 20, 10, 0)
	r := threshold.New(threshold.Sauvola, 5)
	small, _ := boxsum.NewImage[uint8](19, 10, 1)
	part := boxsum.Image[uint8]{Pix: img.Pix[1:], Width: 19, Height: 10, Stride: 20}
	whole := boxsum.Image[uint8]{Pix: img.Pix, Width: 19, Height: 10, Stride: 20}
	bitmap, _ := threshold.NewBitmap(20, 9)
	over := threshold.Bitmap{Bits: img.Pix, Stride: 3, Width: 20, Height: 10}
	floats, _ := boxsum.NewImage[float32](20, 9, 1)
	for name, c := range map[string]struct {
		err  error
		kind error
	}{
		"a smaller result":    {threshold.BinarizeInto(small, img, r, nil), boxsum.ErrInvalid},
		"part of the image":   {threshold.BinarizeInto(part, whole, r, nil), boxsum.ErrOverlap},
		"a smaller bitmap":    {threshold.BinarizeBitsInto(bitmap, img, r, nil), boxsum.ErrInvalid},
		"bits over the image": {threshold.BinarizeBitsInto(over, img, r, nil), boxsum.ErrOverlap},
		"a smaller map":       {threshold.MapInto(floats, img, r, nil), boxsum.ErrInvalid},
		"workers":             {threshold.BinarizeInto(img, img, r, &threshold.Options{Workers: -1}), boxsum.ErrInvalid},
	} {
		if !errors.Is(c.err, c.kind) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := threshold.Binarize(img, r, &threshold.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is done: %v", err)
	}
	if _, err := threshold.NewBitmap(-1, 3); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("a bitmap of -1×3: %v", err)
	}
	if (threshold.Bitmap{Width: 9, Height: 9}).Black(1, 1) {
		t.Error("a bitmap without bits has black ones")
	}
	if _, err := threshold.ParseMethod("best"); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("ParseMethod: %v", err)
	}
	for _, m := range threshold.Methods() {
		if got, err := threshold.ParseMethod(m.String()); err != nil || got != m {
			t.Errorf("ParseMethod(%v) = %v, %v", m, got, err)
		}
	}
}

// TestProgress tests that progress goes from 0 to 1 and never decreases.
func TestProgress(t *testing.T) {
	img := drawn(rand.New(rand.NewPCG(1, 1)), 900, 900, 4)
	for _, m := range threshold.Methods() {
		last := 0.0
		opt := &threshold.Options{Progress: func(done float64) {
			if done < last || done > 1 {
				t.Errorf("%v: %v after %v", m, done, last)
			}
			last = done
		}}
		if _, err := threshold.Binarize(img, threshold.New(m, 25), opt); err != nil || last != 1 {
			t.Errorf("%v: %v, %v", m, last, err)
		}
	}
}

// TestFloatsOfBytes tests that bytes converted to floats are not mistaken for floats from 0 to 1.
func TestFloatsOfBytes(t *testing.T) {
	img := boxsum.Image[float32]{Pix: []float32{0.2, float32(math.NaN()), 1.5, 2, 200, 0}, Width: 3, Height: 2}
	for _, m := range []threshold.Method{threshold.Sauvola, threshold.TRSingh, threshold.Phansalkar} {
		r := threshold.New(m, 3)
		if _, err := threshold.Binarize(img, r, nil); !errors.Is(err, boxsum.ErrInvalid) || !strings.Contains(err.Error(), "1,1 is 200") {
			t.Errorf("%v: %v", m, err)
		}
		r.White = 255
		if _, err := threshold.Binarize(img, r, nil); err != nil {
			t.Errorf("%v with its white: %v", m, err)
		}
	}
	for _, m := range []threshold.Method{threshold.Niblack, threshold.Wolf, threshold.NICK, threshold.Bradley, threshold.MeanC} {
		if _, err := threshold.Binarize(img, threshold.New(m, 3), nil); err != nil {
			t.Errorf("%v, which is the same at every scale: %v", m, err)
		}
	}
	img.Pix = []float32{0.2, float32(math.NaN()), 1, 0.5, 0.1, 0}
	r := threshold.New(threshold.MeanC, 3)
	if _, err := threshold.Binarize(img, r, nil); !errors.Is(err, boxsum.ErrInvalid) || !strings.Contains(err.Error(), "C is 10") {
		t.Error(err)
	}
	r.C = 10. / 255
	if _, err := threshold.Binarize(img, r, nil); err != nil {
		t.Error(err)
	}
}

// TestWolfAgain tests that values found by other workers in an earlier image are forgotten.
func TestWolfAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 19))
	wild := drawn(rng, 900, 900, 5)
	for i := range wild.Pix {
		wild.Pix[i] = uint8(i % 2 * 255)
	}
	calm := boxsum.Image[uint8]{Pix: make([]uint8, 60*20), Width: 60, Height: 20}
	for i := range calm.Pix {
		calm.Pix[i] = uint8(100 + rng.IntN(40))
	}
	r := threshold.New(threshold.Wolf, 15)
	want, err := threshold.Binarize(calm, r, &threshold.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := threshold.Binarize(wild, r, &threshold.Options{Workers: 5}); err != nil {
			t.Fatal(err)
		}
		got, err := threshold.Binarize(calm, r, &threshold.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "after another image", got, want.Pix)
	}
}

// TestPast compares results large enough to be written past the caches with results in place, for which wide images have
// separate kernels.
func TestPast(t *testing.T) {
	if testing.Short() {
		t.Skip("binarizes images of 33 MB: leave out -short")
	}
	img := boxsum.Image[uint8]{Pix: make([]uint8, 5801*5800), Width: 5801, Height: 5800}
	for i := range img.Pix {
		img.Pix[i] = uint8(100 + uint32(i)*2654435761>>9&63)
	}
	for _, m := range []threshold.Method{threshold.Niblack, threshold.Bradley} {
		r := threshold.New(m, 19)
		got, err := threshold.Binarize(img, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		over := img
		over.Pix = bytes.Clone(img.Pix)
		if err := threshold.BinarizeInto(over, over, r, nil); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Pix, over.Pix) {
			t.Errorf("%v differs", m)
		}
	}
}

// TestInPlaceBands tests that the bands of an image that is overwritten do not read each other's results.
func TestInPlaceBands(t *testing.T) {
	img, _ := boxsum.NewImage[uint8](1024, 1024, 1)
	for i := range img.Pix {
		img.Pix[i] = uint8(uint32(i) * 2654435761 >> 11)
	}
	for _, m := range []threshold.Method{threshold.Bradley, threshold.Sauvola, threshold.Wolf} {
		r := threshold.New(m, 21)
		opt := &threshold.Options{Workers: 4}
		want, err := threshold.Binarize(img, r, opt)
		if err != nil {
			t.Fatal(err)
		}
		same := boxsum.Image[uint8]{Pix: append([]uint8(nil), img.Pix...), Width: img.Width, Height: img.Height}
		if err := threshold.BinarizeInto(same, same, r, opt); err != nil {
			t.Fatal(err)
		}
		if string(same.Pix) != string(want.Pix) {
			t.Errorf("%v in place differs", m)
		}
		ref.AllocatesNothing(t, "elsewhere", func() error { return threshold.BinarizeInto(want, img, r, opt) })
		ref.AllocatesNothing(t, "in place", func() error { return threshold.BinarizeInto(same, same, r, opt) })
	}
}

// TestBradleyNarrow tests that Bradley's default window, an eighth of the width, gives a mean of 0 if it is empty, in
// every form of result.
func TestBradleyNarrow(t *testing.T) {
	for width := 1; width < 8; width++ {
		img, _ := boxsum.NewImage[uint8](width, 3, 1)
		want := make([]uint8, len(img.Pix))
		var packed []uint8
		for i := range img.Pix {
			if i%width == 0 {
				packed = append(packed, 0)
			}
			if img.Pix[i] = uint8(i % 3); img.Pix[i] != 0 {
				want[i] = 255
			} else {
				packed[i/width] |= 0x80 >> (i % width)
			}
		}
		rule := threshold.New(threshold.Bradley, 0)
		got, err := threshold.Binarize(img, rule, nil)
		if err != nil || !slices.Equal(got.Pix, want) {
			t.Errorf("width %d: %v, %v", width, got.Pix, err)
		}
		bits, err := threshold.BinarizeBits(img, rule, nil)
		if err != nil || !slices.Equal(bits.Bits, packed) {
			t.Errorf("width %d: bits %v, %v", width, bits.Bits, err)
		}
		m, err := threshold.Map[float32](img, rule, nil)
		if err != nil || slices.Max(m.Pix) != 0 || slices.Min(m.Pix) != 0 {
			t.Errorf("width %d: map %v, %v", width, m.Pix, err)
		}
		d, err := threshold.Map[float64](img, rule, nil)
		if err != nil || slices.Max(d.Pix) != 0 || slices.Min(d.Pix) != 0 {
			t.Errorf("width %d: map %v, %v", width, d.Pix, err)
		}
	}
}
