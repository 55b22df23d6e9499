package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// portable is the level that selects the portable kernels of a device.
var portable = func() boxsum.Level {
	l, err := boxsum.ParseLevel("portable")
	if err != nil {
		panic(err)
	}
	return l
}()

// levelOf returns the level that selects kernels of a device: the fastest ones for Fast.
func levelOf(k Kernels) boxsum.Level {
	if k == Portable {
		return portable
	}
	return boxsum.Level{}
}

// boxsumOn returns options, which may be nil, with a device.
func boxsumOn(d *Device, opt *boxsum.Options) *boxsum.Options {
	on := boxsum.Options{}
	if opt != nil {
		on = *opt
	}
	on.On = d
	return &on
}

func tiltedOn(d *Device, opt *boxsum.Options) *tilted.Options {
	o := boxsumOn(d, opt)
	return &tilted.Options{On: d, Level: o.Level, Context: o.Context, Progress: o.Progress}
}

func rotatedOn(d *Device, opt *boxsum.Options) *rotated.Options {
	o := boxsumOn(d, opt)
	return &rotated.Options{On: d, Level: o.Level, Context: o.Context, Progress: o.Progress}
}

func histogramOn(d *Device, opt *boxsum.Options) *histogram.Options {
	o := boxsumOn(d, opt)
	return &histogram.Options{On: d, BandRows: o.BandRows, Level: o.Level, Context: o.Context, Progress: o.Progress}
}

// TestOnRefused requests what devices do not support, and checks that nothing falls back to the
// CPU.
func TestOnRefused(t *testing.T) {
	im := fixture.Noise[uint8](1, 6, 5, 1, 0)
	wide := boxsum.Image[uint64]{Pix: make([]uint64, 6), Width: 3, Height: 2}
	eachDevice(t, func(t *testing.T, d *Device) {
		opt := &boxsum.Options{On: d}
		for name, err := range map[string]error{
			"a stream": second(boxsum.NewStream[uint32, uint8](6, 1, opt)),
			"slices":   second(volume.NewStream[uint32, uint8](6, 5, 1, opt)),
			"weights":  second(histogram.IntegrateWeighted[uint64](im, im, histogram.Bins{N: 4}, &histogram.Options{On: d})),
			"bands":    second(boxsum.Integrate[uint32](im, &boxsum.Options{On: d, BandRows: -1})),
		} {
			if !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, err := range map[string]error{
			"64-bit pixels":              second(boxsum.Integrate[uint64](wide, opt)),
			"64-bit pixels, rotated":     second(rotated.Integrate[uint64](wide, rotated.Rotation{A: 1, B: 2}, &rotated.Options{On: d})),
			"histogram of 64-bit pixels": second(histogram.Integrate(wide, histogram.Bins{N: 4, Low: 0, High: 8}, &histogram.Options{On: d})),
		} {
			if !errors.Is(err, boxsum.ErrTypes) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, level := range boxsum.Levels()[1:] {
			if _, err := boxsum.Integrate[uint32](im, &boxsum.Options{On: d, Level: level}); !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("%v: %v", level, err)
			}
		}
	})
}

// randomCases returns the number of random inputs of a test that needs so many.
func randomCases(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// part returns an image of guard values that is part of a larger one.
func part[P boxsum.Pixel](width, height, channels, pad int) boxsum.Image[P] {
	stride := width*channels + pad
	pix := make([]P, stride*height+pad)
	for i := range pix {
		pix[i] = fence
	}
	return boxsum.Image[P]{Pix: pix[pad:], Stride: stride, Width: width, Height: height, Channels: channels}
}

// parts returns a function that calls part.
func parts[P boxsum.Pixel](width, height, channels, pad int) func() boxsum.Image[P] {
	return func() boxsum.Image[P] { return part[P](width, height, channels, pad) }
}

// clones returns a function that copies an image.
func clones[P boxsum.Pixel](img boxsum.Image[P]) func() boxsum.Image[P] {
	return func() boxsum.Image[P] {
		own := img
		own.Pix = slices.Clone(img.Pix)
		return own
	}
}

// sameParts compares an image, including the gaps between its rows, with another.
func sameParts[P boxsum.Pixel](t *testing.T, name string, got, want boxsum.Image[P]) {
	t.Helper()
	if !slices.Equal(got.Pix, want.Pix) {
		i := 0
		for got.Pix[i] == want.Pix[i] {
			i++
		}
		t.Errorf("%s: element %d of row %d is %v on the device and %v on the processor", name, i%got.Stride, i/got.Stride, got.Pix[i], want.Pix[i])
	}
}

// sameOn calls compute with an image from fresh on a device, and with another one on the CPU, and compares the two
// images, including the gaps between their rows. The last progress on the device must be 1.
func sameOn[P boxsum.Pixel](t *testing.T, d *Device, name string, fresh func() boxsum.Image[P], compute func(dst boxsum.Image[P], on boxsum.Device, progress func(float64)) error) {
	t.Helper()
	got, want, last := fresh(), fresh(), 0.0
	if err := errors.Join(compute(got, d, func(done float64) { last = done }), compute(want, nil, nil)); err != nil {
		t.Fatal(name, err)
	}
	sameParts(t, name, got, want)
	if last != 1 {
		t.Errorf("%s: the last progress is %v", name, last)
	}
}

// sameThere uploads images, calls there for them and for images of the same size with gap bytes between their rows,
// and compares the results with those of here. It reports whether they are the same.
func sameThere[P boxsum.Pixel](t *testing.T, d *Device, name string, gap int, images []boxsum.Image[P], there func(dst, src *Image[P]) error, here func(img boxsum.Image[P]) (boxsum.Image[P], error)) bool {
	t.Helper()
	src, err := Upload(d, images...)
	if err != nil {
		t.Fatal(name, err)
	}
	dst := guardedImages[P](t, d, images[0].Width, images[0].Height, images[0].Channels, len(images), gap)
	if err := there(dst.view, src); err != nil {
		t.Fatal(name, err)
	}
	var want []boxsum.Image[P]
	for _, img := range images {
		w, err := here(img)
		if err != nil {
			t.Fatal(name, err)
		}
		want = append(want, w)
	}
	same := dst.check(t, name, want)
	if err := src.Close(); err != nil {
		t.Fatal(err)
	}
	return same
}

// onSeveral tests work that is divided among devices. It calls divided for three devices, which must all have a part
// of the work; little for one of them, whose memory is limited to so many bytes; and failing for three devices, two
// of which fail while the third has no memory.
func onSeveral(t *testing.T, bytes int64, divided, little, failing func(t *testing.T, d *Device)) {
	t.Helper()
	eachDevice(t, func(t *testing.T, real *Device) {
		d, backends := several(t, real, 3)
		divided(t, d)
		allLaunched(t, backends)
		limitMemory(backends, bytes)
		little(t, d.Members()[0])
		backends[1].lives, backends[2].lives, backends[0].limit = 0, 0, 0
		failing(t, d)
		if failed := d.Failed(); len(failed) == 0 {
			t.Error("no device has failed")
		}
	})
}

// allLaunched checks that every device has launched kernels.
func allLaunched(t *testing.T, backends []*mortal) {
	t.Helper()
	for i, b := range backends {
		if b.launches == 0 {
			t.Errorf("device %d did nothing", i)
		}
	}
}

// limitMemory limits the memory of every device to so many bytes.
func limitMemory(backends []*mortal, bytes int64) {
	for _, b := range backends {
		b.limit = bytes
	}
}

// A refusal holds the error of a call, and the error that it should be.
type refusal struct{ err, want error }

// checkRefusals checks the errors of calls.
func checkRefusals(t *testing.T, calls map[string]refusal) {
	t.Helper()
	for name, c := range calls {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

// checkOnRefused checks what every function refuses: an instruction set together with a device, a nil device, a
// canceled context and a closed device. It closes d.
func checkOnRefused(t *testing.T, d *Device, call func(on boxsum.Device, level boxsum.Level, ctx context.Context) error) {
	t.Helper()
	levels, automatic := boxsum.Levels(), boxsum.Level{}
	checkRefusals(t, map[string]refusal{
		"a level":   {call(d, levels[len(levels)-1], nil), boxsum.ErrInvalid},
		"no device": {call((*Device)(nil), automatic, nil), ErrNoDevice},
		"canceled":  {call(d, automatic, canceled()), context.Canceled},
	})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	checkRefusals(t, map[string]refusal{"a closed device": {call(d, automatic, nil), boxsum.ErrClosed}})
}

// canceled returns a context that is done.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A searcher is a cascade or a descriptor, with results R and options O.
type searcher[R, O any] interface {
	DetectBatch(images []boxsum.Image[uint8], opt *O) ([][]R, error)
	AppendDetect(found []R, img boxsum.Image[uint8], opt *O) ([]R, error)
}

// sameFound compares what a searcher finds on a device, in all images together and in each of them, with what it
// finds on the CPU, and returns the number of results. kept is any result.
func sameFound[R comparable, O any](t *testing.T, c searcher[R, O], images []boxsum.Image[uint8], there, here *O, kept R, same func(a, b []R) bool) (total int) {
	t.Helper()
	want, err := c.DetectBatch(images, here)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.DetectBatch(images, there)
	if err != nil || !slices.EqualFunc(got, want, same) {
		t.Errorf("%d images of %d×%d: %v, %.300v\nwant %.300v", len(images), images[0].Width, images[0].Height, err, fmt.Sprint(got), fmt.Sprint(want))
	}
	for i, img := range images {
		one, err := c.AppendDetect([]R{kept}, img, there)
		if err != nil || one[0] != kept || !same(one[1:], want[i]) {
			t.Errorf("image %d of %d×%d: %v, %.300v\nwant %.300v", i, img.Width, img.Height, err, fmt.Sprint(one), fmt.Sprint(want[i]))
		}
		total += len(want[i])
	}
	return total
}
