package launcher

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
)

func (l *launcher) Kernels(queue func() error) (infos []launch.KernelInfo, err error) {
	d := l.device
	if queue == nil {
		return nil, raster.Invalid("nil queue, want a function that queues work")
	}
	if err := d.Retain(); err != nil {
		return nil, err
	}
	defer func() { err = driver.FirstError(err, d.Release()) }()
	launches, err := d.Backend.Trace(queue)
	if err == nil {
		err = d.Enter() // it may have been closed meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer d.Leave()
	for _, l := range launches {
		info, err := d.Backend.Describe(l)
		if err != nil {
			return nil, err
		}
		infos = append(infos, launch.KernelInfo(info))
	}
	return infos, nil
}

// A limit is an operation on memory of its own, whose time is measured.
type limit struct {
	device *devmem.Device
	memory []driver.Memory
	run    func(m []driver.Memory) error
	what   string
}

func (l *launcher) NewCopy(bytes int64) (launch.Limit, error) {
	d := l.device
	return newLimit(d, "copy", bytes, 2, func(m []driver.Memory) error {
		to, from := driver.Plane{Memory: m[0], Stride: bytes}, driver.Plane{Memory: m[1], Stride: bytes}
		return d.Backend.CopyWithin(d.Stream, to, from, driver.Rows{Bytes: bytes, Count: 1})
	})
}

func (l *launcher) NewFill(bytes int64) (launch.Limit, error) {
	d := l.device
	return newLimit(d, "fill", bytes, 1, func(m []driver.Memory) error {
		return d.Backend.Fill(d.Stream, driver.Plane{Memory: m[0]}, 0, bytes)
	})
}

func newLimit(d *devmem.Device, what string, bytes int64, count int, run func([]driver.Memory) error) (launch.Limit, error) {
	if bytes < 1 {
		return nil, raster.Invalid("size of a %s is %d bytes, want 1 or more", what, bytes)
	}
	l := &limit{device: d, run: run, what: what}
	err := d.Use(func() error {
		for range count {
			m, err := d.NewBuffer(bytes)
			if err != nil {
				return driver.FirstError(err, l.free())
			}
			l.memory = append(l.memory, m)
		}
		return nil
	})
	return l, err
}

func (l *limit) Run() error {
	return l.device.Use(func() error {
		if l.memory == nil {
			return fmt.Errorf("%s %w", l.what, boxsum.ErrClosed)
		}
		return l.run(l.memory)
	})
}

func (l *limit) Close() error { return devmem.IgnoreClosed(l.device.Use(l.free)) }

func (l *limit) free() error {
	err := driver.FirstError(l.device.Backend.Wait(l.device.Stream), driver.EachError(slices.Values(l.memory), l.device.FreeBuffer))
	l.memory = nil
	return err
}

func (l *launcher) TransferTime(in, out int64, count int) (took time.Duration, err error) {
	d := l.device
	if in < 1 || out < 1 || count < 1 {
		return 0, raster.Invalid("number of copies is %d with %d bytes in and %d bytes out, want 1 or more of each", count, in, out)
	}
	if err := d.Enter(); err != nil {
		return 0, err
	}
	defer d.Leave()
	up, err := newTransfer(d, in)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, up.Close()) }()
	down, err := newTransfer(d, out)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, down.Close()) }()
	b, start := d.Backend, time.Now()
	for range count {
		if err := b.CopyIn(up.stream, up.plane, up.host.At, in, driver.Rows{Bytes: in, Count: 1}); err != nil {
			return 0, err
		}
		if err := b.CopyOut(down.stream, down.host.At, out, down.plane, driver.Rows{Bytes: out, Count: 1}); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(b.Wait(up.stream), b.Wait(down.stream)); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

// A transfer is one direction between host and device: a stream, and memory at both ends.
type transfer struct {
	backend driver.Backend
	stream  driver.Stream
	plane   driver.Plane
	host    driver.HostMemory
}

func newTransfer(d *devmem.Device, bytes int64) (_ *transfer, err error) {
	t := &transfer{backend: d.Backend}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	if t.stream, err = t.backend.NewStream(); err != nil {
		return nil, err
	}
	if t.plane.Memory, err = d.Allocate(bytes); err != nil {
		return nil, err
	}
	t.plane.Stride = bytes
	if t.host, err = d.AllocateHost(bytes); err != nil {
		return nil, err
	}
	return t, nil
}

// Close frees the memory and the stream.
func (t *transfer) Close() (err error) {
	if t.stream != 0 {
		err = errors.Join(t.backend.Wait(t.stream), t.backend.FreeStream(t.stream))
	}
	if t.plane.Memory != 0 {
		err = errors.Join(err, t.backend.Free(t.plane.Memory))
	}
	if t.host.At != nil {
		err = errors.Join(err, t.backend.FreeHost(t.host))
	}
	return err
}
