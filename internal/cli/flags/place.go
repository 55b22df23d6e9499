package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/cli/console"
)

// A DeviceName is the value of --on: auto, cpu, all, cuda, opencl, cuda:1, or a list of devices.
type DeviceName string

// Place selects a device.
type Place struct {
	On DeviceName `words:"auto,cpu,cuda,opencl,all" default:"auto" help:"Device to use: auto, cpu, cuda, opencl, one of several devices such as cuda:1, a list such as cuda:0,cuda:1, or all GPUs. auto is the CPU, which makes a table in the time that copying one from a GPU takes."`
}

// Check returns an error unless the name of the device is valid.
func (f *Place) Check() error {
	if f.On == "auto" || f.On == "cpu" || f.On == "all" {
		return nil
	}
	for name := range strings.SplitSeq(string(f.On), ",") {
		if _, _, err := deviceNamed(name); err != nil {
			return console.Usage(`--on must be one of "auto", "cpu", "cuda", "opencl", "all" or devices such as cuda:0,cuda:1 but got %q`, f.On)
		}
	}
	return nil
}

// deviceNamed parses a name such as cuda or cuda:1. The index is -1 for the best device of the
// kind.
func deviceNamed(name string) (gpu.Kind, int, error) {
	text, at, indexed := strings.Cut(name, ":")
	kind, err := gpu.ParseKind(text)
	if err != nil || !indexed {
		return kind, -1, err
	}
	index, err := strconv.ParseUint(at, 10, 16)
	return kind, int(index), err
}

// OnGPU reports whether a GPU is selected.
func (f *Place) OnGPU() bool { return f.On != "auto" && f.On != "cpu" }

// Open opens the selected device, or several to use as one. It returns nil for the CPU.
func (f *Place) Open() (*gpu.Device, error) {
	if !f.OnGPU() {
		return nil, nil
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	d, err := f.On.open()
	if err != nil {
		return nil, fmt.Errorf("--on %s: %w (--on cpu always works)", f.On, err)
	}
	return d, nil
}

func (p DeviceName) open() (*gpu.Device, error) {
	if p == "all" {
		return gpu.OpenAll()
	}
	names := strings.Split(string(p), ",")
	if kind, index, err := deviceNamed(names[0]); len(names) == 1 && index < 0 {
		if err != nil {
			return nil, err
		}
		return gpu.OpenBest(kind)
	}
	found, err := gpu.Devices()
	if err != nil {
		return nil, err
	}
	var infos []gpu.Info
	for _, name := range names {
		kind, index, err := deviceNamed(name)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(found, func(info gpu.Info) bool { return info.Kind == kind && (index < 0 || info.Index == index) })
		if i < 0 {
			return nil, fmt.Errorf("%w %s (boxsum devices lists the devices)", gpu.ErrNoDevice, name)
		}
		infos = append(infos, found[i])
	}
	return gpu.OpenAll(infos...)
}

// PlaceOf returns the value of --on that selects a device and, for a GPU, its name.
func PlaceOf(d *gpu.Device) (on, name string) {
	if d == nil {
		return "cpu", ""
	}
	members := d.Members()
	if len(members) == 1 {
		return d.Info().Kind.String(), d.Info().Name
	}
	var places, names []string
	for _, m := range members {
		info := m.Info()
		places = append(places, fmt.Sprintf("%v:%d", info.Kind, info.Index))
		names = append(names, info.Name)
	}
	if same := slices.Compact(slices.Clone(names)); len(same) == 1 {
		names = []string{fmt.Sprintf("%d × %s", len(members), same[0])}
	}
	return strings.Join(places, ","), strings.Join(names, ", ")
}

// TellFailed notes which of several devices failed and left their work to the others.
func TellFailed(sh *console.Shell, d *gpu.Device) {
	for _, err := range d.Failed() {
		sh.Say(console.OneLine(err))
	}
}
