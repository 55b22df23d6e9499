package gpu

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/denoise"
	"github.com/boxsum/boxsum/internal/fixture"
)

// A denoising is a random film, and how to denoise one of its frames.
type denoising struct {
	width, height, channels, gap, frames int
	near                                 bool // pixels differ by little
	seed                                 uint64
	opt                                  denoise.Options
}

func randomDenoising(rng *rand.Rand) denoising {
	c := denoising{
		width: 1 + rng.IntN(50), height: 1 + rng.IntN(40), channels: 1, gap: rng.IntN(9), frames: 1, near: rng.IntN(2) == 0, seed: rng.Uint64(),
		opt: denoise.Options{Patch: 1 + rng.IntN(9), Search: 1 + rng.IntN(9), Absolute: rng.IntN(3) == 0},
	}
	switch rng.IntN(6) {
	case 0:
		c.width += rng.IntN(250)
	case 1:
		c.channels = 2 + rng.IntN(3)
	case 2:
		c.frames = 2 + rng.IntN(2)
	case 3:
		c.opt.Patch = 1 + rng.IntN(40)
	}
	c.opt.Strength = []float64{0, 0.5, 3, 20 * rng.Float64(), 200 * rng.Float64()}[rng.IntN(5)]
	return c
}

// film returns the frames.
func film[P FilterPixel](c denoising) (frames []boxsum.Image[P]) {
	for i := range c.frames {
		img := fixture.Noise[P](c.seed+uint64(i), c.width, c.height, c.channels, c.gap)
		if c.near {
			for k, v := range img.Pix {
				img.Pix[k] = 90 + v%12
			}
		}
		frames = append(frames, img)
	}
	return frames
}

// denoisedOn compares a frame that was denoised on a device with that of the CPU.
func denoisedOn[P FilterPixel](t *testing.T, d *Device, c denoising) {
	t.Helper()
	name := fmt.Sprintf("%T of %+v", *new(P), c)
	frames, index, opt := film[P](c), int(c.seed%uint64(c.frames)), c.opt
	sameOn(t, d, name, parts[P](c.width, c.height, c.channels, c.gap), func(dst boxsum.Image[P], on boxsum.Device, progress func(float64)) error {
		opt.On, opt.Progress = on, progress
		return denoise.FramesNonLocalMeansInto(dst, frames, index, &opt)
	})
	if c.seed%4 == 0 {
		sameOn(t, d, "in place: "+name, clones(frames[0]), func(img boxsum.Image[P], on boxsum.Device, progress func(float64)) error {
			opt.On, opt.Progress = on, progress
			return denoise.NonLocalMeansInto(img, img, &opt)
		})
	}
}

// TestDenoiseOn compares denoised images from host memory to host memory with the CPU's.
func TestDenoiseOn(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(12, 41))
		for range randomCases(200) {
			c := randomDenoising(rng)
			if rng.IntN(4) == 0 {
				denoisedOn[uint16](t, d, c)
			} else {
				denoisedOn[uint8](t, d, c)
			}
		}
		for _, size := range [][2]int{{0, 5}, {5, 0}, {1, 1}} {
			denoisedOn[uint8](t, d, denoising{width: size[0], height: size[1], channels: 1, frames: 1})
		}
		denoisedOn[uint8](t, d, denoising{width: 70, height: 20, channels: 1, frames: 1, opt: denoise.Options{Patch: 65, Search: 5}})
	})
}

// TestDenoiseOnSeveral divides images among devices, some of which fail or have little memory.
func TestDenoiseOnSeveral(t *testing.T) {
	denoised := func(t *testing.T, d *Device) {
		t.Helper()
		denoisedOn[uint8](t, d, denoising{width: 40, height: 301, channels: 1, frames: 2, seed: 4, opt: denoise.Options{Patch: 5, Search: 5, Strength: 20}})
	}
	onSeveral(t, 400<<10, denoised, denoised, denoised)
}

// TestDenoiseThere denoises batches that are on a device.
func TestDenoiseThere(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(13, 41))
		for range randomCases(20) {
			c := randomDenoising(rng)
			c.frames = 1 + rng.IntN(3)
			if !sameThere(t, d, fmt.Sprintf("%+v", c), c.gap, film[uint8](c),
				func(dst, src *Image[uint8]) error { return NonLocalMeansInto(dst, src, &c.opt) },
				func(img boxsum.Image[uint8]) (boxsum.Image[uint8], error) { return denoise.NonLocalMeans(img, &c.opt) }) {
				return
			}
		}
		x, err := Upload(d, fixture.Noise[uint8](1, 30, 20, 1, 0))
		y, wrong := Upload(d, fixture.Noise[uint8](1, 30, 20, 5, 0))
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		checkRefusals(t, map[string]refusal{
			"a large patch":     {second(NonLocalMeans(x, &denoise.Options{Patch: 67})), boxsum.ErrInvalid},
			"a negative search": {second(NonLocalMeans(x, &denoise.Options{Search: -3})), boxsum.ErrInvalid},
			"a wide search":     {second(NonLocalMeans(x, &denoise.Options{Search: 4095})), boxsum.ErrInvalid},
			"channels":          {second(NonLocalMeans(y, nil)), boxsum.ErrInvalid},
			"itself":            {NonLocalMeansInto(x, x, nil), boxsum.ErrOverlap},
			"no image":          {second(NonLocalMeans[uint8](nil, nil)), boxsum.ErrInvalid},
			"no destination":    {NonLocalMeansInto(nil, x, nil), boxsum.ErrInvalid},
			"canceled":          {second(NonLocalMeans(x, &denoise.Options{Context: canceled()})), context.Canceled},
		})
	})
}

// TestDenoiseOnRefused requests what devices do not support.
func TestDenoiseOnRefused(t *testing.T) {
	im := fixture.Noise[uint8](1, 60, 40, 1, 0)
	eachDevice(t, func(t *testing.T, d *Device) {
		checkRefusals(t, map[string]refusal{
			"a large patch": {second(denoise.NonLocalMeans(im, &denoise.Options{On: d, Patch: 67})), boxsum.ErrInvalid},
		})
		checkOnRefused(t, d, func(on boxsum.Device, level boxsum.Level, ctx context.Context) error {
			return second(denoise.NonLocalMeans(im, &denoise.Options{On: on, Level: level, Context: ctx}))
		})
	})
}
