package transfer

import (
	"errors"
	"slices"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
)

// A pool is the slots that pieces pass through in turn. The slots of a volume or an image have a
// stream each. Those of many images share one stream for each step, with events between them:
// copies in one direction then run in the order of the images, so that the first image needed comes
// first, and all kernels share one workspace.
type pool struct {
	device  *Device
	kind    poolKind
	streams []driver.Stream
	slots   []*slot
	used    int        // slots used by the current work; the others are left from earlier work
	mu      sync.Mutex // guards counting, allocating and freeing the memory of slots concurrently
}

// A poolKind is what the slots of a pool are for.
type poolKind int

const (
	forPieces poolKind = iota // of an image or a volume
	forImages                 // of a pipeline
	poolKinds
)

// takePool returns the pool of the last call, extended as necessary.
func takePool(d *Device, kind poolKind, count int) (*pool, error) {
	p := d.takeSpare(kind)
	if p == nil {
		p = &pool{device: d, kind: kind}
	}
	needs := count
	if kind == forImages {
		needs = 3
	}
	for len(p.streams) < needs {
		s, err := d.Backend.NewStream()
		if err != nil {
			return nil, driver.FirstError(err, p.free())
		}
		p.streams = append(p.streams, s)
	}
	for n := len(p.slots); n < count; n++ {
		s := &slot{up: p.streams[0], sum: p.streams[1%needs], down: p.streams[2%needs]}
		if kind == forPieces {
			s.up, s.sum, s.down = p.streams[n], p.streams[n], p.streams[n]
		}
		p.slots = append(p.slots, s)
	}
	p.used = count
	return p, nil
}

// trim frees the slots that the current work does not use, and reports whether there were any.
func (p *pool) trim() bool {
	unused := p.slots[p.used:]
	p.slots = p.slots[:p.used]
	return len(unused) > 0 && p.freeSlots(unused) == nil
}

// bytes returns the memory of all slots on the device.
func (p *pool) bytes() (bytes int64) {
	for _, s := range p.slots {
		for i := range s.sides {
			bytes += s.sides[i].room
		}
	}
	return bytes
}

// wait waits for everything in progress, because slots read from each other.
func (p *pool) wait() error {
	return driver.EachError(slices.Values(p.streams), p.device.Backend.Wait)
}

func (p *pool) freeSlots(slots []*slot) error {
	return driver.EachError(slices.Values(slots), func(s *slot) error { return s.free(p.device.Device) })
}

// free frees everything after the work in progress.
func (p *pool) free() error {
	err := driver.FirstError(p.wait(), p.freeSlots(p.slots), driver.EachError(slices.Values(p.streams), p.device.FreeStream))
	p.slots, p.streams = nil, nil
	return err
}

// poolBytes bounds the memory of all images of a pipeline on the host, and on the device. A single
// image may take more.
const poolBytes = 2 << 30

// fit allocates memory in a slot for a piece of some units, unless all slots together would take
// more than limit; 0 means no limit.
func (p *pool) fit(s *slot, w *Work, units int, packed bool, limit int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var arrays [3]devmem.Array
	var more int64
	for i := range s.sides {
		t := &s.sides[i]
		if t.bytes = 0; !w.has(i) {
			continue
		}
		arrays[i] = w.array(i, units)
		bytes, err := arrays[i].Layout()
		if err != nil {
			return err
		}
		more += max(bytes-t.room, 0)
	}
	if total := p.bytes(); limit > 0 && more > 0 && total+more > limit {
		return raster.OutOfMemory("images in flight would need %d bytes", total+more)
	}
	for i := range s.sides {
		if !w.has(i) {
			continue
		}
		if err := s.sides[i].fit(p.device.Device, arrays[i], packed); err != nil {
			return err
		}
	}
	return nil
}

// outOfMemory reports whether an error is about memory.
func outOfMemory(err error) bool { return errors.Is(err, boxsum.ErrMemory) }
