package gpu

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	name, opt := fmt.Sprintf("%T of %+v", *new(P), c), c.opt
	sameOn(t, d, name, parts[P](c.width, c.height, c.channels, c.gap), func(dst boxsum.Image[P], on boxsum.Device, progress func(float64)) error {
		opt.On, opt.Progress = on, progress
		return enhance.CLAHEInto(dst, src, &opt)
	})
	if c.seed%4 == 0 {
		sameOn(t, d, "in place: "+name, clones(src), func(img boxsum.Image[P], on boxsum.Device, progress func(float64)) error {
			opt.On, opt.Progress = on, progress
			return enhance.CLAHEInto(img, img, &opt)
		})
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
			if !sameThere(t, d, fmt.Sprintf("%+v", c), c.gap, images,
				func(dst, src *Image[uint8]) error { return CLAHEInto(dst, src, &c.opt) },
				func(img boxsum.Image[uint8]) (boxsum.Image[uint8], error) { return enhance.CLAHE(img, &c.opt) }) {
				return
			}
		}
		x, err := Upload(d, fixture.Noise[uint8](1, 30, 20, 3, 0))
		if err != nil {
			t.Fatal(err)
		}
		checkRefusals(t, map[string]refusal{
			"colors":         {second(CLAHE(x, &enhance.Options{Color: true})), boxsum.ErrTypes},
			"many tiles":     {second(CLAHE(x, &enhance.Options{Across: 1 << 20})), boxsum.ErrInvalid},
			"itself":         {CLAHEInto(x, x, nil), boxsum.ErrOverlap},
			"no image":       {second(CLAHE[uint8](nil, nil)), boxsum.ErrInvalid},
			"no destination": {CLAHEInto(nil, x, nil), boxsum.ErrInvalid},
			"canceled":       {second(CLAHE(x, &enhance.Options{Context: canceled()})), context.Canceled},
		})
	})
}

// TestCLAHEOnRefused requests what devices do not support.
func TestCLAHEOnRefused(t *testing.T) {
	im := fixture.Noise[uint8](1, 60, 40, 1, 0)
	eachDevice(t, func(t *testing.T, d *Device) {
		little, backends := several(t, d, 2)
		limitMemory(backends, 100<<10)
		checkRefusals(t, map[string]refusal{
			"an image that does not fit": {second(enhance.CLAHE(fixture.Noise[uint8](1, 600, 400, 1, 0), &enhance.Options{On: little})), boxsum.ErrMemory},
		})
		checkOnRefused(t, d, func(on boxsum.Device, level boxsum.Level, ctx context.Context) error {
			return second(enhance.CLAHE(im, &enhance.Options{On: on, Level: level, Context: ctx}))
		})
	})
}
