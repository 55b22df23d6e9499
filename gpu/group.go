package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/transfer"
	"github.com/boxsum/boxsum/internal/device"
)

// A group is several devices used as one.
type group struct {
	members []*Device

	mu     sync.Mutex
	failed map[*transfer.Device]error
}

// OpenAll opens several devices to use as one: the given ones or, without arguments, every
// GPU of the machine that can be opened, or OpenCL CPUs if there is no GPU. A GPU that both
// CUDA and OpenCL support is opened once. A device that is listed twice is opened twice, in
// separate contexts.
//
// Work from host memory to host memory is distributed over all of the devices.
// [boxsum.Integrate], with the device as [boxsum.Options.On], sends the bands of an image
// to whichever device is free; the last row of a band goes through the host to the device
// of the next band. Volumes and histograms are distributed in the same way. [Pipeline]
// sends whole images and returns tables in order. Filters, thresholds and templates divide
// the rows of an image evenly, and DetectBatch of packages detect and hog divides images. Tilted and
// rotated tables, filters whose border wraps around, and detection in a single image cannot
// be divided and run on one device. Everything else, such as [Upload] and [Device.Info],
// uses the first device; Wait and Close apply to all.
//
// Integer results are the same as on one device. So are float results if the devices have
// the same Info, apart from Index. Otherwise, the work is distributed in a fixed order, and
// float results are the same from run to run.
//
// If a device fails, the others take over its work, and the next call tries it again; see
// [Device.Failed]. A call returns an error only if all devices fail.
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
	return combine(members), nil
}

// openListed opens all of the given devices. If one fails, it closes the others and returns the
// error.
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
	return combine(members), nil
}

// everyGPU returns the distinct GPUs among devices, best first, or the CPUs if
// there are no GPUs.
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

// combine returns several devices as one.
func combine(members []*Device) *Device {
	if len(members) == 1 {
		return members[0]
	}
	first := members[0]
	d := &Device{inner: first.inner, slots: first.slots, launchable: first.launchable, memory: first.memory, group: &group{members: members}}
	d.option = device.NewHandle(runner{d})
	return d
}

// Members returns the devices that d consists of, which can also be used separately. For a
// single device, it returns only d.
func (d *Device) Members() []*Device {
	switch {
	case d == nil:
		return nil
	case d.group == nil:
		return []*Device{d}
	}
	return slices.Clone(d.group.members)
}

// Failed returns the last error of each member device that has failed since the devices were
// opened, so that other devices took over its work. Each error contains the kind and the index
// of the device that failed.
func (d *Device) Failed() []error {
	if d == nil || d.group == nil {
		return nil
	}
	d.group.mu.Lock()
	defer d.group.mu.Unlock()
	var errs []error
	for _, m := range d.group.members {
		if err := d.group.failed[m.slots]; err != nil {
			errs = append(errs, fmt.Errorf("device %v:%d failed, and the other devices took over its work: %w", m.Info().Kind, m.Info().Index, err))
		}
	}
	return errs
}

// shared returns the devices that share work from host to host.
func (d *Device) shared() transfer.Group {
	switch {
	case d == nil || d.slots == nil: // a device without memory returns the right error
		return transfer.Single(&transfer.Device{})
	case d.group == nil:
		return transfer.Single(d.slots)
	}
	g := transfer.Group{Failed: d.group.note}
	for _, m := range d.group.members {
		g.Devices = append(g.Devices, m.slots)
	}
	return g
}

// note records the error of a device for [Device.Failed].
func (g *group) note(d *transfer.Device, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed == nil {
		g.failed = map[*transfer.Device]error{}
	}
	g.failed[d] = err
}

// eachMember calls f for all members, even after an error, and returns the first
// error.
func (d *Device) eachMember(f func(*Device) error) error {
	return driver.EachError(slices.Values(d.group.members), f)
}

// share divides n rows or images evenly among at most the given number of devices, and calls do
// for each part concurrently. If a device fails, others take over its part.
func (d *Device) share(n, parts int, opt *device.Options, do func(d *Device, from, to int) error) error {
	if n == 0 {
		reportDone(opt)
		return nil
	}
	parts = max(1, min(parts, len(d.Members())))
	type part struct {
		size int
		err  error
	}
	through := make(chan part, parts)
	for i := range parts {
		from, to := i*n/parts, (i+1)*n/parts
		go func() {
			through <- part{to - from, d.onOneFrom(i, func(m *Device) error { return do(m, from, to) })}
		}()
	}
	var err error
	done := 0
	for range parts {
		part := <-through
		err = driver.FirstError(err, part.err)
		done += part.size
		if err == nil && opt.Progress != nil {
			opt.Progress(float64(done) / float64(n))
		}
	}
	return err
}

// onOne calls f for one device after another until one succeeds.
func (d *Device) onOne(f func(*Device) error) error { return d.onOneFrom(0, f) }

// onOneFrom is like onOne but begins with the given member.
func (d *Device) onOneFrom(first int, f func(*Device) error) (err error) {
	if d == nil || d.group == nil {
		return f(d)
	}
	g, n := d.shared(), len(d.group.members)
	for i := range n {
		m := d.group.members[(first+i)%n]
		failed := f(m)
		if failed == nil || errors.Is(failed, context.Canceled) || errors.Is(failed, context.DeadlineExceeded) || errors.Is(failed, boxsum.ErrInvalid) {
			return failed // no device would do it
		}
		if i+1 < n {
			g.Failed(m.slots, failed)
		}
		err = driver.FirstError(err, failed)
	}
	return err
}
