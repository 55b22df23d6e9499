package gpu

import (
	"errors"
	"fmt"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/launcher"
	"github.com/boxsum/boxsum/internal/launch"
)

// A Kind is the driver behind a device: [CUDA] or [OpenCL].
type Kind = driver.Kind

// The kinds of devices.
const (
	CUDA   = driver.CUDA
	OpenCL = driver.OpenCL
)

// ParseKind is the kind with this name, in any case.
func ParseKind(name string) (Kind, error) { return driver.ParseKind(name) }

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

// Devices lists the devices of this machine, the best first: those of CUDA,
// then GPUs of OpenCL, then processors of OpenCL. Where there are none it is an
// [ErrNoDevice] with the reasons; [Missing] tells what is left out beside others.
func Devices() ([]Info, error) {
	found, reasons := driver.List()
	if len(found) == 0 {
		return nil, driver.NoDevice(reasons)
	}
	infos := make([]Info, len(found))
	for i, info := range found {
		infos[i] = Info(info)
	}
	return infos, nil
}

// Missing tells why there are not more devices of a kind: drivers that are not installed
// or fail, and devices that the kernels cannot run on.
func Missing(kind Kind) []error {
	_, reasons := driver.List(kind)
	var all []error
	for _, reason := range reasons {
		if several, ok := errors.Unwrap(reason).(interface{ Unwrap() []error }); ok { // as errors.Join makes them
			all = append(all, several.Unwrap()...)
		} else {
			all = append(all, errors.Unwrap(reason))
		}
	}
	for i, err := range all {
		all[i] = fmt.Errorf("gpu: %s: %w", kind, driver.OneLine{Err: err})
	}
	return all
}

// A Device is an open device. Several goroutines may use it, and the images and
// tables on it, at once: their work on the device runs one after another.
type Device struct {
	inner *devmem.Device
	group *group // of several devices, of which inner is the first; nil for one
}

// Open opens a device that [Devices] listed.
func Open(info Info) (*Device, error) { return openDevice(info, false) }

// openDevice opens a device, if need be in a context of its own.
func openDevice(info Info, own bool) (*Device, error) {
	open := driver.Open
	if own {
		open = driver.OpenOwn
	}
	b, err := open(driver.Info(info))
	if err != nil {
		return nil, err
	}
	d, err := devmem.NewDevice(b)
	if err != nil {
		return nil, err
	}
	return &Device{inner: d}, nil
}

// OpenBest opens the first device of these kinds that opens. Where none is
// named it takes any kind, but no processor under OpenCL: package boxsum is
// faster there.
func OpenBest(kinds ...Kind) (*Device, error) {
	infos, reasons := driver.List(kinds...)
	for _, info := range infos {
		if len(kinds) == 0 && info.CPU {
			reasons = append(reasons, fmt.Errorf("%s: %s is a processor, which must be asked for", info.Kind, info.Name))
			continue
		}
		d, err := Open(Info(info))
		if err == nil {
			return d, nil
		}
		reasons = append(reasons, fmt.Errorf("%s: %w", info.Name, err))
	}
	return nil, driver.NoDevice(reasons)
}

// mem is what is inside, nil for no device.
func (d *Device) mem() *devmem.Device {
	if d == nil {
		return nil
	}
	return d.inner
}

// Info describes the device.
func (d *Device) Info() Info { return Info(d.mem().Info()) }

// Memory is the free and total bytes on the device. Where the driver does not
// tell what is free, free is what this package has not taken.
func (d *Device) Memory() (free, total int64, err error) { return d.mem().Memory() }

// Wait returns when all work queued on the device is done, with the error of
// work that failed.
func (d *Device) Wait() error {
	if d != nil && d.group != nil {
		return d.eachMember((*Device).Wait)
	}
	return d.mem().Wait()
}

// Close waits for the calls and the work under way, then frees the device and
// every image and table left on it. Closing again does nothing. A pipeline under
// way ends with [boxsum.ErrClosed] and frees its part then.
func (d *Device) Close() error {
	if d != nil && d.group != nil {
		return d.eachMember((*Device).Close)
	}
	return d.mem().Close()
}

// Inner is for packages of this module: nobody else can make a key.
func (d *Device) Inner(launch.Key) **devmem.Device { return &d.inner }

// Launcher is for packages of this module, as Inner is.
func (d *Device) Launcher(launch.Key) (launch.Device, error) { return launcher.New(d.mem()) }

// Time calls queue runs times and measures how long the device took for what
// each call queued, by events of the device before and after. The calls do not
// wait for one another: once the first has given the device something to do,
// the time in which the host queues the next is not part of what is measured.
//
// Use it alone on a device: what others queue meanwhile counts too. It gives
// [boxsum.ErrClosed] when the device is closed meanwhile, which queue may do too.
func (d *Device) Time(runs int, queue func() error) (times []time.Duration, err error) {
	if queue == nil {
		return nil, fmt.Errorf("gpu: %w: nothing to time", boxsum.ErrInvalid)
	}
	if runs < 1 {
		return nil, fmt.Errorf("gpu: %w: %d runs to time", boxsum.ErrInvalid, runs)
	}
	m := d.mem()
	if err := m.Hold(); err != nil {
		return nil, err
	}
	defer func() { err = driver.FirstError(err, m.Release()) }()
	var events []driver.Event // two for each run
	defer func() {
		for _, e := range events {
			err = errors.Join(err, m.Backend.FreeEvent(e))
		}
	}()
	record := func() error {
		return m.Use(func() error {
			e, err := m.Backend.Record(m.Stream)
			if err == nil {
				events = append(events, e)
			}
			return err
		})
	}
	for range runs {
		for _, step := range []func() error{record, queue, record} {
			if err := step(); err != nil {
				return nil, err
			}
		}
	}
	if err := m.Wait(); err != nil {
		return nil, err
	}
	for i := range runs {
		ms, err := m.Backend.Elapsed(events[2*i], events[2*i+1])
		if err != nil {
			return nil, err
		}
		times = append(times, time.Duration(ms*float64(time.Millisecond)))
	}
	return times, nil
}
