package devmem

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// Large copies of memory that is not page-locked go through page-locked memory part by part, so that
// several processors copy while the bus is busy. The driver does the same with one processor, which
// copies 6 to 13 GB/s where the bus moves 50.
const (
	stagedBytes = 2 << 20 // from which on copies are staged
	partBytes   = 1 << 20
	mostLanes   = 12
)

// A lane is a stream and the page-locked memory of one part.
type lane struct {
	stream driver.Stream
	memory driver.HostMemory
}

// CopyIn copies rows from the host after the work queued so far, and waits, so that the caller may
// reuse its memory. Callers must be inside Use.
func (d *Device) CopyIn(dst driver.Plane, src Host, r driver.Rows) error {
	if staged, err := d.stage(src, r, func(l lane, first int64, part driver.Rows) error {
		CopyRows(Host{l.memory.At, part.Bytes}, src.From(int(first)), part)
		return driver.FirstError(d.Backend.CopyIn(l.stream, dst.From(first), l.memory.At, part.Bytes, part), d.Backend.Wait(l.stream))
	}); staged {
		return err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(src.At)
	return driver.FirstError(d.Backend.CopyIn(d.Stream, dst, src.At, src.Stride, r), d.Backend.Wait(d.Stream))
}

// CopyOut copies rows to the host after the work queued so far. Callers must be inside Use.
func (d *Device) CopyOut(dst Host, src driver.Plane, r driver.Rows) error {
	if staged, err := d.stage(dst, r, func(l lane, first int64, part driver.Rows) error {
		err := driver.FirstError(d.Backend.CopyOut(l.stream, l.memory.At, part.Bytes, src.From(first), part), d.Backend.Wait(l.stream))
		if err == nil {
			CopyRows(dst.From(int(first)), Host{l.memory.At, part.Bytes}, part)
		}
		return err
	}); staged {
		return err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(dst.At)
	return driver.FirstError(d.Backend.CopyOut(d.Stream, dst.At, dst.Stride, src, r), d.Backend.Wait(d.Stream))
}

// stage calls move for parts of a copy, several at once, each with a lane of its own, after the work
// queued so far. It reports false if the copy is small or its memory is page-locked, or if there is
// no page-locked memory left.
func (d *Device) stage(host Host, r driver.Rows, move func(l lane, first int64, part driver.Rows) error) (bool, error) {
	if r.Bytes*r.Count < stagedBytes || r.Bytes > partBytes || d.owner != nil {
		return false, nil
	}
	if b := d.BlockOf(host, r); b != nil {
		return false, d.ReleaseBlock(b)
	}
	rows := partBytes / r.Bytes
	parts := (r.Count + rows - 1) / rows
	lanes := d.openLanes(int(min(parts, mostLanes, int64(max(2, runtime.GOMAXPROCS(0))))))
	if len(lanes) == 0 {
		return false, nil
	}
	done, err := d.Backend.Record(d.Stream)
	if err != nil {
		return true, err
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, len(lanes))
	for i, l := range lanes {
		wg.Go(func() {
			errs[i] = d.Backend.WaitFor(l.stream, done)
			for errs[i] == nil {
				first := (next.Add(1) - 1) * rows
				if first >= r.Count {
					return
				}
				errs[i] = move(l, first, driver.Rows{Bytes: r.Bytes, Count: min(rows, r.Count-first)})
			}
		})
	}
	wg.Wait()
	return true, driver.FirstError(append(errs, d.Backend.FreeEvent(done))...)
}

// openLanes returns up to count lanes, which are kept until the device is closed. There may be fewer
// if memory is short.
func (d *Device) openLanes(count int) []lane {
	for len(d.lanes) < count {
		s, err := d.Backend.NewStream()
		if err != nil {
			break
		}
		m, err := d.AllocateHost(partBytes)
		if err != nil {
			_ = d.Backend.FreeStream(s) // copies do without this lane
			break
		}
		d.lanes = append(d.lanes, lane{s, m})
	}
	return d.lanes[:min(count, len(d.lanes))]
}

// closeLanes frees all lanes.
func (d *Device) closeLanes() error {
	var errs []error
	for _, l := range d.lanes {
		errs = append(errs, d.Backend.FreeHost(l.memory), d.Backend.FreeStream(l.stream))
	}
	d.lanes = nil
	return errors.Join(errs...)
}

// streamBytes is the size from which on CopyRows uses non-temporal stores: the device reads from
// memory, and what it has written is no longer needed.
const streamBytes = 1 << 10

// CopyRows copies rows of host memory.
func CopyRows(dst, src Host, r driver.Rows) {
	if dst.Stride == r.Bytes && src.Stride == r.Bytes {
		r = driver.Rows{Bytes: r.Bytes * r.Count, Count: 1}
	}
	for y := range r.Count {
		copyBytes(dst.Row(y), src.Row(y), r.Bytes)
	}
	processor.StoreFence()
}

// copyBytes copies host memory. Others may read the result after a [processor.StoreFence], which
// takes longer than copying a row.
func copyBytes(dst, src unsafe.Pointer, n int64) {
	to, from := unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n)
	if n < streamBytes {
		copy(to, from)
		return
	}
	processor.StreamCopy(to, from)
}
