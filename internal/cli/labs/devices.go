package labs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
)

// Devices implements the devices command.
type Devices struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// A device is the CPU, a GPU, or the reason why a kind of device is missing or fails.
type device struct {
	On   string `json:"on"`
	Name string `json:"name,omitempty"`
	Auto bool   `json:"auto,omitempty"` // --on auto selects it
	Best bool   `json:"best,omitempty"` // the best GPU

	Level   string   `json:"level,omitempty"`
	Levels  []string `json:"levels,omitempty"`
	Workers int      `json:"workers,omitempty"`

	Index   *int   `json:"index,omitempty"` // among the devices of its kind
	Vendor  string `json:"vendor,omitempty"`
	Driver  string `json:"driver,omitempty"`  // driver version; for CUDA, the newest CUDA version it supports
	Version string `json:"version,omitempty"` // compute capability, or OpenCL version
	Memory  int64  `json:"memory,omitempty"`  // bytes
	Units   int    `json:"units,omitempty"`   // multiprocessors, or compute units
	CPU     bool   `json:"cpu,omitempty"`     // an OpenCL device that is the processor

	Missing string `json:"missing,omitempty"`  // why no device of the kind was found
	LeftOut string `json:"left_out,omitempty"` // a device that failed, and why

	several bool // there are others of its kind, so --on accepts an index
}

// Run lists the devices.
func (c *Devices) Run(sh *console.Shell) error {
	infos, _ := gpu.Devices() // Missing reports the errors of each kind
	devices := append([]device{theCPU()}, listed(infos, gpu.Missing)...)
	if c.JSON {
		return display.JSON(sh.Results(), devices)
	}
	for _, d := range devices {
		if _, err := fmt.Fprint(sh.Results(), d); err != nil {
			return err
		}
	}
	return nil
}

// String describes the device. The first line identifies it.
func (d device) String() string {
	var b strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, "%-8s %s\n", "", console.Escape(fmt.Sprintf(format, args...)))
	}
	switch {
	case d.Missing != "":
		return fmt.Sprintf("%-8s %s\n", d.On, display.Wrap("none: "+console.Escape(d.Missing), 80-9, 9))
	case d.LeftOut != "":
		return fmt.Sprintf("%-8s %s\n", d.On, display.Wrap("left out: "+console.Escape(d.LeftOut), 80-9, 9))
	case d.Index == nil:
		fmt.Fprintf(&b, "%-8s %s\n", d.On, d.Name)
		line("level %s of %s", d.Level, strings.Join(d.Levels, ", "))
		line("workers %d", d.Workers)
	default:
		on := d.On
		if d.several {
			on = fmt.Sprintf("%s:%d", d.On, *d.Index)
		}
		fmt.Fprintf(&b, "%-8s %s\n", on, console.Escape(d.Name))
		if d.On == gpu.CUDA.String() {
			line("%s, driver for CUDA %s, compute capability %s", d.Vendor, d.Driver, d.Version)
		} else {
			line("%s, driver %s, OpenCL %s", d.Vendor, d.Driver, d.Version)
		}
		line("%.1f GiB, %s", float64(d.Memory)/(1<<30), display.Count(d.Units, "unit"))
	}
	if d.Auto {
		line("--on auto takes this one")
	}
	if d.Best {
		line("the best GPU")
	}
	return b.String()
}

func theCPU() device {
	d := device{On: "cpu", Name: cpuName(), Auto: true, Workers: runtime.GOMAXPROCS(0)}
	for _, level := range boxsum.Levels() {
		d.Levels = append(d.Levels, level.String())
	}
	d.Level = d.Levels[len(d.Levels)-1]
	return d
}

// listed returns the devices and, for every kind, the devices that failed or the reason why there
// are none.
func listed(infos []gpu.Info, missing func(gpu.Kind) []error) []device {
	var devices []device
	for i, info := range infos {
		devices = append(devices, device{
			On: info.Kind.String(), Name: info.Name, Best: i == 0 && !info.CPU,
			Index: &info.Index, Vendor: info.Vendor, Driver: info.Driver, Version: info.Version,
			Memory: info.Memory, Units: info.Units, CPU: info.CPU,
			several: slices.ContainsFunc(infos, func(other gpu.Info) bool { return other.Kind == info.Kind && other.Index != info.Index }),
		})
	}
	for _, kind := range []gpu.Kind{gpu.CUDA, gpu.OpenCL} {
		var reasons []string
		for _, err := range missing(kind) {
			if reason := errors.Unwrap(err); reason != nil { // without the name of the kind
				err = reason
			}
			reasons = append(reasons, console.OneLine(err))
		}
		if !slices.ContainsFunc(infos, func(info gpu.Info) bool { return info.Kind == kind }) {
			devices = append(devices, device{On: kind.String(), Missing: fmt.Sprintf("%v: %s", gpu.ErrNoDevice, strings.Join(reasons, "; "))})
			continue
		}
		for _, reason := range reasons {
			devices = append(devices, device{On: kind.String(), LeftOut: reason})
		}
	}
	return devices
}

// cpuName returns the name of the processor, or its architecture if the system does not report a
// name.
func cpuName() string {
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		if name := modelName(f); name != "" {
			return name
		}
	}
	return runtime.GOARCH
}

// modelName returns the name of the first processor in Linux's cpuinfo.
func modelName(cpuinfo io.Reader) string {
	lines := bufio.NewScanner(cpuinfo)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
