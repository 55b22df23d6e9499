package gpu

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/detect"
)

// TestDetectOn compares the objects that devices find in images in host memory with the CPU's results.
func TestDetectOn(t *testing.T) {
	cascades, _ := cascadesOf(t, "haarcascade_frontalface_*.xml")
	c, total := cascades[1], 0
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(6, 35))
		batch := func(n, w, h, channels int) (images []boxsum.Image[uint8]) {
			for range n {
				images = append(images, blotches(rng, w, h, channels))
			}
			return images
		}
		check := func(d *Device, images []boxsum.Image[uint8], here detect.Options) {
			t.Helper()
			there, progress := here, 0.0
			there.On, there.Progress = d, func(done float64) { progress = done }
			total += sameFound(t, c, images, &there, &here, detect.Result{Neighbors: 77}, slices.Equal)
			if progress != 1 {
				t.Errorf("the last progress is %v", progress)
			}
		}
		for _, channels := range []int{1, 3, 4} {
			check(d, batch(2, 50+rng.IntN(40), 40+rng.IntN(40), channels), detect.Options{Ungrouped: channels == 3, BGR: channels == 4, Neighbors: 1})
		}
		check(d, batch(2, 10, 9, 1), detect.Options{}) // smaller than the window
		check(d, []boxsum.Image[uint8]{{Height: 9}}, detect.Options{})
		whole := blotches(rng, 90, 70, 1)
		part := boxsum.Image[uint8]{Pix: whole.Pix[11*whole.Stride+5:], Width: 70, Height: 50, Stride: whole.Stride}
		check(d, []boxsum.Image[uint8]{part}, detect.Options{Neighbors: 1, Ignore: []image.Rectangle{image.Rect(0, 0, 30, 30)}})
		img := &image.Gray{Pix: whole.Pix, Stride: whole.Stride, Rect: image.Rect(-3, 5, 87, 75)}
		got, err := c.DetectImage(img, &detect.Options{On: d})
		if want, _ := c.DetectImage(img, nil); err != nil || !slices.Equal(got, want) {
			t.Errorf("image.Gray: %v, %v", err, got)
		}

		many, backends := several(t, d, 3)
		for _, n := range []int{1, 2, 7} {
			check(many, batch(n, 60, 50, 1), detect.Options{Neighbors: 1})
		}
		allLaunched(t, backends)
		if failed := many.Failed(); failed != nil {
			t.Error(failed)
		}
		backends[1].lives = 0
		check(many, batch(4, 60, 50, 1), detect.Options{Neighbors: 1})
		if failed := many.Failed(); len(failed) != 1 {
			t.Errorf("failed are %v", failed)
		}
	})
	if total == 0 && !t.Failed() {
		t.Error("nothing was found")
	}
}

// TestDetectOnMemory searches more images than a device has room for at once.
func TestDetectOnMemory(t *testing.T) {
	cascades, _ := cascadesOf(t, "haarcascade_frontalface_*.xml")
	eachDevice(t, func(t *testing.T, real *Device) {
		many, backends := several(t, real, 2)
		rng := rand.New(rand.NewPCG(7, 35))
		var images []boxsum.Image[uint8]
		for range 6 {
			images = append(images, blotches(rng, 500, 400, 1))
		}
		opt := &detect.Options{Min: image.Pt(200, 200)}
		want, err := cascades[1].DetectBatch(images, opt)
		if err != nil {
			t.Fatal(err)
		}
		opt.On = many.Members()[0]
		if _, err := cascades[1].Detect(images[0], opt); err != nil {
			t.Fatal(err)
		}
		backends[0].limit = backends[0].used + 300<<10 // room for one more image
		got, err := cascades[1].DetectBatch(images, opt)
		if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%v, %.300v\nwant %.300v", err, fmt.Sprint(got), fmt.Sprint(want))
		}
		backends[0].limit = 100 << 10
		if _, err := cascades[1].DetectBatch(images, opt); !errors.Is(err, boxsum.ErrMemory) {
			t.Errorf("an image that does not fit: %v", err)
		}
	})
}

// TestDetectOnRefused requests searches that devices do not support.
func TestDetectOnRefused(t *testing.T) {
	cascades, _ := cascadesOf(t, "haarcascade_frontalface_*.xml")
	c := cascades[1]
	img := blotches(rand.New(rand.NewPCG(1, 2)), 60, 50, 1)
	two := boxsum.Image[uint8]{Pix: img.Pix, Stride: img.Stride, Width: 30, Height: 50, Channels: 2}
	eachDevice(t, func(t *testing.T, d *Device) {
		many, _ := several(t, d, 2)
		detectOn := func(img boxsum.Image[uint8], opt detect.Options) error {
			opt.On = many
			return second(c.Detect(img, &opt))
		}
		checkRefusals(t, map[string]refusal{
			"no cascade":  {second((*detect.Cascade)(nil).Detect(img, &detect.Options{On: d})), boxsum.ErrInvalid},
			"channels":    {detectOn(two, detect.Options{}), boxsum.ErrInvalid},
			"short":       {detectOn(boxsum.Image[uint8]{Pix: img.Pix[:9], Width: 60, Height: 50}, detect.Options{}), boxsum.ErrInvalid},
			"angles":      {detectOn(img, detect.Options{Angles: []float64{30}}), boxsum.ErrInvalid},
			"mirror":      {detectOn(img, detect.Options{Mirror: true}), boxsum.ErrInvalid},
			"near misses": {detectOn(img, detect.Options{NearMisses: 2}), boxsum.ErrInvalid},
			"scale":       {detectOn(img, detect.Options{Scale: 0.5}), boxsum.ErrInvalid},
			"a limit":     {detectOn(img, detect.Options{Limit: 1}), boxsum.ErrInvalid},
		})
		for _, opt := range []*detect.Options{nil, {On: d}, {On: many}} { // even if each device gets one size
			if _, err := c.DetectBatch([]boxsum.Image[uint8]{img, {Pix: img.Pix, Width: 50, Height: 60}}, opt); !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("two sizes: %v", err)
			}
			if found, err := c.DetectBatch(nil, opt); err != nil || len(found) != 0 {
				t.Errorf("no images: %v, %v", found, err)
			}
		}
		if failed := many.Failed(); failed != nil {
			t.Error(failed)
		}
		for _, d := range []*Device{many, d} {
			checkOnRefused(t, d, func(on boxsum.Device, level boxsum.Level, ctx context.Context) error {
				return second(c.Detect(img, &detect.Options{On: on, Level: level, Context: ctx}))
			})
		}
	})
}
