package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
)

// A group is several devices that are used as one.
type group struct {
	members []*Device

	mu     sync.Mutex
	failed map[*devmem.Device]error
}

// OpenAll opens several devices to use as one: those that are listed, or else every GPU of
// the machine that opens, and processors under OpenCL only where there is none. A GPU that
// both CUDA and OpenCL have is taken once. A device that is listed twice is opened twice, in
// contexts of their own.
//
// What goes from host memory to host memory goes over all of them. [IntegrateHost] and its
// like send the bands of an image, or the slabs of a volume, to whichever device is free; the
// last row of a band goes through the host to the device of the next one. [Pipeline] sends
// whole images, and tables come in their order. Tilted and rotated tables, which do not go in
// bands, are made on one device. Everything else, such as [Upload] and Info, is about the first
// device; Wait and Close are about all.
//
// Integers are the same bits as on one device. So are floats where all devices are of one
// make. Where they are not, the work is dealt out in a fixed order, and floats are the same
// from run to run.
//
// A device that fails leaves its work to the others, and is tried again in the next call:
// [Device.Failed] tells. Only when all fail is it an error.
func OpenAll(infos ...Info) (*Device, error) {
	if len(infos) > 0 {
		return openListed(infos)
	}
	found, reasons := driver.List()
	var members []*Device
	for _, info := range everyGPU(found) {
		d, err := Open(Info(info))
		if err != nil {
			reasons = append(reasons, fmt.Errorf("%s: %w", info.Name, err))
			continue
		}
		members = append(members, d)
	}
	if len(members) == 0 {
		return nil, driver.NoDevice(reasons)
	}
	return together(members), nil
}

// openListed opens all of these devices, or none.
func openListed(infos []Info) (*Device, error) {
	var members []*Device
	for i, info := range infos {
		again := slices.ContainsFunc(infos[:i], func(before Info) bool { return before.Kind == info.Kind && before.Index == info.Index })
		d, err := openDevice(info, again)
		if err != nil {
			return nil, errors.Join(err, driver.EachError(slices.Values(members), (*Device).Close))
		}
		members = append(members, d)
	}
	return together(members), nil
}

// everyGPU is the GPUs among devices, the best first, each once; or the processors, where
// there is nothing else.
func everyGPU(found []driver.Info) []driver.Info {
	is := func(kind Kind, cpu bool) func(driver.Info) bool {
		return func(info driver.Info) bool { return info.Kind == kind && info.CPU == cpu }
	}
	cuda, gpus := slices.ContainsFunc(found, is(CUDA, false)), slices.ContainsFunc(found, is(OpenCL, false))
	return slices.DeleteFunc(slices.Clone(found), func(info driver.Info) bool {
		if info.CPU {
			return cuda || gpus
		}
		return info.Kind == OpenCL && cuda && strings.Contains(strings.ToLower(info.Vendor), "nvidia")
	})
}

// together is devices as one.
func together(members []*Device) *Device {
	if len(members) == 1 {
		return members[0]
	}
	return &Device{inner: members[0].inner, group: &group{members: members}}
}

// Members is the devices that this one is made of, each to be used by itself too, or the
// device alone.
func (d *Device) Members() []*Device {
	switch {
	case d == nil:
		return nil
	case d.group == nil:
		return []*Device{d}
	}
	return slices.Clone(d.group.members)
}

// Failed tells which of several devices failed and left their work to the others, since they
// were opened: the last error of each, which tells its kind and index.
func (d *Device) Failed() []error {
	if d == nil || d.group == nil {
		return nil
	}
	d.group.mu.Lock()
	defer d.group.mu.Unlock()
	var errs []error
	for _, m := range d.group.members {
		if err := d.group.failed[m.inner]; err != nil {
			errs = append(errs, fmt.Errorf("gpu: %v:%d left its work to the others: %w", m.Info().Kind, m.Info().Index, err))
		}
	}
	return errs
}

// shared is the devices that work from host to host goes over.
func (d *Device) shared() transfer.Group {
	if d == nil || d.group == nil {
		return transfer.Alone(d.mem())
	}
	g := transfer.Group{Failed: d.group.note}
	for _, m := range d.group.members {
		g.Devices = append(g.Devices, m.inner)
	}
	return g
}

// note keeps the error of a device.
func (g *group) note(d *devmem.Device, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed == nil {
		g.failed = map[*devmem.Device]error{}
	}
	g.failed[d] = err
}

// enter begins a call, which keeps a device open until leave.
func (d *Device) enter() (leave func(), err error) {
	for _, m := range d.shared().Devices {
		failed := m.Enter()
		if failed == nil {
			return m.Leave, nil
		}
		err = driver.FirstError(err, failed)
	}
	return nil, err
}

// eachMember calls f for all members, also after an error, and is the first error.
func (d *Device) eachMember(f func(*Device) error) error {
	return driver.EachError(slices.Values(d.group.members), f)
}

// onOne has one device after another do something until one succeeds.
func (d *Device) onOne(f func(*Device) error) (err error) {
	if d == nil || d.group == nil {
		return f(d)
	}
	g := d.shared()
	for i, m := range d.group.members {
		failed := f(m)
		if failed == nil {
			return nil
		}
		if i+1 < len(d.group.members) {
			g.Failed(m.inner, failed)
		}
		err = driver.FirstError(err, failed)
	}
	return err
}
