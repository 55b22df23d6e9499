package gpu

import (
	"errors"
	"fmt"
	"slices"
)

// Info describes a device.
type Info struct {
	Kind    Kind
	Index   int // among the devices of its kind
	Name    string
	Vendor  string
	Driver  string // its version; of CUDA, the newest that it can do ("13.0")
	Version string // compute capability of CUDA ("9.0"), version of OpenCL ("3.0")
	Memory  int64  // bytes
	Units   int    // multiprocessors or compute units
	CPU     bool   // an OpenCL device that is a processor
}

// drivers lists what each kind needs: how to find its devices, and how to open
// one of them.
var drivers = []struct {
	kind    Kind
	devices func() ([]Info, error)
	open    func(Info) (backend, error)
}{
	{CUDA, cudaDevices, openCUDA},
	{OpenCL, openCLDevices, openOpenCL},
}

// Devices lists the devices of this machine, the best first: those of CUDA,
// then GPUs of OpenCL, then processors of OpenCL. Where there are none it is an
// [ErrNoDevice] with the reasons; [Missing] says what is left out beside others.
func Devices() ([]Info, error) {
	infos, reasons := list()
	if len(infos) == 0 {
		return nil, noDevice(reasons)
	}
	return infos, nil
}

// Missing says why there are not more devices of a kind: drivers that are not installed
// or fail, and devices that the kernels cannot run on.
func Missing(kind Kind) []error {
	_, reasons := list(kind)
	var all []error
	for _, reason := range reasons {
		if several, ok := errors.Unwrap(reason).(interface{ Unwrap() []error }); ok { // as errors.Join makes them
			all = append(all, several.Unwrap()...)
		} else {
			all = append(all, errors.Unwrap(reason))
		}
	}
	for i, err := range all {
		all[i] = fmt.Errorf("gpu: %s: %w", kind, oneLine{err})
	}
	return all
}

// list is the devices of these kinds, of all where none is named, and why there
// are not more.
func list(kinds ...Kind) (infos []Info, reasons []error) {
	for _, driver := range drivers {
		if len(kinds) > 0 && !slices.Contains(kinds, driver.kind) {
			continue
		}
		found, err := driver.devices()
		if err != nil {
			reasons = append(reasons, fmt.Errorf("%s: %w", driver.kind, err))
		}
		infos = append(infos, found...)
	}
	slices.SortStableFunc(infos, func(a, b Info) int { return a.rank() - b.rank() })
	return infos, reasons
}

// noDevice is ErrNoDevice with all reasons on one line.
func noDevice(reasons []error) error {
	if len(reasons) == 0 {
		return fmt.Errorf("gpu: %w", ErrNoDevice)
	}
	return fmt.Errorf("gpu: %w: %w", ErrNoDevice, oneLine{errors.Join(reasons...)})
}

func (i Info) rank() int {
	switch {
	case i.Kind == CUDA:
		return 0
	case i.CPU:
		return 2
	}
	return 1
}

// Open opens a device that [Devices] listed.
func Open(info Info) (*Device, error) {
	for _, driver := range drivers {
		if driver.kind == info.Kind {
			b, err := driver.open(info)
			if err != nil {
				return nil, err
			}
			return newDevice(b)
		}
	}
	return nil, fmt.Errorf("gpu: %w: %v is no kind of device", ErrNoDevice, info.Kind)
}

// OpenBest opens the first device of these kinds that opens. Where none is
// named it takes any kind, but no processor under OpenCL: package boxsum is
// faster there.
func OpenBest(kinds ...Kind) (*Device, error) {
	infos, reasons := list(kinds...)
	for _, info := range infos {
		if len(kinds) == 0 && info.CPU {
			reasons = append(reasons, fmt.Errorf("%s: %s is a processor, which must be asked for", info.Kind, info.Name))
			continue
		}
		d, err := Open(info)
		if err == nil {
			return d, nil
		}
		reasons = append(reasons, fmt.Errorf("%s: %w", info.Name, err))
	}
	return nil, noDevice(reasons)
}
