package gpu

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/fixture"
)

// filtersOn compares all filters that devices support with the CPU's.
func filtersOn[P FilterPixel](t *testing.T, d *Device, c filterCase) {
	t.Helper()
	name := fmt.Sprintf("%T of %+v", *new(P), c)
	src := fixture.Noise[P](c.seed, c.width, c.height, c.channels, c.gap)
	here := &filter.Options{Border: c.border, Value: c.value}
	progress := 0.0
	there := &filter.Options{Border: c.border, Value: c.value, On: d, Progress: func(done float64) { progress = done }}
	for _, level := range []boxsum.Level{{}, portable} {
		there.Level = level
		got, want := part[P](c.width, c.height, c.channels, c.gap), part[P](c.width, c.height, c.channels, c.gap)
		if err := errors.Join(filter.BoxInto(got, src, c.window, there), filter.BoxInto(want, src, c.window, here)); err != nil {
			t.Fatal(name, err)
		}
		sameParts(t, "means of "+name, got, want)
		var got32, want32 [4]boxsum.Image[float32]
		for i := range got32 {
			got32[i], want32[i] = part[float32](c.width, c.height, c.channels, c.gap), part[float32](c.width, c.height, c.channels, c.gap)
		}
		for _, to := range []struct {
			results [4]boxsum.Image[float32]
			opt     *filter.Options
		}{{got32, there}, {want32, here}} {
			r := to.results
			if err := errors.Join(filter.MeanInto(r[0], src, c.window, to.opt), filter.StdDevInto(r[1], src, c.window, to.opt), filter.MeanStdDevInto(r[2], r[3], src, c.window, to.opt)); err != nil {
				t.Fatal(name, err)
			}
		}
		for i, kind := range []string{"float means of ", "deviations of ", "means beside deviations of ", "deviations beside means of "} {
			sameParts(t, kind+name, got32[i], want32[i])
		}
		if progress != 1 {
			t.Errorf("%s: the last progress is %v", name, progress)
		}
		sameOn(t, d, "in place: "+name, clones(src), func(img boxsum.Image[P], on boxsum.Device, progress func(float64)) error {
			opt := &filter.Options{Border: c.border, Value: c.value, On: on, Progress: progress}
			if on != nil {
				opt.Level = level
			}
			return filter.BoxInto(img, img, c.window, opt)
		})
		small, err := filter.Downsample(src, c.window.Width, c.window.Height, there)
		if err != nil {
			t.Fatal(name, err)
		}
		if want, err = filter.Downsample(src, c.window.Width, c.window.Height, here); err != nil {
			t.Fatal(name, err)
		}
		sameParts(t, "smaller: "+name, small, want)
		if t.Failed() {
			return
		}
	}
}

// TestFilterOn compares filters from host memory to host memory with the CPU's.
func TestFilterOn(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(3, 35))
		count := 20
		if testing.Short() {
			count = 6
		}
		for range count {
			c := randomCase(rng)
			filtersOn[uint8](t, d, c)
			filtersOn[uint16](t, d, c)
		}
		for _, size := range []image.Point{{0, 5}, {5, 0}, {1, 1}} {
			filtersOn[uint8](t, d, filterCase{width: size.X, height: size.Y, channels: 1, window: filter.Square(3)})
		}
	})
}

// TestFilterOnSeveral divides images among devices, some of which fail or have little memory.
func TestFilterOnSeveral(t *testing.T) {
	eachDevice(t, func(t *testing.T, real *Device) {
		d, backends := several(t, real, 3)
		rng := rand.New(rand.NewPCG(4, 35))
		for border := filter.Reflect101; border <= filter.Clip; border++ {
			for _, height := range []int{1, 3 * shareRows, 401} {
				w := filter.Window{Width: 1 + rng.IntN(9), Height: 1 + rng.IntN(150)}
				w.Shift.Y = rng.IntN(w.Height) - (w.Height-1)/2
				filtersOn[uint8](t, d, filterCase{width: 1 + rng.IntN(40), height: height, channels: 1 + rng.IntN(3), gap: rng.IntN(4), window: w, border: border, seed: rng.Uint64()})
			}
		}
		allLaunched(t, backends)
		limitMemory(backends, 200<<10)
		filtersOn[uint16](t, d, filterCase{width: 100, height: 500, channels: 1, window: filter.Square(9)})
		filtersOn[uint16](t, d.Members()[0], filterCase{width: 100, height: 500, channels: 1, window: filter.Square(9)})
		if failed := d.Failed(); failed != nil {
			t.Error(failed)
		}
		opt := &filter.Options{On: d, Border: filter.Wrap}
		img := fixture.Noise[uint8](1, 700, 500, 1, 0)
		if _, err := filter.Box(img, filter.Square(9), opt); !errors.Is(err, boxsum.ErrMemory) {
			t.Errorf("an image that wraps around and does not fit: %v", err)
		}
		for _, b := range backends[1:] {
			b.lives = 0
		}
		backends[0].limit = 0
		filtersOn[uint8](t, d, filterCase{width: 30, height: 400, channels: 1, window: filter.Square(9)})
		if failed := d.Failed(); len(failed) != 3 { // the first one had too little memory
			t.Errorf("failed are %v", failed)
		}
		backends[0].lives = 0
		if _, err := filter.Box(img, filter.Square(9), &filter.Options{On: d}); !errors.Is(err, errLost) {
			t.Errorf("all are lost: %v", err)
		}
	})
}

// TestFilterOnRefused requests filters that devices do not support.
func TestFilterOnRefused(t *testing.T) {
	im := fixture.Noise[uint8](1, 6, 5, 1, 0)
	floats := fixture.Noise[float32](1, 6, 5, 1, 0)
	w := filter.Square(3)
	eachDevice(t, func(t *testing.T, d *Device) {
		opt := &filter.Options{On: d}
		_, _, doubles := filter.MeanStdDev[float64](im, w, opt)
		checkRefusals(t, map[string]refusal{
			"sum":            {second(filter.Sum[uint32](im, w, opt)), boxsum.ErrInvalid},
			"variance":       {second(filter.Variance[float32](im, w, opt)), boxsum.ErrInvalid},
			"contrast":       {second(filter.Normalize[float32](im, w, 1, opt)), boxsum.ErrInvalid},
			"Gaussian":       {second(filter.Gaussian(im, filter.Sigma{X: 1, Y: 1}, opt)), boxsum.ErrInvalid},
			"median":         {second(filter.Median(im, w, opt)), boxsum.ErrInvalid},
			"guided":         {second(filter.Guided(im, im, w, 1, opt)), boxsum.ErrInvalid},
			"much smaller":   {second(filter.Downsample(fixture.Noise[uint8](1, 1<<16, 1, 1, 0), 1<<16, 1, opt)), boxsum.ErrInvalid},
			"radii":          {second(filter.BoxRadii(im, im, opt)), boxsum.ErrInvalid},
			"brightest":      {second(filter.Brightest(im, 2, 2, 1, opt)), boxsum.ErrInvalid},
			"a stream":       {second(filter.NewBoxStream[uint8](6, 1, w, opt)), boxsum.ErrInvalid},
			"valid":          {second(filter.Box(im, w, &filter.Options{On: d, Valid: boxsum.Valid{Mask: im}})), boxsum.ErrInvalid},
			"a large window": {second(filter.Box(im, filter.Square(5000), opt)), boxsum.ErrInvalid},
			"floats":         {second(filter.Box(floats, w, opt)), boxsum.ErrTypes},
			"means of float": {second(filter.Mean[float32](floats, w, opt)), boxsum.ErrTypes},
			"doubles":        {doubles, boxsum.ErrTypes},
			"double means":   {second(filter.Mean[float64](im, w, opt)), boxsum.ErrTypes},
		})
		// A context that is canceled between two bands.
		many, _ := several(t, d, 2)
		ctx, cancel := context.WithCancel(context.Background())
		tall := fixture.Noise[uint8](1, 6, 400, 1, 0)
		_, err := filter.Box(tall, w, &filter.Options{On: many, Context: late{ctx, new(atomic.Int32)}})
		if cancel(); !errors.Is(err, context.Canceled) || many.Failed() != nil {
			t.Errorf("canceled later: %v, and %v failed", err, many.Failed())
		}
		checkOnRefused(t, d, func(on boxsum.Device, level boxsum.Level, ctx context.Context) error {
			return second(filter.Box(im, w, &filter.Options{On: on, Level: level, Context: ctx}))
		})
	})
}

// A late context is canceled after it has been asked once.
type late struct {
	context.Context
	asked *atomic.Int32
}

func (c late) Done() <-chan struct{} { return make(chan struct{}) }

func (c late) Err() error {
	if c.asked.Add(1) > 1 {
		return context.Canceled
	}
	return nil
}
