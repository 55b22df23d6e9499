package gpu

import (
	"errors"
	"fmt"
	"time"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/gpu/internal/launcher"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Kind is the driver of a device: [CUDA] or [OpenCL].
type Kind = driver.Kind

// Kinds of devices.
const (
	CUDA   = driver.CUDA
	OpenCL = driver.OpenCL
)

// ParseKind returns the kind with the given name, cuda or opencl, ignoring case. It
// returns an error for any other name.
func ParseKind(name string) (Kind, error) { return driver.ParseKind(name) }

// Info describes a device: its driver, its index, and what the driver reports about
// it.
type Info struct {
	Kind    Kind
	Index   int // among devices of the same kind
	Name    string
	Vendor  string
	Driver  string // driver version; for CUDA, the newest version it supports ("13.0")
	Version string // CUDA compute capability ("9.0") or OpenCL version ("3.0")
	Memory  int64  // in bytes
	Units   int    // multiprocessors or compute units
	CPU     bool   // reports whether an OpenCL device is a CPU
}

// Devices returns the devices of this machine, best first: CUDA devices, then OpenCL
// GPUs, then OpenCL CPUs. If there are none, it returns an error that wraps
// [ErrNoDevice] and gives the reasons. If there are some, [Missing] returns the
// reasons why others are not among them.
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

// Missing returns the reasons why [Devices] does not list more devices of the given
// kind, such as a driver that is not installed or fails, or a device that cannot run
// the kernels. It returns nil if there is no such reason.
func Missing(kind Kind) []error {
	_, reasons := driver.List(kind)
	var all []error
	for _, reason := range reasons {
		if several, ok := errors.Unwrap(reason).(interface{ Unwrap() []error }); ok { // from errors.Join
			all = append(all, several.Unwrap()...)
		} else {
			all = append(all, errors.Unwrap(reason))
		}
	}
	for i, err := range all {
		all[i] = fmt.Errorf("%s: %w", driver.Title(kind), driver.OneLine{Err: err})
	}
	return all
}

// A Device is an open device. Devices, and the images and tables on them, are safe for
// concurrent use; a device does one piece of work after another.
type Device struct {
	option     // runs jobs of other packages
	launchable // launches kernels of other packages
	memory     // inner, for package interop
	inner      *devmem.Device
	slots      *transfer.Device // the memory of inner for images on their way through it
	group      *group           // several devices, the first of which is inner; nil for a single device
}

type (
	option     = device.Handle
	launchable = launch.Handle
	memory     = inside.Device
)

// wrap returns an open device.
func wrap(m *devmem.Device) *Device {
	d := &Device{inner: m, slots: transfer.NewDevice(m), launchable: launch.NewHandle(launcher.New(m)), memory: inside.NewDevice(m)}
	d.option = device.NewHandle(runner{d})
	return d
}

// Open opens a device that [Devices] returned. [Device.Close] frees its memory.
func Open(info Info) (*Device, error) { return openDevice(info, false) }

// openDevice opens a device, in a context of its own if own is set.
func openDevice(info Info, own bool) (*Device, error) {
	open := driver.Open
	if own {
		open = driver.OpenContext
	}
	b, err := open(driver.Info(info))
	if err != nil {
		return nil, err
	}
	d, err := devmem.NewDevice(b)
	if err != nil {
		return nil, err
	}
	return wrap(d), nil
}

// OpenBest opens the first device of the given kinds that can be opened. Without
// arguments, it tries all kinds except OpenCL CPUs, because package boxsum is faster
// on CPUs.
func OpenBest(kinds ...Kind) (*Device, error) {
	infos, reasons := driver.List(kinds...)
	for _, info := range infos {
		if len(kinds) == 0 && info.CPU {
			reasons = append(reasons, fmt.Errorf("%s: %s is a CPU (name the device to use it)", info.Kind, info.Name))
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

// mem returns the memory device, or nil.
func (d *Device) mem() *devmem.Device {
	if d == nil {
		return nil
	}
	return d.inner
}

// Info returns the description of the device. For several devices, it is that of the
// first.
func (d *Device) Info() Info { return Info(d.mem().Info()) }

// Memory returns the number of free and total bytes on the device. If the driver
// does not report free memory, free is the memory not allocated by this package.
func (d *Device) Memory() (free, total int64, err error) { return d.mem().Memory() }

// Err returns nil while the device can be used. Otherwise it returns an error, which
// wraps [ErrNoDevice] for a nil Device and [boxsum.ErrClosed] for a closed one. A
// Device that consists of several can be used as long as one of them can.
func (d *Device) Err() error {
	if d == nil || d.group == nil {
		return d.mem().Err()
	}
	var err error
	for _, m := range d.group.members {
		failed := m.Err()
		if failed == nil {
			return nil
		}
		err = driver.FirstError(err, failed)
	}
	return err
}

// Wait waits until all work queued on the device is done, and returns the error of any
// work that failed.
func (d *Device) Wait() error {
	if d != nil && d.group != nil {
		return d.eachMember((*Device).Wait)
	}
	return d.mem().Wait()
}

// Close waits for calls and work in progress, then frees the device and all images and
// tables on it. A running pipeline ends with [boxsum.ErrClosed] and then frees its
// memory. Closing a device again does nothing.
func (d *Device) Close() error {
	if d != nil && d.group != nil {
		return d.eachMember((*Device).Close)
	}
	return d.mem().Close()
}

// Time calls queue runs times and returns, for each call, the time that the device
// took for the work that was queued, measured with device events before and after.
// Calls do not wait for one another: while the device is busy, the time that the host
// takes to queue more work is not included.
//
// Do not use the device for anything else during the call, because other work would be
// measured too. If the device is closed during the call, Time returns
// [boxsum.ErrClosed]. The function queue may close the device.
func (d *Device) Time(runs int, queue func() error) (times []time.Duration, err error) {
	if queue == nil {
		return nil, raster.Invalid("nil queue, want a function that queues work")
	}
	if runs < 1 {
		return nil, raster.Invalid("number of timed runs is %d, want 1 or more", runs)
	}
	m := d.mem()
	if err := m.Retain(); err != nil {
		return nil, err
	}
	defer func() { err = driver.FirstError(err, m.Release()) }()
	var events []driver.Event // two per run
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
