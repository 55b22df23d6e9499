package gpu

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// kindVariable is the environment variable that says which kind of devices to test.
const kindVariable = "BOXSUM_GPU_KIND"

// devices lists the devices of the machine, or those of BOXSUM_GPU_KIND only.
// Where there are none the test is skipped, and fails where CI promises one or
// a kind was named.
func devices(t testing.TB) []Info {
	t.Helper()
	infos, err := Devices()
	kind := os.Getenv(kindVariable)
	if kind == "" && err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if infos, err = devicesOf(kind, infos, err); err != nil {
		t.Fatal(err)
	}
	return infos
}

// devicesOf is the devices of a kind, or all where none is named, and an error where
// there are none. The other error says why there are no devices at all.
func devicesOf(kind string, infos []Info, none error) ([]Info, error) {
	if kind == "" {
		return infos, none
	}
	named, err := ParseKind(kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kindVariable, err)
	}
	if none == nil {
		infos = slices.DeleteFunc(slices.Clone(infos), func(info Info) bool { return info.Kind != named })
		if len(infos) == 0 {
			none = ErrNoDevice
		}
	}
	if none != nil {
		return nil, fmt.Errorf("%s=%s: there is no such device: %w", kindVariable, kind, none)
	}
	return infos, nil
}

// countOf is how often to do something: what an environment variable says, if it does.
func countOf(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	count, err := parseCount(os.Getenv(variable), otherwise)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return count
}

func parseCount(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	count, err := strconv.Atoi(text)
	if err == nil && count < 1 {
		err = fmt.Errorf("%d is less than 1", count)
	}
	return count, err
}

// A test that was told what to test must not pass without doing so.
func TestVariables(t *testing.T) {
	processor, chip := Info{Kind: OpenCL, CPU: true}, Info{Kind: CUDA}
	for _, c := range []struct {
		kind  string
		there []Info
		want  []Info // none: an error
	}{
		{"", []Info{chip, processor}, []Info{chip, processor}},
		{"", nil, nil},
		{"cuda", []Info{chip, processor}, []Info{chip}},
		{"OpenCL", []Info{chip, processor}, []Info{processor}},
		{"cuda", []Info{processor}, nil},
		{"opencl", []Info{chip}, nil},
		{"opencl", nil, nil},
		{"vulkan", []Info{chip, processor}, nil},
		{"vulkan", nil, nil},
	} {
		var none error
		if len(c.there) == 0 {
			none = ErrNoDevice
		}
		got, err := devicesOf(c.kind, c.there, none)
		if !slices.Equal(got, c.want) || (err == nil) != (len(c.want) > 0) {
			t.Errorf("of %v, %q are %v, %v", c.there, c.kind, got, err)
		}
	}
	for text, want := range map[string]int{"": 7, "1": 1, "3000": 3000, "0": 0, "-1": 0, "many": 0, "1e3": 0, " ": 0} {
		if got, err := parseCount(text, 7); (err == nil) != (want > 0) || err == nil && got != want {
			t.Errorf("%q counts as %d, %v", text, got, err)
		}
	}
}

// eachDevice runs a test body on every device of the machine.
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
		if infos[i-1].rank() > infos[i].rank() {
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
		im := upload(t, d, randomImage[uint8](1, 5, 4, 1, 0))
		table, err := Integrate[uint32](im, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatalf("closing with an image and a table left: %v", err)
		}
		for name, err := range map[string]error{
			"Wait":          d.Wait(),
			"Set":           im.Set(0, randomImage[uint8](1, 5, 4, 1, 0)),
			"IntegrateInto": IntegrateInto(table, im, nil),
			"SumBoxes":      table.SumBoxes(0, nil, nil),
			"Download":      second(table.Download(0)),
			"Upload":        second(Upload(d, randomImage[uint8](1, 5, 4, 1, 0))),
			"IntegrateHost": second(IntegrateHost[uint32](d, randomImage[uint8](1, 5, 4, 1, 0), nil)),
		} {
			if !errors.Is(err, ErrClosed) {
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

// Several goroutines on one device must not disturb each other, and Close waits
// for all of them.
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
					checkSums[uint8, uint32](t, d, s)
				}
			})
		}
		wg.Wait()
	})
}

// What is wrong with drivers and devices is told also where others work.
func TestMissing(t *testing.T) {
	real := drivers
	defer func() { drivers = real }()
	drivers = slices.Clone(real)
	broken, old := errors.New("broken"), errors.New("too\nold")
	for _, c := range []struct {
		found []Info
		err   error
		want  []string
	}{
		{[]Info{{Kind: OpenCL}}, nil, nil},
		{[]Info{{Kind: OpenCL}}, errors.Join(broken, old), []string{"gpu: opencl: broken", "gpu: opencl: too; old"}},
		{nil, errors.Join(broken), []string{"gpu: opencl: broken"}},
		{nil, fmt.Errorf("none: %w", errors.Join(broken, old)), []string{"gpu: opencl: none: broken; too; old"}},
	} {
		for i := range drivers {
			if drivers[i].kind == OpenCL {
				drivers[i].devices = func() ([]Info, error) { return c.found, c.err }
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
			t.Errorf("%v gives %q, not %q", c.err, got, c.want)
		}
	}
}
