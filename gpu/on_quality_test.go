package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/quality"
)

// A comparison is a random pair of images, and how to compare them.
type comparison struct {
	width, height, channels, gap int
	near                         bool // the images differ by little
	seed                         uint64
	opt                          quality.Options
}

func randomComparison(rng *rand.Rand) comparison {
	c := comparison{width: 7 + rng.IntN(90), height: 7 + rng.IntN(60), channels: 1, gap: rng.IntN(9), near: rng.IntN(2) == 0, seed: rng.Uint64()}
	switch rng.IntN(6) {
	case 0:
		c.width += rng.IntN(2500)
	case 1:
		c.height += rng.IntN(500)
	case 2:
		c.channels = 2 + rng.IntN(3)
	case 3:
		c.gap = 15 - (c.width+15)%16 // rows are aligned
	}
	most := min(c.width, c.height)
	c.opt.Window = []int{0, 0, 3, 11, 15, 1 + 2*rng.IntN((most+1)/2)}[rng.IntN(6)]
	if c.opt.Window > most {
		c.opt.Window = 0
	}
	c.opt.Population = c.opt.Window == 1 || rng.IntN(3) == 0
	if rng.IntN(3) == 0 {
		c.opt.DataRange, c.opt.K1, c.opt.K2 = 1+100*rng.Float64(), rng.Float64(), rng.Float64()
	}
	return c
}

// twoImages returns the images.
func twoImages[P FilterPixel](c comparison) (a, b boxsum.Image[P]) {
	a, b = fixture.Noise[P](c.seed, c.width, c.height, c.channels, c.gap), fixture.Noise[P](c.seed+1, c.width, c.height, c.channels, c.gap/2)
	if c.near {
		for y := range a.Height {
			from, to := a.Row(y), b.Row(y)
			for i, p := range from {
				to[i] = p ^ to[i]&7
			}
		}
	}
	return a, b
}

// sameScore compares the means of maps.
func sameScore(t *testing.T, name string, score, wanted float64) {
	t.Helper()
	if math.Float64bits(score) != math.Float64bits(wanted) {
		t.Errorf("%s: %v on the device and %v on the processor", name, score, wanted)
	}
}

// comparedOn compares the similarity of images on a device with that on the CPU.
func comparedOn[P FilterPixel](t *testing.T, d *Device, c comparison) {
	t.Helper()
	name := fmt.Sprintf("%T of %+v", *new(P), c)
	a, b := twoImages[P](c)
	here, there := c.opt, c.opt
	there.On = d
	var scores []float64 // the device's and the CPU's
	sameOn(t, d, name, parts[float32](c.width, c.height, c.channels, c.gap), func(dst boxsum.Image[float32], on boxsum.Device, progress func(float64)) error {
		opt := c.opt
		opt.On, opt.Progress = on, progress
		score, err := quality.SSIMInto(dst, a, b, &opt)
		scores = append(scores, score)
		return err
	})
	sameScore(t, name, scores[0], scores[1])
	if c.seed%4 == 0 {
		got, score, err := quality.SSIMMap[float64](a, b, &there)
		want, wanted, wrong := quality.SSIMMap[float64](a, b, &here)
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(name, err)
		}
		sameScore(t, "float64 of "+name, score, wanted)
		sameParts(t, "float64 of "+name, got, want)
	}
	if score, err := quality.SSIM(a, b, &there); err != nil || score != scores[1] {
		t.Errorf("%s without a map: %v, %v, want %v", name, score, err, scores[1])
	}
}

// TestSSIMOn compares similarities from host memory to host memory with the CPU's.
func TestSSIMOn(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(6, 41))
		for range randomCases(200) {
			c := randomComparison(rng)
			if rng.IntN(3) == 0 {
				comparedOn[uint16](t, d, c)
			} else {
				comparedOn[uint8](t, d, c)
			}
		}
		large := comparison{width: 200, height: 190, channels: 1, opt: quality.Options{Window: 181}}
		comparedOn[uint8](t, d, large)
		comparedOn[uint16](t, d, large)
	})
}

// TestSSIMOnSeveral divides images among devices, some of which fail or have little memory.
func TestSSIMOnSeveral(t *testing.T) {
	onSeveral(t, 400<<10,
		func(t *testing.T, d *Device) {
			for _, height := range []int{20, 200, 401} {
				comparedOn[uint8](t, d, comparison{width: 70, height: height, channels: 2, seed: 4, opt: quality.Options{Window: 9}})
			}
		},
		func(t *testing.T, d *Device) {
			comparedOn[uint16](t, d, comparison{width: 130, height: 600, channels: 1, seed: 4})
		},
		func(t *testing.T, d *Device) {
			comparedOn[uint8](t, d, comparison{width: 70, height: 401, channels: 1, seed: 3})
		})
}

// TestSSIMThere compares batches that are on a device.
func TestSSIMThere(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(7, 41))
		for range randomCases(30) {
			c := randomComparison(rng)
			var as, bs []boxsum.Image[uint8]
			for range 1 + rng.IntN(3) {
				c.seed = rng.Uint64()
				a, b := twoImages[uint8](c)
				as, bs = append(as, a), append(bs, b)
			}
			a, err := Upload(d, as...)
			b, wrong := Upload(d, bs...)
			if err := errors.Join(err, wrong); err != nil {
				t.Fatal(err)
			}
			scores, err := SSIM(a, b, &c.opt)
			m, wrong := SSIMMap[float32](a, b, &c.opt)
			if err := errors.Join(err, wrong); err != nil {
				t.Fatal(err)
			}
			for i := range as {
				got, err := m.Download(i)
				want, wanted, wrong := quality.SSIMMap[float32](as[i], bs[i], &c.opt)
				if err := errors.Join(err, wrong); err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("image %d of %+v", i, c)
				sameScore(t, name, scores[i], wanted)
				sameParts(t, name, got, want)
			}
			if err := errors.Join(a.Close(), b.Close(), m.Close()); err != nil {
				t.Fatal(err)
			}
		}
		a, b := fixture.Noise[uint8](1, 30, 20, 1, 0), fixture.Noise[uint8](2, 31, 20, 1, 0)
		x, err := Upload(d, a)
		y, wrong := Upload(d, b)
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		masked := quality.Options{Valid: boxsum.Valid{Mask: a}}
		for name, err := range map[string]error{
			"another size": second(SSIM(x, y, nil)), "no image": second(SSIM(x, nil, nil)), "a mask": second(SSIM(x, x, &masked)),
			"a Gaussian": second(SSIM(x, x, &quality.Options{Sigma: 2})), "an even window": second(SSIM(x, x, &quality.Options{Window: 8})),
			"a large window": second(SSIM(x, x, &quality.Options{Window: 21})), "no destination": SSIMMapInto[float32](nil, x, x, nil),
		} {
			if !errors.Is(err, boxsum.ErrInvalid) && !errors.Is(err, boxsum.ErrTypes) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := SSIM(x, x, &quality.Options{Context: canceled()}); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	})
}

// TestSSIMOnRefused requests comparisons that devices do not support.
func TestSSIMOnRefused(t *testing.T) {
	im, floats := fixture.Noise[uint8](1, 300, 200, 1, 0), fixture.Noise[float32](1, 30, 20, 1, 0)
	eachDevice(t, func(t *testing.T, d *Device) {
		opt := &quality.Options{On: d}
		checkRefusals(t, map[string]refusal{
			"LNCC":           {second(quality.LNCC(im, im, opt)), boxsum.ErrInvalid},
			"several scales": {second(quality.MSSSIM(im, im, opt)), boxsum.ErrInvalid},
			"an error":       {second(quality.MSE(im, im, opt)), boxsum.ErrInvalid},
			"decibels":       {second(quality.PSNR(im, im, opt)), boxsum.ErrInvalid},
			"floats":         {second(quality.SSIM(floats, floats, &quality.Options{On: d, DataRange: 1})), boxsum.ErrTypes},
			"a Gaussian":     {second(quality.SSIM(im, im, &quality.Options{On: d, Sigma: 1.5})), boxsum.ErrInvalid},
			"a mask":         {second(quality.SSIM(im, im, &quality.Options{On: d, Valid: boxsum.Valid{Mask: im}})), boxsum.ErrInvalid},
			"a large window": {second(quality.SSIM(im, im, &quality.Options{On: d, Window: 183})), boxsum.ErrInvalid},
		})
		checkOnRefused(t, d, func(on boxsum.Device, level boxsum.Level, ctx context.Context) error {
			return second(quality.SSIM(im, im, &quality.Options{On: on, Level: level, Context: ctx}))
		})
	})
}
