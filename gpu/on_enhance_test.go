package gpu

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/enhance"
	"github.com/boxsum/boxsum/internal/fixture"
)

// An equalization is a random image, and how to equalize it.
type equalization struct {
	width, height, channels, gap int
	flat                         bool // few levels
	seed                         uint64
	opt                          enhance.Options
}

func randomEqualization(rng *rand.Rand) equalization {
	c := equalization{width: 1 + rng.IntN(120), height: 1 + rng.IntN(90), channels: 1, gap: rng.IntN(9), flat: rng.IntN(3) == 0, seed: rng.Uint64()}
	switch rng.IntN(6) {
	case 0:
		c.width += rng.IntN(1500)
	case 1:
		c.height += rng.IntN(900)
	case 2:
		c.channels = 1 + rng.IntN(4)
	case 3:
		c.gap = 15 - (c.width+15)%16 // rows are aligned
	}
	if rng.IntN(2) == 0 {
		c.opt.Across, c.opt.Down = 1+rng.IntN(12), 1+rng.IntN(12)
	}
	c.opt.Clip = []float64{0, -1, 1, 2, 3.5, 20 * rng.Float64()}[rng.IntN(6)]
	c.opt.Color = rng.IntN(2) == 0
	return c
}

// picture returns the image.
func (c equalization) picture(bits uint) boxsum.Image[uint16] {
	img := fixture.Noise[uint16](c.seed, c.width, c.height, c.channels, c.gap)
	for i := range img.Pix {
		img.Pix[i] >>= 16 - bits
		if c.flat {
			img.Pix[i] = img.Pix[i]&3 + uint16(1)<<(bits-2)
		}
	}
	return img
}

// bytesOf returns an image of bytes.
func bytesOf(img boxsum.Image[uint16]) boxsum.Image[uint8] {
	b := boxsum.Image[uint8]{Width: img.Width, Height: img.Height, Channels: img.Channels, Stride: img.Stride, Pix: make([]uint8, len(img.Pix))}
	for i, v := range img.Pix {
		b.Pix[i] = uint8(v)
	}
	return b
}

// equalizedOn compares an image equalized on a device with one equalized on the CPU.
func equalizedOn[P FilterPixel](t *testing.T, d *Device, c equalization, src boxsum.Image[P]) {
	t.Helper()
	name := fmt.Sprintf("%T of %+v", *new(P), c)
	here, there := c.opt, c.opt
	progress := 0.0
	there.On, there.Progress = d, func(done float64) { progress = done }
	got, want := part[P](c.width, c.height, c.channels, c.gap), part[P](c.width, c.height, c.channels, c.gap)
	if err := errors.Join(enhance.CLAHEInto(got, src, &there), enhance.CLAHEInto(want, src, &here)); err != nil {
		t.Fatal(name, err)
	}
	sameParts(t, name, got, want)
	if progress != 1 {
		t.Errorf("%s: the last progress is %v", name, progress)
	}
	if c.seed%4 == 0 {
		got, want = src, src
		got.Pix, want.Pix = slices.Clone(src.Pix), slices.Clone(src.Pix)
		if err := errors.Join(enhance.CLAHEInto(got, got, &there), enhance.CLAHEInto(want, want, &here)); err != nil {
			t.Fatal(name, err)
		}
		sameParts(t, "in place: "+name, got, want)
	}
}

// TestCLAHEOn compares equalized images from host memory to host memory with the CPU's.
func TestCLAHEOn(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(8, 41))
		for range randomCases(200) {
			c := randomEqualization(rng)
			if rng.IntN(4) == 0 {
				equalizedOn(t, d, c, c.picture(16))
			} else {
				equalizedOn(t, d, c, bytesOf(c.picture(8)))
			}
		}
		c := equalization{width: 5, height: 700, channels: 1, seed: 4, opt: enhance.Options{Across: 40, Down: 1}}
		equalizedOn(t, d, c, bytesOf(c.picture(8)))
		many, _ := several(t, d, 2)
		equalizedOn(t, many, c, bytesOf(c.picture(8)))
		for _, size := range [][2]int{{0, 5}, {5, 0}, {1, 1}} {
			c := equalization{width: size[0], height: size[1], channels: 1}
			equalizedOn(t, d, c, bytesOf(c.picture(8)))
		}
	})
}

// TestCLAHEThere equalizes batches that are on a device.
func TestCLAHEThere(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(9, 41))
		for range randomCases(30) {
			c := randomEqualization(rng)
			c.opt.Color = false
			var images []boxsum.Image[uint8]
			for range 1 + rng.IntN(3) {
				c.seed = rng.Uint64()
				images = append(images, bytesOf(c.picture(8)))
			}
			src, err := Upload(d, images...)
			if err != nil {
				t.Fatal(err)
			}
			g := guardedImages[uint8](t, d, c.width, c.height, c.channels, len(images), c.gap)
			if err := CLAHEInto(g.view, src, &c.opt); err != nil {
				t.Fatal(err)
			}
			var want []boxsum.Image[uint8]
			for _, img := range images {
				w, err := enhance.CLAHE(img, &c.opt)
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
		x, err := Upload(d, fixture.Noise[uint8](1, 30, 20, 3, 0))
		if err != nil {
			t.Fatal(err)
		}
		done, stop := context.WithCancel(context.Background())
		stop()
		for name, c := range map[string]struct{ err, want error }{
			"colors":         {second(CLAHE(x, &enhance.Options{Color: true})), boxsum.ErrTypes},
			"many tiles":     {second(CLAHE(x, &enhance.Options{Across: 1 << 20})), boxsum.ErrInvalid},
			"itself":         {CLAHEInto(x, x, nil), boxsum.ErrOverlap},
			"no image":       {second(CLAHE[uint8](nil, nil)), boxsum.ErrInvalid},
			"no destination": {CLAHEInto(nil, x, nil), boxsum.ErrInvalid},
			"canceled":       {second(CLAHE(x, &enhance.Options{Context: done})), context.Canceled},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v, want %v", name, c.err, c.want)
			}
		}
	})
}

// TestCLAHEOnRefused requests what devices do not support.
func TestCLAHEOnRefused(t *testing.T) {
	im := fixture.Noise[uint8](1, 60, 40, 1, 0)
	done, stop := context.WithCancel(context.Background())
	stop()
	eachDevice(t, func(t *testing.T, d *Device) {
		for name, c := range map[string]struct{ err, want error }{
			"a level":   {second(enhance.CLAHE(im, &enhance.Options{On: d, Level: boxsum.Levels()[len(boxsum.Levels())-1]})), boxsum.ErrInvalid},
			"no device": {second(enhance.CLAHE(im, &enhance.Options{On: (*Device)(nil)})), ErrNoDevice},
			"canceled":  {second(enhance.CLAHE(im, &enhance.Options{On: d, Context: done})), context.Canceled},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v, want %v", name, c.err, c.want)
			}
		}
		little, backends := several(t, d, 2)
		for _, b := range backends {
			b.limit = 100 << 10
		}
		if _, err := enhance.CLAHE(fixture.Noise[uint8](1, 600, 400, 1, 0), &enhance.Options{On: little}); !errors.Is(err, boxsum.ErrMemory) {
			t.Errorf("an image that does not fit: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := enhance.CLAHE(im, &enhance.Options{On: d}); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("a closed device: %v", err)
		}
	})
}
