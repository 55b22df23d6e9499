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

// sameScores compares maps and their mean.
func sameScores[D quality.Float](t *testing.T, name string, got, want boxsum.Image[D], score, wanted float64) {
	t.Helper()
	if math.Float64bits(score) != math.Float64bits(wanted) {
		t.Errorf("%s: %v on the device and %v on the processor", name, score, wanted)
	}
	sameParts(t, name, got, want)
}

// comparedOn compares the similarity of images on a device with that on the CPU.
func comparedOn[P FilterPixel](t *testing.T, d *Device, c comparison) {
	t.Helper()
	name := fmt.Sprintf("%T of %+v", *new(P), c)
	a, b := twoImages[P](c)
	here, there := c.opt, c.opt
	progress := 0.0
	there.On, there.Progress = d, func(done float64) { progress = done }
	got, want := part[float32](c.width, c.height, c.channels, c.gap), part[float32](c.width, c.height, c.channels, c.gap)
	score, err := quality.SSIMInto(got, a, b, &there)
	wanted, wrong := quality.SSIMInto(want, a, b, &here)
	if err := errors.Join(err, wrong); err != nil {
		t.Fatal(name, err)
	}
	sameScores(t, name, got, want, score, wanted)
	if progress != 1 {
		t.Errorf("%s: the last progress is %v", name, progress)
	}
	if c.seed%4 == 0 {
		got, score, err := quality.SSIMMap[float64](a, b, &there)
		want, wanted, wrong := quality.SSIMMap[float64](a, b, &here)
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(name, err)
		}
		sameScores(t, "float64 of "+name, got, want, score, wanted)
	}
	if score, err := quality.SSIM(a, b, &there); err != nil || score != wanted {
		t.Errorf("%s without a map: %v, %v, want %v", name, score, err, wanted)
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

// randomCases returns the number of random inputs of a test that needs so many.
func randomCases(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// TestSSIMOnSeveral divides images among devices, some of which fail or have little memory.
func TestSSIMOnSeveral(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, backends := several(t, real, 3)
		for _, height := range []int{20, 200, 401} {
			comparedOn[uint8](t, d, comparison{width: 70, height: height, channels: 2, seed: 4, opt: quality.Options{Window: 9}})
		}
		for i, b := range backends {
			if b.launches == 0 {
				t.Errorf("device %d did nothing", i)
			}
			b.limit = 400 << 10
		}
		comparedOn[uint16](t, d.Members()[0], comparison{width: 130, height: 600, channels: 1, seed: 4})
		backends[1].lives, backends[2].lives, backends[0].limit = 0, 0, 0
		comparedOn[uint8](t, d, comparison{width: 70, height: 401, channels: 1, seed: 3})
		if failed := d.Failed(); len(failed) == 0 {
			t.Error("no device has failed")
		}
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
				sameScores(t, fmt.Sprintf("image %d of %+v", i, c), got, want, scores[i], wanted)
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
		done, stop := context.WithCancel(context.Background())
		stop()
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
		if _, err := SSIM(x, x, &quality.Options{Context: done}); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	})
}

// TestSSIMOnRefused requests comparisons that devices do not support.
func TestSSIMOnRefused(t *testing.T) {
	im, floats := fixture.Noise[uint8](1, 300, 200, 1, 0), fixture.Noise[float32](1, 30, 20, 1, 0)
	done, stop := context.WithCancel(context.Background())
	stop()
	eachDevice(t, func(t *testing.T, d *Device) {
		opt := &quality.Options{On: d}
		for name, c := range map[string]struct{ err, want error }{
			"LNCC":           {second(quality.LNCC(im, im, opt)), boxsum.ErrInvalid},
			"several scales": {second(quality.MSSSIM(im, im, opt)), boxsum.ErrInvalid},
			"an error":       {second(quality.MSE(im, im, opt)), boxsum.ErrInvalid},
			"decibels":       {second(quality.PSNR(im, im, opt)), boxsum.ErrInvalid},
			"floats":         {second(quality.SSIM(floats, floats, &quality.Options{On: d, DataRange: 1})), boxsum.ErrTypes},
			"a Gaussian":     {second(quality.SSIM(im, im, &quality.Options{On: d, Sigma: 1.5})), boxsum.ErrInvalid},
			"a mask":         {second(quality.SSIM(im, im, &quality.Options{On: d, Valid: boxsum.Valid{Mask: im}})), boxsum.ErrInvalid},
			"a large window": {second(quality.SSIM(im, im, &quality.Options{On: d, Window: 183})), boxsum.ErrInvalid},
			"a level":        {second(quality.SSIM(im, im, &quality.Options{On: d, Level: boxsum.Levels()[len(boxsum.Levels())-1]})), boxsum.ErrInvalid},
			"no device":      {second(quality.SSIM(im, im, &quality.Options{On: (*Device)(nil)})), ErrNoDevice},
			"canceled":       {second(quality.SSIM(im, im, &quality.Options{On: d, Context: done})), context.Canceled},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v, want %v", name, c.err, c.want)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := quality.SSIM(im, im, opt); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("a closed device: %v", err)
		}
	})
}
