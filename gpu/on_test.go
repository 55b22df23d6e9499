package gpu

import (
	"errors"
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
