package gpu

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/devtest"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
)

// devices lists the devices to test; see package devtest.
func devices(t testing.TB) (infos []Info) {
	t.Helper()
	for _, info := range devtest.Infos(t) {
		infos = append(infos, Info(info))
	}
	return infos
}

// newDevice returns a device that uses a backend.
func newDevice(b driver.Backend) (*Device, error) {
	d, err := devmem.NewDevice(b)
	if err != nil {
		return nil, err
	}
	return wrap(d), nil
}

// take and give allocate and free memory like package interop.
func take(d *Device, bytes int64) (m driver.Memory, err error) {
	if err := d.mem().Enter(); err != nil {
		return 0, err
	}
	defer d.mem().Leave()
	return d.mem().NewBuffer(bytes)
}

func give(d *Device, m driver.Memory) error {
	if err := d.mem().Enter(); err != nil {
		return err
	}
	defer d.mem().Leave()
	return d.mem().FreeBuffer(m)
}

// onStream returns a view of a device, as created by package interop.
func onStream(d *Device, handle uintptr) (*Device, error) {
	view, err := d.mem().OnStream(handle, func(view *devmem.Device) any { return wrap(view) })
	if err != nil {
		return nil, err
	}
	return view.Outer.(*Device), nil
}

// eachDevice runs a test on every device of the machine.
func eachDevice(t *testing.T, body func(t *testing.T, d *Device)) {
	t.Helper()
	for _, info := range devices(t) {
		t.Run(fmt.Sprintf("%s%d", info.Kind, info.Index), func(t *testing.T) { body(t, open(t, info)) })
	}
}

// open opens a device until the end of the test.
func open(t *testing.T, info Info) *Device {
	t.Helper()
	d, err := Open(info)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close the device: %v", err)
		}
	})
	if b := d.inner.Backend.CUDA(); b != nil {
		b.Tuning.PTX = os.Getenv("BOXSUM_GPU_PTX") != "" // as on chips without machine code
	}
	return d
}

func TestDevices(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		info := d.Info()
		t.Logf("%+v", info)
		if info.Name == "" || info.Memory <= 0 || info.Units <= 0 || info.Version == "" || info.Driver == "" {
			t.Errorf("a device must say what it is: %+v", info)
		}
		free, total, err := d.Memory()
		if err != nil || free <= 0 || free > total {
			t.Errorf("Memory: %d free of %d, %v", free, total, err)
		}
		if got := open(t, Info{Kind: info.Kind, Index: info.Index}).Info(); got != info {
			t.Errorf("opened by its number alone it is %+v", got)
		}
		best, err := OpenBest(info.Kind)
		if err != nil {
			t.Fatal(err)
		}
		if got := best.Info().Kind; got != info.Kind {
			t.Errorf("OpenBest(%v) opened a device of %v", info.Kind, got)
		}
		if err := best.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestDevicesBestFirst(t *testing.T) {
	infos := devices(t)
	for i := 1; i < len(infos); i++ {
		if driver.Info(infos[i-1]).Rank() > driver.Info(infos[i]).Rank() {
			t.Errorf("%v comes before %v", infos[i-1], infos[i])
		}
	}
	processorsOnly := true
	for _, info := range infos {
		processorsOnly = processorsOnly && info.CPU
	}
	d, err := OpenBest()
	if processorsOnly {
		if !errors.Is(err, ErrNoDevice) {
			t.Errorf("OpenBest() took a processor: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if d.Info().CPU {
		t.Error("OpenBest() took a processor")
	}
	d.Close()
}

func TestKind(t *testing.T) {
	for _, k := range []Kind{CUDA, OpenCL} {
		if got, err := ParseKind(k.String()); got != k || err != nil {
			t.Errorf("ParseKind(%q) = %v, %v", k, got, err)
		}
	}
	if _, err := ParseKind("vulkan"); err == nil {
		t.Error("ParseKind took an unknown name")
	}
	if _, err := Open(Info{}); !errors.Is(err, ErrNoDevice) {
		t.Errorf("Open of nothing: %v", err)
	}
}

func TestClose(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		im := upload(t, d, fixture.Noise[uint8](1, 5, 4, 1, 0))
		table, err := Integrate[uint32](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatalf("closing with an image and a table left: %v", err)
		}
		for name, err := range map[string]error{
			"Wait":          d.Wait(),
			"Set":           im.Set(0, fixture.Noise[uint8](1, 5, 4, 1, 0)),
			"IntegrateInto": IntegrateInto(table, im, nil),
			"SumBoxes":      table.SumBoxes(0, nil, nil),
			"Download":      second(table.Download(0)),
			"Upload":        second(Upload(d, fixture.Noise[uint8](1, 5, 4, 1, 0))),
			"IntegrateHost": second(boxsum.Integrate[uint32](fixture.Noise[uint8](1, 5, 4, 1, 0), &boxsum.Options{On: d})),
		} {
			if !errors.Is(err, boxsum.ErrClosed) {
				t.Errorf("%s on a closed device: %v", name, err)
			}
		}
		for name, err := range map[string]error{"image": im.Close(), "table": table.Close(), "device": d.Close()} {
			if err != nil {
				t.Errorf("closing the %s again: %v", name, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestConcurrent uses a device from several goroutines, and checks that Close waits for all of
// them.
func TestConcurrent(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		var wg sync.WaitGroup
		for seed := range uint64(8) {
			wg.Go(func() {
				s := shape{width: 50 + int(seed), height: 40, channels: 1 + int(seed%4), count: 2, seed: seed}
				for range 5 {
					if seed%2 == 0 {
						s.bandRows = 7
					}
					pair{raster.U8, raster.U32, 0}.check(t, d, s)
				}
			})
		}
		wg.Wait()
	})
}

// TestMissing checks that errors of drivers and devices are reported even if others work.
func TestMissing(t *testing.T) {
	real := driver.Drivers
	defer func() { driver.Drivers = real }()
	driver.Drivers = slices.Clone(real)
	broken, old := errors.New("broken"), errors.New("too\nold")
	for _, c := range []struct {
		found []driver.Info
		err   error
		want  []string
	}{
		{[]driver.Info{{Kind: OpenCL}}, nil, nil},
		{[]driver.Info{{Kind: OpenCL}}, errors.Join(broken, old), []string{"OpenCL: broken", "OpenCL: too; old"}},
		{nil, errors.Join(broken), []string{"OpenCL: broken"}},
		{nil, fmt.Errorf("none: %w", errors.Join(broken, old)), []string{"OpenCL: none: broken; too; old"}},
	} {
		for i := range driver.Drivers {
			if driver.Drivers[i].Kind == OpenCL {
				driver.Drivers[i].Devices = func() ([]driver.Info, error) { return c.found, c.err }
			}
		}
		var got []string
		for _, err := range Missing(OpenCL) {
			got = append(got, err.Error())
			if !errors.Is(err, broken) && !errors.Is(err, old) {
				t.Errorf("%v does not wrap what is wrong", err)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v gives %q, want %q", c.err, got, c.want)
		}
	}
}
