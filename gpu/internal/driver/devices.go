package driver

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Info describes a device.
type Info struct {
	Kind    Kind
	Index   int // among the devices of its kind
	Name    string
	Vendor  string
	Driver  string // driver version; for CUDA, the newest CUDA version that it supports ("13.0")
	Version string // compute capability of CUDA ("9.0"), version of OpenCL ("3.0")
	Memory  int64  // in bytes
	Units   int    // multiprocessors or compute units
	CPU     bool   // an OpenCL device that is a processor
}

// A Driver finds the devices of a kind and opens them.
type Driver struct {
	Kind        Kind
	Devices     func() ([]Info, error)
	Open        func(Info) (Backend, error)
	OpenContext func(Info) (Backend, error) // in a context of its own
}

// List returns the devices of the given kinds, or of all kinds, and the reasons why there are not
// more.
func List(kinds ...Kind) (infos []Info, reasons []error) {
	for _, driver := range Drivers {
		if len(kinds) > 0 && !slices.Contains(kinds, driver.Kind) {
			continue
		}
		found, err := driver.Devices()
		if err != nil {
			reasons = append(reasons, fmt.Errorf("%s: %w", Title(driver.Kind), err))
		}
		infos = append(infos, found...)
	}
	sort.SliceStable(infos, func(i, j int) bool { return infos[i].Rank() < infos[j].Rank() })
	return infos, reasons
}

// NoDevice returns an ErrNoDevice with all reasons on one line.
func NoDevice(reasons []error) error {
	if len(reasons) == 0 {
		return ErrNoDevice
	}
	return fmt.Errorf("%w: %w", ErrNoDevice, OneLine{errors.Join(reasons...)})
}

// Rank returns the preference of a device; lower is better.
func (i Info) Rank() int {
	switch {
	case i.Kind == CUDA:
		return 0
	case i.CPU:
		return 2
	}
	return 1
}

// Open opens a device.
func Open(info Info) (Backend, error) { return open(info, false) }

// OpenContext opens a device in a context of its own, besides the one that the process shares.
func OpenContext(info Info) (Backend, error) { return open(info, true) }

func open(info Info, own bool) (Backend, error) {
	for _, driver := range Drivers {
		if driver.Kind == info.Kind && own {
			return driver.OpenContext(info)
		}
		if driver.Kind == info.Kind {
			return driver.Open(info)
		}
	}
	return nil, fmt.Errorf("%w: unknown kind of device %v", ErrNoDevice, info.Kind)
}

// A Kind is the driver behind a device.
type Kind int

// The kinds of devices.
const (
	CUDA Kind = iota + 1
	OpenCL
)

var kinds = map[Kind]string{CUDA: "cuda", OpenCL: "opencl"}

// String returns "cuda" or "opencl".
func (k Kind) String() string {
	if name, ok := kinds[k]; ok {
		return name
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Title returns "CUDA" or "OpenCL", for messages.
func Title(k Kind) string {
	switch k {
	case CUDA:
		return "CUDA"
	case OpenCL:
		return "OpenCL"
	}
	return k.String()
}

// ParseKind returns the kind with a name, ignoring case.
func ParseKind(name string) (Kind, error) {
	for k, n := range kinds {
		if strings.EqualFold(n, name) {
			return k, nil
		}
	}
	return 0, fmt.Errorf("unknown kind of device %q, want cuda or opencl", name)
}
