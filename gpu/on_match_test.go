package gpu

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/match"
)

// matchesOn holds the scores of a part of an image on a device against their definition, and
// the processor's.
func matchesOn(t *testing.T, d *Device, rng *rand.Rand, width, height, w, h int) {
	t.Helper()
	contrast := 2 + rng.IntN(254)
	img := fixture.Noise[uint8](rng.Uint64(), width, height, 1, 0)
	for i := range img.Pix {
		img.Pix[i] %= uint8(contrast)
	}
	x, y := rng.IntN(width-w+1), rng.IntN(height-h+1)
	template := boxsum.Image[uint8]{Pix: img.Pix[y*img.Stride+x:], Stride: img.Stride, Width: w, Height: h}
	pixels, pattern := withoutGaps(img), withoutGaps(template)
	for _, m := range []match.Method{match.ZNCC, match.NCC, match.SSD} {
		want, err := match.Match(img, template, m, nil)
		if err != nil {
			if _, there := match.Match(img, template, m, &match.Options{On: d}); there == nil || there.Error() != err.Error() {
				t.Errorf("%v of %d×%d: %v, want %v", m, w, h, there, err)
			}
			continue
		}
		for _, level := range []boxsum.Level{{}, portable} {
			progress := 0.0
			got := part[float32](width-w+1, height-h+1, 1, rng.IntN(5))
			guarded := slices.Clone(got.Pix)
			opt := &match.Options{On: d, Level: level, Progress: func(done float64) { progress = done }}
			if err := match.MatchInto(got, img, template, m, opt); err != nil {
				t.Fatal(err)
			}
			for j := range want.Height {
				for i, here := range want.Row(j) {
					there, exactly := got.Row(j)[i], definition(pixels, pattern, m, i, j)
					if there != exactly || m == match.SSD && there != here || math.Abs(float64(there-here)) > 1e-5 && m != match.SSD {
						t.Fatalf("%v of %d×%d in %d×%d at %d,%d: %v on the device, %v on the processor, %v by definition", m, w, h, width, height, i, j, there, here, exactly)
					}
				}
				clear(guarded[min(len(guarded), j*got.Stride):][:want.Width])
			}
			for i, v := range guarded {
				if v != 0 && got.Pix[i] != v {
					t.Fatalf("%v of %d×%d in %d×%d: element %d between the rows is written", m, w, h, width, height, i)
				}
			}
			if progress != 1 {
				t.Errorf("the last progress is %v", progress)
			}
		}
	}
}

// withoutGaps returns a copy of an image without gaps.
func withoutGaps(img boxsum.Image[uint8]) boxsum.Image[uint8] {
	own := boxsum.Image[uint8]{Width: img.Width, Height: img.Height, Channels: 1, Stride: img.Width}
	for y := range img.Height {
		own.Pix = append(own.Pix, img.Row(y)...)
	}
	return own
}

// TestMatchOn compares scores from host memory to host memory with the CPU's.
func TestMatchOn(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(8, 35))
		for range 12 {
			width, height := 1+rng.IntN(90), 1+rng.IntN(60)
			matchesOn(t, d, rng, width, height, 1+rng.IntN(min(width, 30)), 1+rng.IntN(min(height, 30)))
		}
		many, backends := several(t, d, 3)
		for _, h := range []int{1, 9, 70} {
			matchesOn(t, many, rng, 5+rng.IntN(20), 3*max(shareRows, h)+h+rng.IntN(40), 1+rng.IntN(5), h)
		}
		allLaunched(t, backends)
		limitMemory(backends, 100<<10)
		matchesOn(t, many, rng, 250, 300, 3, 5)
		matchesOn(t, many.Members()[0], rng, 250, 300, 3, 5)
		if failed := many.Failed(); failed != nil {
			t.Error(failed)
		}
		img := fixture.Noise[uint8](3, 60, 50, 1, 2)
		template := boxsum.Image[uint8]{Pix: img.Pix[20*img.Stride+10:], Stride: img.Stride, Width: 12, Height: 9}
		peaks, err := match.Find(img, template, match.ZNCC, 1, &match.Options{On: d})
		if err != nil || len(peaks) != 1 || peaks[0].X != 10 || peaks[0].Y != 20 {
			t.Errorf("%v, %v", peaks, err)
		}
	})
}

// TestMatchOnRefused requests scores that devices do not support.
func TestMatchOnRefused(t *testing.T) {
	img := fixture.Noise[uint8](1, 300, 290, 1, 0)
	cut := func(w, h int) boxsum.Image[uint8] {
		return boxsum.Image[uint8]{Pix: img.Pix, Stride: img.Stride, Width: w, Height: h}
	}
	some, all := fixture.Noise[uint8](2, 6, 5, 1, 0), fixture.Noise[uint8](2, 6, 5, 1, 0)
	some.Pix[0] = 0
	for i := range all.Pix {
		all.Pix[i] = 1
	}
	deep, floats := fixture.Noise[uint16](1, 6, 5, 1, 0), fixture.Noise[float32](1, 6, 5, 1, 0)
	color := fixture.Noise[uint8](1, 6, 5, 3, 0)
	eachDevice(t, func(t *testing.T, d *Device) {
		opt := &match.Options{On: d}
		checkRefusals(t, map[string]refusal{
			"a mask":           {second(match.Match(img, cut(6, 5), match.ZNCC, &match.Options{On: d, Mask: some})), boxsum.ErrInvalid},
			"a whole mask":     {second(match.Match(img, cut(6, 5), match.ZNCC, &match.Options{On: d, Mask: all})), nil},
			"a large template": {second(match.Match(img, cut(280, 280), match.ZNCC, opt)), boxsum.ErrInvalid},
			"none":             {second(match.Match(img, cut(0, 5), match.ZNCC, opt)), boxsum.ErrInvalid},
			"too wide":         {second(match.Match(img, cut(301, 5), match.ZNCC, opt)), boxsum.ErrInvalid},
			"a method":         {second(match.Match(img, cut(6, 5), 77, opt)), boxsum.ErrInvalid},
			"short scores":     {match.MatchInto(boxsum.Image[float32]{Width: 295, Height: 286, Stride: 295}, img, cut(6, 5), match.SSD, opt), boxsum.ErrInvalid},
			"uint16":           {second(match.Match(deep, deep, match.ZNCC, opt)), boxsum.ErrTypes},
			"floats":           {second(match.Match(floats, floats, match.ZNCC, opt)), boxsum.ErrTypes},
			"colors":           {second(match.Match(color, color, match.ZNCC, opt)), boxsum.ErrTypes},
		})
		checkOnRefused(t, d, func(on boxsum.Device, level boxsum.Level, ctx context.Context) error {
			return second(match.Match(img, cut(6, 5), match.ZNCC, &match.Options{On: on, Level: level, Context: ctx}))
		})
	})
}
