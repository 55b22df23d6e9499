package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// TestNarrow checks that narrow, tall images take about as much memory as others with the same
// number of pixels.
func TestNarrow(t *testing.T) {
	const height = 150_000
	most := int64(transfer.SlotCount()) * (20 << 20)
	im := fixture.Noise[uint8](1, 1, height, 1, 0)
	want, err := boxsum.Integrate[uint32](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	solid := volume.Volume[uint8]{Pix: im.Pix, Width: 1, Height: 5, Depth: height / 5, Channels: 1}
	opt := PipelineOptions{Kernels: Portable}
	host := &boxsum.Options{Level: portable}
	eachDevice(t, func(t *testing.T, real *Device) {
		for name, run := range map[string]func(d *Device) error{
			"bands": func(d *Device) error {
				got, err := boxsum.Integrate[uint32](im, boxsumOn(d, host))
				if err != nil {
					return err
				}
				return fixture.SameTables(got, want)
			},
			"pipeline": func(d *Device) error {
				for got, err := range Pipeline[uint32](t.Context(), d, func(yield func(boxsum.Image[uint8]) bool) { yield(im) }, &opt) {
					if err == nil {
						err = fixture.SameTables(got, want)
					}
					if err != nil {
						return err
					}
				}
				if roomOfImages(d) > 0 {
					return errors.New("the image did not go in bands")
				}
				return nil
			},
			"volume": func(d *Device) error {
				_, err := volume.Integrate[uint32](solid, boxsumOn(d, host))
				return err
			},
		} {
			d, s := strictly(t, real)
			err := run(d)
			if s.mostLocked > most || s.used > most {
				err = errors.Join(err, fmt.Errorf("%d bytes of the host's memory and %d of the device's were taken", s.mostLocked, s.used))
			}
			if err := errors.Join(err, d.Close(), s.left()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestRefusedBeforeMemory checks that invalid calls do not allocate a table first.
func TestRefusedBeforeMemory(t *testing.T) {
	const height = 1 << 22
	short := boxsum.Image[uint8]{Pix: make([]uint8, 3), Width: 1, Height: height}
	whole := boxsum.Image[uint8]{Pix: make([]uint8, height), Width: 1, Height: height}
	wrong := volume.Volume[int16]{Pix: make([]int16, height), Width: 1, Height: height, Depth: 1}
	floats := volume.Volume[float32]{Pix: make([]float32, height), Width: 1, Height: height, Depth: 1}
	eachDevice(t, func(t *testing.T, d *Device) {
		for name, c := range map[string]struct {
			call func() error
			want error
		}{
			"too few pixels":  {func() error { return second(tilted.Integrate[uint32](short, &tilted.Options{On: d})) }, boxsum.ErrInvalid},
			"no device":       {func() error { return second(tilted.Integrate[uint32](whole, &tilted.Options{On: (*Device)(nil)})) }, ErrNoDevice},
			"no such pair":    {func() error { return second(volume.Integrate[uint32](wrong, &volume.Options{On: d})) }, boxsum.ErrTypes},
			"no such squares": {func() error { return second(volume.IntegrateSquares[float64, uint64](floats, &volume.Options{On: d})) }, boxsum.ErrTypes},
			"no table": {func() error {
				return tilted.IntegrateInto((*tilted.Table[uint32])(nil), whole, &tilted.Options{On: d})
			}, boxsum.ErrInvalid},
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := c.call()
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, c.want) || taken > 1<<20 {
				t.Errorf("%s: %v after %d bytes", name, err, taken)
			}
		}
	})
}
