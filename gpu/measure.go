package gpu

import (
	"errors"
	"fmt"
	"time"

	"github.com/boxsum/boxsum"
)

// Time calls queue so many times and says how long the device took for what
// each call queued, by events of the device before and after. The calls do not
// wait for one another: once the first has given the device something to do,
// the time in which the host queues the next is not part of what is measured.
//
// Use it alone on a device: what others queue meanwhile counts too. It gives
// [ErrClosed] when the device is closed meanwhile, which queue may do too.
func (d *Device) Time(runs int, queue func() error) (times []time.Duration, err error) {
	if queue == nil {
		return nil, fmt.Errorf("gpu: %w: nothing to time", boxsum.ErrInvalid)
	}
	if runs < 1 {
		return nil, fmt.Errorf("gpu: %w: %d runs to time", boxsum.ErrInvalid, runs)
	}
	if err := d.hold(); err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, d.release()) }()
	var events []event // two for each run
	defer func() {
		for _, e := range events {
			err = errors.Join(err, d.backend.freeEvent(e))
		}
	}()
	record := func() error {
		return d.use(func() error {
			e, err := d.backend.record(d.stream)
			if err == nil {
				events = append(events, e)
			}
			return err
		})
	}
	for range runs {
		if err := record(); err != nil {
			return nil, err
		}
		if err := queue(); err != nil {
			return nil, err
		}
		if err := record(); err != nil {
			return nil, err
		}
	}
	if err := d.Wait(); err != nil {
		return nil, err
	}
	for i := range runs {
		ms, err := d.backend.elapsed(events[2*i], events[2*i+1])
		if err != nil {
			return nil, err
		}
		times = append(times, time.Duration(ms*float64(time.Millisecond)))
	}
	return times, nil
}

// A Copy copies memory of a device to other memory of it: the limit that a
// table stands beside.
type Copy struct {
	device   *Device
	from, to memory
	bytes    int64
}

// NewCopy takes memory for copies of so many bytes, each of which reads as many
// and writes as many.
func (d *Device) NewCopy(bytes int64) (*Copy, error) {
	if bytes < 1 {
		return nil, fmt.Errorf("gpu: %w: a copy of %d bytes", boxsum.ErrInvalid, bytes)
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	from, err := d.take(bytes)
	if err != nil {
		return nil, err
	}
	to, err := d.take(bytes)
	if err != nil {
		return nil, errors.Join(err, d.give(from))
	}
	return &Copy{d, from, to, bytes}, nil
}

// Run queues one copy.
func (c *Copy) Run() error {
	if c == nil || c.device == nil {
		return fmt.Errorf("gpu: %w: no copy: make one with NewCopy", boxsum.ErrInvalid)
	}
	d := c.device
	return d.use(func() error {
		if c.bytes == 0 {
			return fmt.Errorf("gpu: copy %w", ErrClosed)
		}
		to, from := plane{memory: c.to, stride: c.bytes}, plane{memory: c.from, stride: c.bytes}
		return d.backend.copyWithin(d.stream, to, from, rows{c.bytes, 1})
	})
}

// Close frees the memory after the copies under way. Closing again, or after the
// device was closed, does nothing.
func (c *Copy) Close() error {
	if c == nil || c.device == nil {
		return nil
	}
	d := c.device
	err := d.use(func() error {
		if c.bytes == 0 {
			return nil
		}
		c.bytes = 0
		return errors.Join(d.backend.wait(d.stream), d.give(c.from), d.give(c.to))
	})
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// A Fill writes the same byte all over memory of a device: the limit that stands
// beside a table that is far larger than its image.
type Fill struct {
	device *Device
	to     memory
	bytes  int64
}

// NewFill takes memory for fills of so many bytes.
func (d *Device) NewFill(bytes int64) (*Fill, error) {
	if bytes < 1 {
		return nil, fmt.Errorf("gpu: %w: a fill of %d bytes", boxsum.ErrInvalid, bytes)
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	to, err := d.take(bytes)
	if err != nil {
		return nil, err
	}
	return &Fill{d, to, bytes}, nil
}

// Run queues one fill.
func (f *Fill) Run() error {
	if f == nil || f.device == nil {
		return fmt.Errorf("gpu: %w: no fill: make one with NewFill", boxsum.ErrInvalid)
	}
	return f.device.use(func() error {
		if f.bytes == 0 {
			return fmt.Errorf("gpu: fill %w", ErrClosed)
		}
		return f.device.backend.fill(f.device.stream, plane{memory: f.to}, 0, f.bytes)
	})
}

// Close frees the memory after the fills under way. Closing again, or after the
// device was closed, does nothing.
func (f *Fill) Close() error {
	if f == nil || f.device == nil {
		return nil
	}
	err := f.device.use(func() error {
		if f.bytes == 0 {
			return nil
		}
		f.bytes = 0
		return errors.Join(f.device.backend.wait(f.device.stream), f.device.give(f.to))
	})
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// TransferTime is how long it takes to send so many bytes from page-locked
// memory to the device, count times, and as often others back meanwhile: what a
// pipeline of images and tables cannot do without.
func (d *Device) TransferTime(in, out int64, count int) (took time.Duration, err error) {
	if in < 1 || out < 1 || count < 1 {
		return 0, fmt.Errorf("gpu: %w: %d times %d bytes in and %d out", boxsum.ErrInvalid, count, in, out)
	}
	if err := d.enter(); err != nil {
		return 0, err
	}
	defer d.leave()
	up, err := d.newTransfer(in)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, up.close()) }()
	down, err := d.newTransfer(out)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, down.close()) }()
	b, start := d.backend, time.Now()
	for range count {
		if err := b.copyIn(up.stream, up.plane, up.host.at, in, rows{in, 1}); err != nil {
			return 0, err
		}
		if err := b.copyOut(down.stream, down.host.at, out, down.plane, rows{out, 1}); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(b.wait(up.stream), b.wait(down.stream)); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

// A transfer is one way between host and device: a stream, and memory at both
// ends.
type transfer struct {
	backend backend
	stream  stream
	plane   plane
	host    hostMemory
}

func (d *Device) newTransfer(bytes int64) (_ *transfer, err error) {
	t := &transfer{backend: d.backend}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	if t.stream, err = t.backend.newStream(); err != nil {
		return nil, err
	}
	if t.plane.memory, err = d.allocate(bytes); err != nil {
		return nil, err
	}
	t.plane.stride = bytes
	if t.host, err = d.allocateHost(bytes); err != nil {
		return nil, err
	}
	return t, nil
}

// close frees as much as there is.
func (t *transfer) close() (err error) {
	if t.stream != 0 {
		err = errors.Join(t.backend.wait(t.stream), t.backend.freeStream(t.stream))
	}
	if t.plane.memory != 0 {
		err = errors.Join(err, t.backend.free(t.plane.memory))
	}
	if t.host.at != nil {
		err = errors.Join(err, t.backend.freeHost(t.host))
	}
	return err
}
