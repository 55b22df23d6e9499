package gpu

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/threshold"
)

// thresholdsOn compares Sauvola's rule, and for bytes MeanC, on a device with those on the CPU.
func thresholdsOn[P FilterPixel](t *testing.T, d *Device, c filterCase) {
	t.Helper()
	src := fixture.Noise[P](c.seed, c.width, c.height, 1, c.gap)
	rule := threshold.New(threshold.Sauvola, 1)
	rule.Window, rule.Border, rule.Value, rule.K = c.window, c.border, c.value, c.k
	if c.seed%2 == 0 {
		rule.R = 100
	}
	ruleOn(t, d, c, src, rule)
	if raster.SizeOf[P]() == 1 {
		rule.Method, rule.C = threshold.MeanC, float64(c.seed%601)/2-150
		ruleOn(t, d, c, src, rule)
	}
}

// ruleOn compares a rule on a device with that on the CPU.
func ruleOn[P FilterPixel](t *testing.T, d *Device, c filterCase, src boxsum.Image[P], rule threshold.Rule) {
	t.Helper()
	name := fmt.Sprintf("%v of %T of %+v", rule.Method, *new(P), c)
	for _, level := range []boxsum.Level{{}, portable} {
		options := func(on boxsum.Device, progress func(float64)) *threshold.Options {
			if on == nil {
				return nil
			}
			return &threshold.Options{On: on, Level: level, Progress: progress}
		}
		sameOn(t, d, name, parts[uint8](c.width, c.height, 1, c.gap), func(dst boxsum.Image[uint8], on boxsum.Device, progress func(float64)) error {
			return threshold.BinarizeInto(dst, src, rule, options(on, progress))
		})
		if bytes, ok := any(src).(boxsum.Image[uint8]); ok {
			sameOn(t, d, "in place: "+name, clones(bytes), func(img boxsum.Image[uint8], on boxsum.Device, progress func(float64)) error {
				return threshold.BinarizeInto(img, img, rule, options(on, progress))
			})
		}
		bits, err := threshold.BinarizeBits(src, rule, options(d, nil))
		if want, wrong := threshold.BinarizeBits(src, rule, nil); err != nil || wrong != nil || !slices.Equal(bits.Bits, want.Bits) {
			t.Errorf("bits of %s: %v, %v", name, err, wrong)
		}
	}
}

// TestThresholdOn compares decisions from host memory to host memory with the CPU's.
func TestThresholdOn(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(5, 35))
		count := 30
		if testing.Short() {
			count = 8
		}
		for range count {
			c := randomCase(rng)
			thresholdsOn[uint8](t, d, c)
			thresholdsOn[uint16](t, d, c)
		}
		many, _ := several(t, d, 3)
		for range 4 {
			c := randomCase(rng)
			c.height, c.width = 3*shareRows+rng.IntN(200), 1+c.width%50
			thresholdsOn[uint8](t, many, c)
		}
		if failed := many.Failed(); failed != nil {
			t.Error(failed)
		}
		empty := boxsum.Image[uint8]{Height: 5}
		if bin, err := threshold.Binarize(empty, threshold.New(threshold.Sauvola, 5), &threshold.Options{On: d}); err != nil || bin.Height != 5 {
			t.Errorf("an empty image: %v, %v", bin, err)
		}
	})
}

// TestThresholdOnRefused requests thresholds that devices do not support.
func TestThresholdOnRefused(t *testing.T) {
	im, floats := fixture.Noise[uint8](1, 30, 25, 1, 0), fixture.Image[float32](rand.New(rand.NewPCG(1, 2)), 30, 25, 1)
	words := fixture.Noise[uint16](1, 30, 25, 1, 0)
	rule := threshold.New(threshold.Sauvola, 5)
	eachDevice(t, func(t *testing.T, d *Device) {
		opt := &threshold.Options{On: d}
		for _, m := range threshold.Methods() {
			if m == threshold.Sauvola || m == threshold.MeanC {
				continue
			}
			if _, err := threshold.Binarize(im, threshold.New(m, 5), opt); !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("%v: %v", m, err)
			}
		}
		checkRefusals(t, map[string]refusal{
			"a map":          {second(threshold.Map[float32](im, rule, opt)), boxsum.ErrInvalid},
			"a large window": {second(threshold.Binarize(im, threshold.Rule{Window: threshold.Square(1 << 20)}, opt)), boxsum.ErrInvalid},
			"floats":         {second(threshold.Binarize(floats, rule, opt)), boxsum.ErrTypes},
			"means of words": {second(threshold.Binarize(words, threshold.New(threshold.MeanC, 5), opt)), boxsum.ErrTypes},
		})
		checkOnRefused(t, d, func(on boxsum.Device, level boxsum.Level, ctx context.Context) error {
			return second(threshold.Binarize(im, rule, &threshold.Options{On: on, Level: level, Context: ctx}))
		})
	})
}
