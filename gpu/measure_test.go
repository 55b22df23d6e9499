package gpu

import (
	"errors"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/launch"
)

func TestTime(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		src := upload(t, d, fixture.Noise[uint8](1, 300, 200, 1, 0))
		dst, err := NewTable[uint32](d, 300, 200, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		times, err := d.Time(3, func() error { runs++; return IntegrateInto(dst, src, nil) })
		if err != nil || len(times) != 3 || runs != 3 {
			t.Fatalf("three runs give %v, %v after %d", times, err, runs)
		}
		for _, took := range times {
			if took < 0 {
				t.Errorf("a run took %v", took)
			}
		}
		if _, err := d.Time(0, nil); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("no runs give %v", err)
		}
		broken := errors.New("broken")
		if _, err := d.Time(1, func() error { return broken }); !errors.Is(err, broken) {
			t.Errorf("work that fails gives %v", err)
		}
		kernels, err := launch.Kernels(d, func() error { return IntegrateInto(dst, src, &Options{Kernels: Portable}) })
		if err != nil || len(kernels) == 0 {
			t.Fatalf("kernels %+v, %v", kernels, err)
		}
		for _, k := range kernels {
			if k.Name == "" || k.Blocks < 1 || k.Threads < 1 || d.Info().Kind == CUDA && (k.Registers < 1 || k.Occupancy <= 0 || k.Occupancy > 1) {
				t.Errorf("odd kernel %+v", k)
			}
		}
		if _, err := launch.Kernels(d, func() error { return broken }); !errors.Is(err, broken) {
			t.Errorf("kernels of work that fails: %v", err)
		}
	})
}

func TestFill(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		f, err := launch.NewFill(d, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if times, err := d.Time(2, f.Run); err != nil || len(times) != 2 {
			t.Errorf("two fills give %v, %v", times, err)
		}
		if err := errors.Join(f.Close(), f.Close()); err != nil {
			t.Error(err)
		}
		if err := f.Run(); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("a closed fill gives %v", err)
		}
		if _, err := launch.NewFill(d, 0); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("nothing to fill gives %v", err)
		}
	})
}

func TestCopy(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		c, err := launch.NewCopy(d, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if times, err := d.Time(2, c.Run); err != nil || len(times) != 2 {
			t.Errorf("two copies give %v, %v", times, err)
		}
		if err := errors.Join(c.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		if err := c.Run(); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("a closed copy gives %v", err)
		}
		if took, err := launch.TransferTime(d, 1000, 4000, 5); err != nil || took <= 0 {
			t.Errorf("transfers took %v, %v", took, err)
		}
		for _, err := range []error{
			second(launch.NewCopy(d, 0)), second(launch.NewCopy(d, -1)), second(launch.TransferTime(d, 0, 1, 1)), second(launch.TransferTime(d, 1, 1, 0)),
		} {
			if !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("nothing to copy gives %v", err)
			}
		}
		c, err = launch.NewCopy(d, 1000)
		if err := errors.Join(err, d.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		for _, err := range []error{c.Run(), second(launch.NewCopy(d, 1)), second(launch.TransferTime(d, 1, 1, 1)), second(d.Time(1, func() error { return nil }))} {
			if !errors.Is(err, boxsum.ErrClosed) {
				t.Errorf("a closed device gives %v", err)
			}
		}
	})
}
