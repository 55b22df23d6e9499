package gpu

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// TestSizeOfNothing checks that nil and empty values have no size, and can be printed and closed.
func TestSizeOfNothing(t *testing.T) {
	type sized interface {
		Width() int
		Height() int
		Channels() int
		Close() error
	}
	for _, none := range []sized{
		(*Image[uint8])(nil), &Image[uint8]{},
		(*Table[uint32])(nil), &Table[uint32]{},
		(*TiltedTable[uint32])(nil), &TiltedTable[uint32]{},
		(*RotatedTable[uint32])(nil), &RotatedTable[uint32]{},
		(*Histogram)(nil), &Histogram{},
		(*Volume[uint8])(nil), &Volume[uint8]{},
		(*VolumeTable[uint32])(nil), &VolumeTable[uint32]{},
	} {
		if n := none.Width() + none.Height() + none.Channels(); n != 0 {
			t.Errorf("%T has a size", none)
		}
		if counted, ok := none.(interface{ Count() int }); ok && counted.Count() != 0 {
			t.Errorf("%T has a count", none)
		}
		if deep, ok := none.(interface{ Depth() int }); ok && deep.Depth() != 0 {
			t.Errorf("%T has a depth", none)
		}
		if text, ok := none.(fmt.Stringer); ok && text.String() == "" {
			t.Errorf("%T is nothing in words", none)
		}
		if h, ok := none.(*Histogram); ok && h.Bins() != (histogram.Bins{}) {
			t.Error("no histogram has bins")
		}
		if err := none.Close(); err != nil {
			t.Errorf("%T: %v", none, err)
		}
	}
	for name, err := range map[string]error{
		"empty image":   second(Integrate[uint32](&Image[uint8]{}, nil)),
		"empty squares": second(IntegrateSquares[uint32, uint64](&Image[uint8]{}, nil)),
	} {
		if !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostCallsNeedADevice checks that calls from host to host require an open device, even if
// there is nothing to do.
func TestHostCallsNeedADevice(t *testing.T) {
	eachDevice(t, func(t *testing.T, closed *Device) {
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			d    *Device
			want error
		}{{nil, ErrNoDevice}, {&Device{}, ErrNoDevice}, {closed, boxsum.ErrClosed}} {
			empty, bins := boxsum.Image[uint8]{}, histogram.Bins{N: 2}
			for name, err := range map[string]error{
				"Err":            c.d.Err(),
				"image":          second(boxsum.Integrate[uint32](empty, &boxsum.Options{On: c.d})),
				"squares":        second(boxsum.IntegrateSquares[uint32, uint64](empty, &boxsum.Options{On: c.d})),
				"tilted":         second(tilted.Integrate[uint32](empty, &tilted.Options{On: c.d})),
				"rotated":        second(rotated.Integrate[uint32](empty, rotated.Rotation{A: 1, B: 2}, &rotated.Options{On: c.d})),
				"histogram":      second(histogram.Integrate(empty, bins, &histogram.Options{On: c.d})),
				"volume":         second(volume.Integrate[uint32](volume.Volume[uint8]{}, &volume.Options{On: c.d})),
				"volume squares": second(volume.IntegrateSquares[uint32, uint64](volume.Volume[uint8]{}, &volume.Options{On: c.d})),
				"tilted squares": second(tilted.IntegrateSquares[uint32, uint64](empty, &tilted.Options{On: c.d})),
				"volume into":    volume.IntegrateInto(&volume.Table[uint32]{Sums: make([]uint32, 1)}, volume.Volume[uint8]{}, &volume.Options{On: c.d}),
			} {
				if !errors.Is(err, c.want) {
					t.Errorf("%s: %v, want %v", name, err, c.want)
				}
			}
		}
	})
}

// TestTimedClose checks that a timed function may close the device, and that pipelines run without
// a context.
func TestTimedClose(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		var none context.Context
		for _, err := range Pipeline[uint32](none, d, func(yield func(boxsum.Image[uint8]) bool) { yield(fixture.Noise[uint8](1, 9, 9, 1, 0)) }, nil) {
			if err != nil {
				t.Errorf("without a context: %v", err)
			}
		}
		if err := errors.Join(second(d.Time(1, nil)), second(launch.Kernels(d, nil))); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("nothing to time: %v", err)
		}
		for name, use := range map[string]func(d *Device) error{
			"time":    func(d *Device) error { return second(d.Time(2, d.Close)) },
			"kernels": func(d *Device) error { return second(launch.Kernels(d, d.Close)) },
		} {
			other, s := strictly(t, d)
			if err := use(other); name == "time" && !errors.Is(err, boxsum.ErrClosed) || err != nil && !errors.Is(err, boxsum.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
			if err := errors.Join(other.Close(), s.left()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := launch.Kernels(d, d.Close); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("kernels of a device that closes: %v", err)
		}
	})
}
