// Package devmem manages the memory of an open device: arrays and their layout, workspaces,
// page-locked host memory, and the caches that are freed when memory is short.
package devmem

import (
	"fmt"
	"maps"
	"runtime"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Device is an open device. Several goroutines may use it, and the images and tables on it, at
// the same time; their work on the device runs one after another.
type Device struct {
	Backend driver.Backend
	About   driver.Info
	Spare   Spare // memory kept for later calls, or nil

	life   sync.Mutex
	users  int // calls in progress
	idle   sync.Cond
	closed bool
	holds  int // references to the driver: the open device, running pipelines, page-locked images

	// Queue is held while a call queues its work on Stream, so that the work of two calls does not
	// mix, and while it uses an image or table, so that no one closes it.
	Queue  sync.Mutex
	Stream driver.Stream
	lanes  []lane // for copies, guarded by Queue

	Mu     sync.Mutex
	Held   map[driver.Memory]struct{} // memory of images and tables
	spaces map[spaceKey]space
	calls  uint64                     // number of calls to Use
	Blocks []*Block                   // page-locked images and tables
	others map[driver.Stream]struct{} // streams created by NewStream

	views map[driver.Stream]*Device // views created by OnStream
	owner *Device                   // for a view: the device whose backend it uses
	fence driver.Event              // for a view: the end of its last work
	Outer any                       // for a view: the value that package gpu wraps around it
	graph map[spaceKey]space        // for a view: the workspaces of a call that is being captured, else nil
}

// NewDevice returns a device that uses a backend. It closes the backend if that fails.
func NewDevice(b driver.Backend) (*Device, error) {
	s, err := b.NewStream()
	if err != nil {
		return nil, driver.FirstError(err, b.Close())
	}
	d := &Device{Backend: b, About: b.Info(), Stream: s, holds: 1, Held: map[driver.Memory]struct{}{}, spaces: map[spaceKey]space{}}
	d.idle.L = &d.life
	return d, nil
}

// Info describes the device.
func (d *Device) Info() driver.Info {
	if d == nil {
		return driver.Info{}
	}
	return d.About
}

// Memory returns the free and total bytes on the device. If the driver does not report free memory,
// free is the memory that this package has not allocated.
func (d *Device) Memory() (free, total int64, err error) {
	if err := d.Enter(); err != nil {
		return 0, 0, err
	}
	defer d.Leave()
	return d.Backend.Memory()
}

// Wait waits until all work queued on the device is done, and returns the error of work that
// failed.
func (d *Device) Wait() error {
	return d.Use(func() error { return d.Backend.Wait(d.Stream) })
}

// Close waits for calls and work in progress, then frees the device and every image and table left
// on it. Closing again does nothing. A running pipeline ends with an error that wraps ErrClosed,
// and frees its part then.
func (d *Device) Close() error {
	if d == nil || d.Backend == nil || !d.end() {
		return nil
	}
	views := d.closeViews()
	d.life.Lock()
	defer d.life.Unlock()
	err := driver.FirstError(views, d.drain(), driver.EachError(maps.Keys(d.others), d.FreeStream))
	d.others = nil
	d.DropSpare()
	err = driver.FirstError(err, driver.EachError(maps.Keys(d.Held), d.Backend.Free))
	d.Held = nil
	return driver.FirstError(err, d.unhold())
}

// end prevents new calls and waits for those in progress. It reports whether the device was
// open.
func (d *Device) end() bool {
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return false
	}
	d.closed = true
	if d.owner != nil {
		d.forgetView()
	}
	for d.users > 0 {
		d.idle.Wait()
	}
	return true
}

// Retain keeps the driver's part of an open device until Release, even if the device is closed
// meanwhile. Unlike Enter, it does not make Close wait.
func (d *Device) Retain() error {
	if err := d.Enter(); err != nil {
		return err
	}
	defer d.Leave()
	d.life.Lock()
	defer d.life.Unlock()
	d.holds++
	return nil
}

// Release ends a Retain.
func (d *Device) Release() error {
	d.life.Lock()
	defer d.life.Unlock()
	return d.unhold()
}

// unhold drops a reference, and frees the device with the last one.
func (d *Device) unhold() error {
	if d.holds--; d.holds > 0 {
		return nil
	}
	err := d.free(maps.Values(d.spaces))
	d.spaces = nil
	if d.owner != nil {
		return driver.FirstError(err, d.endView())
	}
	return driver.FirstError(err, d.closeLanes(), d.Backend.FreeStream(d.Stream), d.Backend.Close())
}

// ErrNilDevice is returned by calls on a nil device.
var ErrNilDevice = fmt.Errorf("%w: nil Device (use Open)", driver.ErrNoDevice)

// Enter begins a call, which keeps the device open until Leave.
func (d *Device) Enter() error {
	if d == nil || d.Backend == nil {
		return ErrNilDevice
	}
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return fmt.Errorf("GPU device %w", boxsum.ErrClosed)
	}
	d.users++
	return nil
}

// Err returns the error of Enter.
func (d *Device) Err() error {
	err := d.Enter()
	if err == nil {
		d.Leave()
	}
	return err
}

// Leave ends a call.
func (d *Device) Leave() {
	d.life.Lock()
	defer d.life.Unlock()
	if d.users--; d.users == 0 {
		d.idle.Broadcast()
	}
}

// Use runs f on an open device while no one else queues work on its stream.
func (d *Device) Use(f func() error) error {
	if err := d.Enter(); err != nil {
		return err
	}
	defer d.Leave()
	d.Queue.Lock()
	defer d.Queue.Unlock()
	d.Mu.Lock()
	d.calls++
	d.Mu.Unlock()
	if d.owner != nil {
		return d.fenced(f)
	}
	return f()
}

// NewBuffer allocates device memory for an image or a table.
func (d *Device) NewBuffer(bytes int64) (driver.Memory, error) {
	m, err := d.Allocate(bytes)
	if err != nil {
		return 0, err
	}
	d.Mu.Lock()
	defer d.Mu.Unlock()
	d.Held[m] = struct{}{}
	return m, nil
}

// FreeBuffer frees memory allocated by NewBuffer.
func (d *Device) FreeBuffer(m driver.Memory) error {
	if !remove(d, &d.Held, m) {
		return raster.Invalid("memory %#x was not allocated by this device, or is already free", uintptr(m))
	}
	return d.Backend.Free(m)
}

// remove removes k from a set of the device, and reports whether it was there.
func remove[K comparable](d *Device, set *map[K]struct{}, k K) bool {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	_, ours := (*set)[k]
	delete(*set, k)
	return ours
}

// Upload copies bytes to new device memory. Callers must hold the device's queue.
func (d *Device) Upload(data []byte) (driver.Memory, error) {
	m, err := d.NewBuffer(int64(len(data)))
	if err != nil || len(data) == 0 {
		return m, err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&data[0])
	n := int64(len(data))
	err = d.Backend.CopyIn(d.Stream, driver.Plane{Memory: m, Stride: n}, unsafe.Pointer(&data[0]), n, driver.Rows{Bytes: n, Count: 1})
	// Wait even after an error: nothing may use this memory once it is unpinned.
	if err = driver.FirstError(err, d.Backend.Wait(d.Stream)); err != nil {
		return 0, driver.FirstError(err, d.FreeBuffer(m))
	}
	return m, nil
}
