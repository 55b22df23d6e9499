package reproduce

import (
	"fmt"
	"runtime"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Machine describes where the measurements were made.
type Machine struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Level   string `json:"level"` // instruction set used by boxsum
	System  string `json:"system"`
	Device  string `json:"device,omitempty"`
	Kind    string `json:"device_kind,omitempty"` // cuda or opencl
	Driver  string `json:"device_driver,omitempty"`
	Memory  int64  `json:"device_memory,omitempty"` // bytes
	Units   int    `json:"device_units,omitempty"`
	StandIn bool   `json:"stand_in,omitempty"` // the device is the processor, through OpenCL
}

func machineOf(cfg Config) *Machine {
	levels := boxsum.Levels()
	m := &Machine{CPU: cfg.CPU, Cores: runtime.GOMAXPROCS(0), Level: levels[len(levels)-1].String(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if cfg.Device != nil {
		info := cfg.Device.Info()
		m.Device, m.Kind, m.Driver, m.Memory, m.Units, m.StandIn = info.Name, info.Kind.String(), info.Driver, info.Memory, info.Units, info.CPU
	}
	return m
}

// kind returns the kind of device for the GPU algorithms.
func (m Machine) kind() deviceKind {
	switch {
	case m.Device == "":
		return noDevice
	case m.StandIn:
		return standIn
	}
	return realGPU
}

// deviceText describes the device in one line.
func (m Machine) deviceText() string {
	if m.Device == "" {
		return "no device"
	}
	what := fmt.Sprintf("%s, %s, driver %s, %.1f GiB, %s", m.Device, m.Kind, m.Driver, float64(m.Memory)/(1<<30), count(m.Units, "unit"))
	if m.StandIn {
		what += ". This is the processor, under OpenCL: it stands in for a GPU"
	}
	return what
}

// bytesPerPixel is the approximate memory of all contestants of one size together: their tables,
// the copies for comparison, and the same on a device that is the processor.
const bytesPerPixel = 200

// fits returns an error, before anything is measured, if a size is too large.
func (s *setting) fits(experiments []*Experiment) error {
	for _, e := range experiments {
		for _, spec := range e.specs(s) {
			if spec.Width < 1 || spec.Height < 1 {
				return fmt.Errorf("size is %d×%d, want at least 1×1", spec.Width, spec.Height)
			}
			if err := raster.Check(spec.Pixels() * bytesPerPixel); err != nil {
				return fmt.Errorf("%s at %v: %w: choose smaller sizes", e.Name, spec.Size, err)
			}
		}
	}
	return nil
}
