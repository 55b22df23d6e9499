package gpu

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
	frames, index := film[P](c), int(c.seed%uint64(c.frames))
	here, there := c.opt, c.opt
	progress := 0.0
	there.On, there.Progress = d, func(done float64) { progress = done }
	got, want := part[P](c.width, c.height, c.channels, c.gap), part[P](c.width, c.height, c.channels, c.gap)
	if err := errors.Join(denoise.FramesNonLocalMeansInto(got, frames, index, &there), denoise.FramesNonLocalMeansInto(want, frames, index, &here)); err != nil {
		t.Fatal(name, err)
	}
	sameParts(t, name, got, want)
	if progress != 1 {
		t.Errorf("%s: the last progress is %v", name, progress)
	}
	if c.seed%4 == 0 {
		got, want = frames[0], frames[0]
		got.Pix, want.Pix = slices.Clone(got.Pix), slices.Clone(want.Pix)
		if err := errors.Join(denoise.NonLocalMeansInto(got, got, &there), denoise.NonLocalMeansInto(want, want, &here)); err != nil {
			t.Fatal(name, err)
		}
		sameParts(t, "in place: "+name, got, want)
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
	eachDevice(t, func(t *testing.T, real *Device) {
		d, backends := several(t, real, 3)
		c := denoising{width: 40, height: 301, channels: 1, frames: 2, seed: 4, opt: denoise.Options{Patch: 5, Search: 5, Strength: 20}}
		denoisedOn[uint8](t, d, c)
		for i, b := range backends {
			if b.launches == 0 {
				t.Errorf("device %d did nothing", i)
			}
			b.limit = 400 << 10
		}
		denoisedOn[uint8](t, d.Members()[0], c)
		backends[1].lives, backends[2].lives, backends[0].limit = 0, 0, 0
		denoisedOn[uint8](t, d, c)
		if failed := d.Failed(); len(failed) == 0 {
			t.Error("no device has failed")
		}
	})
}

// TestDenoiseThere denoises batches that are on a device.
func TestDenoiseThere(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(13, 41))
		for range randomCases(20) {
			c := randomDenoising(rng)
			c.frames = 1 + rng.IntN(3)
			images := film[uint8](c)
			src, err := Upload(d, images...)
			if err != nil {
				t.Fatal(err)
			}
			g := guardedImages[uint8](t, d, c.width, c.height, c.channels, len(images), c.gap)
			if err := NonLocalMeansInto(g.view, src, &c.opt); err != nil {
				t.Fatal(err)
			}
			var want []boxsum.Image[uint8]
			for _, img := range images {
				w, err := denoise.NonLocalMeans(img, &c.opt)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, w)
			}
			if !g.check(t, fmt.Sprintf("%+v", c), want) {
				return
			}
			if err := src.Close(); err != nil {
				t.Fatal(err)
			}
		}
		x, err := Upload(d, fixture.Noise[uint8](1, 30, 20, 1, 0))
		y, wrong := Upload(d, fixture.Noise[uint8](1, 30, 20, 5, 0))
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		done, stop := context.WithCancel(context.Background())
		stop()
		for name, c := range map[string]struct{ err, want error }{
			"a large patch":     {second(NonLocalMeans(x, &denoise.Options{Patch: 67})), boxsum.ErrInvalid},
			"a negative search": {second(NonLocalMeans(x, &denoise.Options{Search: -3})), boxsum.ErrInvalid},
			"a wide search":     {second(NonLocalMeans(x, &denoise.Options{Search: 4095})), boxsum.ErrInvalid},
			"channels":          {second(NonLocalMeans(y, nil)), boxsum.ErrInvalid},
			"itself":            {NonLocalMeansInto(x, x, nil), boxsum.ErrOverlap},
			"no image":          {second(NonLocalMeans[uint8](nil, nil)), boxsum.ErrInvalid},
			"no destination":    {NonLocalMeansInto(nil, x, nil), boxsum.ErrInvalid},
			"canceled":          {second(NonLocalMeans(x, &denoise.Options{Context: done})), context.Canceled},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v, want %v", name, c.err, c.want)
			}
		}
	})
}

// TestDenoiseOnRefused requests what devices do not support.
func TestDenoiseOnRefused(t *testing.T) {
	im := fixture.Noise[uint8](1, 60, 40, 1, 0)
	done, stop := context.WithCancel(context.Background())
	stop()
	eachDevice(t, func(t *testing.T, d *Device) {
		for name, c := range map[string]struct{ err, want error }{
			"a large patch": {second(denoise.NonLocalMeans(im, &denoise.Options{On: d, Patch: 67})), boxsum.ErrInvalid},
			"a level":       {second(denoise.NonLocalMeans(im, &denoise.Options{On: d, Level: boxsum.Levels()[len(boxsum.Levels())-1]})), boxsum.ErrInvalid},
			"no device":     {second(denoise.NonLocalMeans(im, &denoise.Options{On: (*Device)(nil)})), ErrNoDevice},
			"canceled":      {second(denoise.NonLocalMeans(im, &denoise.Options{On: d, Context: done})), context.Canceled},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v, want %v", name, c.err, c.want)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := denoise.NonLocalMeans(im, &denoise.Options{On: d}); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("a closed device: %v", err)
		}
	})
}
