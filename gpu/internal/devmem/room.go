package devmem

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Spare is memory and streams that calls leave for later ones.
type Spare interface {
	// Drop frees them, and reports whether there were any.
	Drop() bool
}

// DropSpare frees what is kept for later calls, and reports whether there was anything.
func (d *Device) DropSpare() bool { return d.Spare != nil && d.Spare.Drop() }

// NewStream returns a new stream. It is freed with the device unless CloseStream frees it before.
func (d *Device) NewStream() (driver.Stream, error) {
	s, err := d.Backend.NewStream()
	if err != nil {
		return 0, err
	}
	d.Mu.Lock()
	defer d.Mu.Unlock()
	if d.others == nil {
		d.others = map[driver.Stream]struct{}{}
	}
	d.others[s] = struct{}{}
	return s, nil
}

// CloseStream frees a stream from NewStream.
func (d *Device) CloseStream(s driver.Stream) error {
	if !remove(d, &d.others, s) {
		return raster.Invalid("the stream belongs to another device")
	}
	return d.FreeStream(s)
}

// makeRoom frees all memory that is only cached, including that of views that share the
// device's memory. It reports whether there was any.
func (d *Device) makeRoom() bool {
	spare, spaces := d.DropSpare(), d.dropSpaces()
	freed := spare || spaces
	for _, other := range d.family() {
		if other == d || other.Enter() != nil { // Close waits for us, or frees it itself
			continue
		}
		spare, spaces = other.DropSpare(), other.dropSpaces()
		freed = freed || spare || spaces
		other.Leave()
	}
	return freed
}

// dropSpaces frees the workspaces of the device's stream, and reports whether there were any. It
// keeps the workspaces of a call in progress, which may be the caller's.
func (d *Device) dropSpaces() bool {
	if d.Queue.TryLock() {
		defer d.Queue.Unlock()
		return d.freeSpaces(d.takeSpaces(true), d.drain)
	}
	if d.owner != nil {
		return false // its stream may be destroyed before this has waited for it
	}
	return d.dropOthers()
}

// dropOthers frees the workspaces of the device's stream that the call in progress does not use.
func (d *Device) dropOthers() bool {
	return d.freeSpaces(d.takeSpaces(false), func() error { return d.Backend.Wait(d.Stream) })
}

// takeSpaces removes workspaces from the device's map, so that later calls allocate new ones.
// Workspaces of other streams are freed with their streams.
func (d *Device) takeSpaces(idle bool) (taken []space) {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	for key, s := range d.spaces {
		if key.stream == d.Stream && (idle || s.call != d.calls) {
			taken = append(taken, s)
			delete(d.spaces, key)
		}
	}
	return taken
}

// freeSpaces frees workspaces after the work that uses them, and reports whether there were any.
func (d *Device) freeSpaces(spaces []space, wait func() error) bool {
	return len(spaces) > 0 && driver.FirstError(wait(), d.free(slices.Values(spaces))) == nil
}

func (d *Device) free(spaces iter.Seq[space]) error {
	return driver.EachError(spaces, func(s space) error { return d.Backend.Free(s.memory) })
}

// Allocate allocates device memory, and frees cached memory if there is too little. Its error
// reports how much memory is free.
func (d *Device) Allocate(bytes int64) (driver.Memory, error) {
	m, err := d.allocate(bytes)
	return m, d.addFreeMemory(err)
}

func (d *Device) allocate(bytes int64) (driver.Memory, error) {
	bytes = max(bytes, 1)
	m, err := d.Backend.Alloc(bytes)
	if errors.Is(err, boxsum.ErrMemory) && d.makeRoom() {
		m, err = d.Backend.Alloc(bytes)
	}
	return m, err
}

// addFreeMemory adds the amount of free memory to an error about memory.
func (d *Device) addFreeMemory(err error) error {
	if !errors.Is(err, boxsum.ErrMemory) {
		return err
	}
	if free, total, wrong := d.Backend.Memory(); wrong == nil {
		return fmt.Errorf("%w: %d of %d bytes are free", err, free, total)
	}
	return err
}

// AllocateHost allocates page-locked memory, and frees cached memory if there is too little, like
// Allocate.
func (d *Device) AllocateHost(bytes int64) (driver.HostMemory, error) {
	m, err := d.Backend.AllocHost(bytes)
	if errors.Is(err, boxsum.ErrMemory) && d.DropSpare() {
		m, err = d.Backend.AllocHost(bytes)
	}
	return m, err
}
