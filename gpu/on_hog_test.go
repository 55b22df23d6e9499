package gpu

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/hog"
)

// randomHOG returns a descriptor of small windows, in all kinds of blocks, with random coefficients.
func randomHOG(rng *rand.Rand) *hog.Descriptor {
	one := func() int { return []int{1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 12, 16}[rng.IntN(12)] }
	c := hog.Config{
		Cell: image.Pt(one(), one()), Stride: image.Pt(one(), one()), Bins: []int{9, 9, 9, 1, 2, 3, 8, 18, 19, 37, 256}[rng.IntN(11)],
		Signed: rng.IntN(2) == 0, Linear: rng.IntN(3) == 0, Levels: []int{0, 0, 1, 3}[rng.IntN(4)],
	}
	c.Block = image.Pt(c.Cell.X*(1+rng.IntN(3)), c.Cell.Y*(1+rng.IntN(3)))
	c.Window = image.Pt(c.Block.X+c.Stride.X*rng.IntN(5), c.Block.Y+c.Stride.Y*rng.IntN(5))
	if rng.IntN(3) == 0 {
		c.Sigma, c.Clip = 0.3+8*rng.Float64(), 0.05+rng.Float64()
	}
	if rng.IntN(3) == 0 {
		c = hog.Config{Window: image.Pt(48, 64), Signed: c.Signed, Linear: c.Linear}
	}
	d, err := hog.New(c)
	if err != nil {
		panic(err)
	}
	c.Coefficients = make([]float32, d.Size()+rng.IntN(2))
	for i := range c.Coefficients {
		c.Coefficients[i] = float32(rng.NormFloat64()) * 0.1
	}
	if d, err = hog.New(c); err != nil {
		panic(err)
	}
	return d
}

// randomHOGOptions returns options for a descriptor.
func randomHOGOptions(rng *rand.Rand, size image.Point) hog.Options {
	o := hog.Options{
		Threshold: rng.NormFloat64() * 0.3, Scale: 1.05 + rng.Float64()/2, Neighbors: rng.IntN(3), Ungrouped: rng.IntN(2) == 0,
		BGR: rng.IntN(2) == 0, MeanShift: rng.IntN(6) == 0,
	}
	if o.MeanShift { // whose time grows with the square of the number of windows
		o.Threshold++
	}
	switch rng.IntN(4) {
	case 0:
		o.Step = image.Pt(1+rng.IntN(20), 1+rng.IntN(20))
	case 1:
		o.Padding = image.Pt(rng.IntN(2*size.X), rng.IntN(2*size.Y))
	case 2:
		o.Min, o.Max = image.Pt(rng.IntN(2*size.X), rng.IntN(2*size.Y)), image.Pt(size.X+rng.IntN(2*size.X), size.Y+rng.IntN(2*size.Y))
	}
	if rng.IntN(4) == 0 {
		o.Ignore = []image.Rectangle{image.Rect(0, 0, size.X, size.Y)}
	}
	return o
}

// sameResults compares results bit for bit; scores may be NaN.
func sameResults(a, b []hog.Result) bool {
	return slices.EqualFunc(a, b, func(a, b hog.Result) bool {
		same := math.Float64bits(a.Score) == math.Float64bits(b.Score)
		a.Score, b.Score = 0, 0
		return same && a == b
	})
}

// TestHOG compares results and scores with the CPU's, for images in host memory and on the device.
// BOXSUM_GPU_DETECTIONS sets the number of frames.
func TestHOG(t *testing.T) {
	frames := devtest.Count(t, "BOXSUM_GPU_DETECTIONS", 200)
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(40, 1))
		total := 0
		for done := 0; done < frames; {
			c := randomHOG(rng)
			size := c.Config().Window
			channels := []int{1, 1, 3, 4}[rng.IntN(4)]
			w, h := max(1, size.X-2+rng.IntN(40+size.X)), max(1, size.Y-2+rng.IntN(40+size.Y))
			var images []boxsum.Image[uint8]
			for range 1 + rng.IntN(3) {
				images = append(images, blotches(rng, w, h, channels))
			}
			done += len(images)
			o := randomHOGOptions(rng, size)
			want, err := c.DetectBatch(images, &o)
			if err != nil {
				t.Fatal(err)
			}
			on := o
			on.On = d
			got, err := c.DetectBatch(images, &on)
			if err != nil || !slices.EqualFunc(got, want, sameResults) {
				t.Fatalf("frame %d, %d images of %d×%d×%d, %+v, %+v: %v, %.300v\nwant %.300v", done, len(images), w, h, channels, c, o, err, fmt.Sprint(got), fmt.Sprint(want))
			}
			src, err := Upload(d, images...)
			if err != nil {
				t.Fatal(err)
			}
			got, err = DetectHOG(src, c, &o)
			if err != nil || !slices.EqualFunc(got, want, sameResults) {
				t.Fatalf("frame %d, on the device: %v, %.300v\nwant %.300v", done, err, fmt.Sprint(got), fmt.Sprint(want))
			}
			if err := src.Close(); err != nil {
				t.Fatal(err)
			}
			for _, found := range want {
				total += len(found)
			}
		}
		t.Logf("%d results in %d frames", total, frames)
		if total == 0 {
			t.Error("nothing was found")
		}
	})
}

// onHOG returns a descriptor with windows of 24×32 pixels and random coefficients, of which the last one
// is added to every score.
func onHOG(t *testing.T, bias float32) *hog.Descriptor {
	t.Helper()
	c := hog.Config{Window: image.Pt(24, 32)}
	d, err := hog.New(c)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(40, 2))
	for range d.Size() {
		c.Coefficients = append(c.Coefficients, float32(rng.NormFloat64())*0.1)
	}
	c.Coefficients = append(c.Coefficients, bias)
	if d, err = hog.New(c); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestHOGOn searches images of several forms in host memory, on one device and on several.
func TestHOGOn(t *testing.T) {
	c := onHOG(t, 0.1)
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(40, 3))
		total := 0
		batch := func(n, w, h, channels int) (images []boxsum.Image[uint8]) {
			for range n {
				images = append(images, blotches(rng, w, h, channels))
			}
			return images
		}
		check := func(d *Device, images []boxsum.Image[uint8], here hog.Options) {
			t.Helper()
			there, progress := here, 0.0
			there.On, there.Progress = d, func(done float64) { progress = done }
			total += sameFound(t, c, images, &there, &here, hog.Result{Neighbors: 77}, sameResults)
			if progress != 1 {
				t.Errorf("the last progress is %v", progress)
			}
		}
		for _, channels := range []int{1, 3, 4} {
			check(d, batch(2, 50+rng.IntN(40), 40+rng.IntN(40), channels), hog.Options{Ungrouped: channels == 3, BGR: channels == 4, Neighbors: 1})
		}
		check(d, batch(2, 10, 9, 1), hog.Options{}) // smaller than the window
		check(d, batch(1, 1, 1, 3), hog.Options{Padding: image.Pt(40, 40), Ungrouped: true, Threshold: -9})
		check(d, []boxsum.Image[uint8]{{Height: 9}}, hog.Options{})
		check(d, batch(1, 1032, 400, 1), hog.Options{Scale: 1, Ungrouped: true, Threshold: -9}) // rows of a long and a short chunk
		whole := blotches(rng, 90, 70, 1)
		part := boxsum.Image[uint8]{Pix: whole.Pix[11*whole.Stride+5:], Width: 70, Height: 50, Stride: whole.Stride}
		check(d, []boxsum.Image[uint8]{part}, hog.Options{Neighbors: 1, Ignore: []image.Rectangle{image.Rect(0, 0, 30, 30)}})
		check(d, []boxsum.Image[uint8]{part}, hog.Options{Ungrouped: true, Threshold: -9, Limit: 60, Ignore: []image.Rectangle{image.Rect(0, 0, 70, 30)}}) // more before windows are ignored
		all, err := c.Detect(whole, &hog.Options{Ungrouped: true})
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		check(d, []boxsum.Image[uint8]{whole}, hog.Options{Ungrouped: true, Threshold: all[0].Score}) // which suffices
		img := &image.Gray{Pix: whole.Pix, Stride: whole.Stride, Rect: image.Rect(-3, 5, 87, 75)}
		got, err := c.DetectImage(img, &hog.Options{On: d})
		if want, _ := c.DetectImage(img, nil); err != nil || !sameResults(got, want) {
			t.Errorf("image.Gray: %v, %v", err, got)
		}

		many, backends := several(t, d, 3)
		for _, n := range []int{1, 2, 7} {
			check(many, batch(n, 60, 50, 1), hog.Options{Neighbors: 1})
		}
		allLaunched(t, backends)
		if failed := many.Failed(); failed != nil {
			t.Error(failed)
		}
		backends[1].lives = 0
		check(many, batch(4, 60, 50, 1), hog.Options{Neighbors: 1})
		if failed := many.Failed(); len(failed) != 1 {
			t.Errorf("failed are %v", failed)
		}
		if total == 0 {
			t.Error("nothing was found")
		}
	})
}

// TestHOGOnMemory searches images in parts: fewer images, levels or rows of windows at a time than a device
// has room for.
func TestHOGOnMemory(t *testing.T) {
	c := onHOG(t, -0.3)
	eachDevice(t, func(t *testing.T, real *Device) {
		rng := rand.New(rand.NewPCG(40, 4))
		var images []boxsum.Image[uint8]
		for range 3 {
			images = append(images, blotches(rng, 300, 200, 1))
		}
		opt := &hog.Options{Step: image.Pt(4, 4), Ungrouped: true}
		want, err := c.DetectBatch(images, opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range []int64{16 << 20, 8 << 20, 2600 << 10, 1500 << 10} {
			many, backends := several(t, real, 2)
			backends[0].limit = room
			opt.On = many.Members()[0]
			got, err := c.DetectBatch(images, opt)
			if err != nil || !slices.EqualFunc(got, want, sameResults) {
				t.Errorf("%d bytes: %v, %.300v\nwant %.300v", room, err, fmt.Sprint(got), fmt.Sprint(want))
			}
			t.Logf("%d bytes: %d launches", room, backends[0].launches)
		}
		many, backends := several(t, real, 2)
		backends[0].limit = 100 << 10
		opt.On = many.Members()[0]
		if _, err := c.DetectBatch(images, opt); !errors.Is(err, boxsum.ErrMemory) {
			t.Errorf("an image that does not fit: %v", err)
		}
	})
}

// TestHOGOnRefused requests searches with invalid arguments, whose errors are the CPU's, and others that only
// devices refuse.
func TestHOGOnRefused(t *testing.T) {
	c := onHOG(t, 0.1)
	bare, err := hog.New(hog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	img := blotches(rand.New(rand.NewPCG(1, 2)), 60, 50, 1)
	two := boxsum.Image[uint8]{Pix: img.Pix, Stride: img.Stride, Width: 30, Height: 50, Channels: 2}
	nan := math.NaN()
	eachDevice(t, func(t *testing.T, d *Device) {
		many, _ := several(t, d, 2)
		for name, test := range map[string]struct {
			c    *hog.Descriptor
			img  boxsum.Image[uint8]
			opt  hog.Options
			want error
		}{
			"no descriptor":   {nil, img, hog.Options{}, boxsum.ErrInvalid},
			"empty":           {new(hog.Descriptor), img, hog.Options{}, boxsum.ErrInvalid},
			"no coefficients": {bare, img, hog.Options{}, boxsum.ErrInvalid},
			"channels":        {c, two, hog.Options{}, boxsum.ErrInvalid},
			"short":           {c, boxsum.Image[uint8]{Pix: img.Pix[:9], Width: 60, Height: 50}, hog.Options{}, boxsum.ErrInvalid},
			"negative":        {c, boxsum.Image[uint8]{Pix: img.Pix, Width: -1, Height: 50}, hog.Options{}, boxsum.ErrInvalid},
			"threshold":       {c, img, hog.Options{Threshold: nan}, boxsum.ErrInvalid},
			"scale":           {c, img, hog.Options{Scale: 0.5}, boxsum.ErrInvalid},
			"infinite scale":  {c, img, hog.Options{Scale: math.Inf(1)}, boxsum.ErrInvalid},
			"step":            {c, img, hog.Options{Step: image.Pt(0, 8)}, boxsum.ErrInvalid},
			"huge step":       {c, img, hog.Options{Step: image.Pt(8, 1<<20)}, boxsum.ErrInvalid},
			"padding":         {c, img, hog.Options{Padding: image.Pt(-1, 0)}, boxsum.ErrInvalid},
			"huge padding":    {c, img, hog.Options{Padding: image.Pt(0, 1e6)}, boxsum.ErrInvalid},
			"neighbors":       {c, img, hog.Options{Neighbors: -1}, boxsum.ErrInvalid},
			"density":         {c, img, hog.Options{Density: nan}, boxsum.ErrInvalid},
			"sizes":           {c, img, hog.Options{Min: image.Pt(-1, 0)}, boxsum.ErrInvalid},
			"limit":           {c, img, hog.Options{Limit: 3, Threshold: -100}, boxsum.ErrInvalid},
			"workers":         {c, img, hog.Options{Workers: -1}, boxsum.ErrInvalid},
			"canceled":        {c, img, hog.Options{Context: canceled()}, context.Canceled},
		} {
			_, want := test.c.Detect(test.img, &test.opt)
			test.opt.On = many
			found, err := test.c.Detect(test.img, &test.opt)
			if found != nil || !errors.Is(err, test.want) || err.Error() != want.Error() {
				t.Errorf("%s: %v, %v, want %v", name, found, err, want)
			}
		}
		checkRefusals(t, map[string]refusal{
			"a side": {second(c.Detect(boxsum.Image[uint8]{Pix: make([]uint8, 1<<22+1), Width: 1<<22 + 1, Height: 1}, &hog.Options{On: many})), boxsum.ErrInvalid},
		})
		for _, opt := range []*hog.Options{nil, {On: d}, {On: many}} { // even if each device gets one size
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
		src, err := Upload(d, img, img)
		if err != nil {
			t.Fatal(err)
		}
		gray, err := NewImage[uint8](d, 40, 40, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"no image":      second(DetectHOG(nil, c, nil)),
			"no descriptor": second(DetectHOG(src, nil, nil)),
			"channels":      second(DetectHOG(gray, c, nil)),
			"scale":         second(DetectHOG(src, c, &hog.Options{Scale: 0.5})),
			"limit":         second(DetectHOG(src, c, &hog.Options{Limit: 1, Threshold: -9})),
		} {
			if !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("images on the device, %s: %v", name, err)
			}
		}
		if err := gray.Close(); err != nil {
			t.Fatal(err)
		}
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := DetectHOG(src, c, nil); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("closed images: %v", err)
		}
		for _, d := range []*Device{many, d} {
			checkOnRefused(t, d, func(on boxsum.Device, level boxsum.Level, ctx context.Context) error {
				return second(c.Detect(img, &hog.Options{On: on, Level: level, Context: ctx}))
			})
		}
	})
}
