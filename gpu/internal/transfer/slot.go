package transfer

import (
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
)

// A staging is memory on the device and page-locked memory on the host for one side of a piece. For
// whole images both are laid out in the same way, including gaps: a copy is then one run of bytes,
// which is faster than rows. Page-locked memory of the caller replaces the host's part.
type staging struct {
	at     devmem.Batch
	bytes  int64 // in use
	data   driver.Rows
	room   int64 // on the device
	host   driver.HostMemory
	packed bool          // the host's part has no gaps
	theirs devmem.Host   // page-locked rows of the caller, if any
	block  *devmem.Block // the block that contains these, while in use
}

// fit lays out the staging as an array, and allocates memory if it has too little.
func (t *staging) fit(d *devmem.Device, a devmem.Array, packed bool) (err error) {
	if t.bytes, err = a.Layout(); err != nil {
		return err
	}
	if t.room < t.bytes {
		if err := t.freeDevice(d); err != nil {
			return err
		}
		if t.at.Memory, err = d.Allocate(t.bytes); err != nil {
			return err
		}
		t.room = t.bytes
	}
	needs := t.bytes
	if packed {
		needs = a.Rows().Bytes * a.Rows().Count
	}
	if t.theirs.At == nil && t.host.Bytes < needs {
		if err := t.freeHost(d); err != nil {
			return err
		}
		if t.host, err = d.AllocateHost(needs); err != nil {
			t.host = driver.HostMemory{}
			return err
		}
	}
	a.At.Memory = t.at.Memory
	t.at, t.data, t.packed = a.At, a.Rows(), packed
	return nil
}

func (t *staging) freeDevice(d *devmem.Device) error {
	m := t.at.Memory
	t.at.Memory, t.room = 0, 0
	if m == 0 {
		return nil
	}
	return d.Backend.Free(m)
}

func (t *staging) freeHost(d *devmem.Device) error {
	m := t.host
	t.host = driver.HostMemory{}
	if m.At == nil {
		return nil
	}
	return d.Backend.FreeHost(m)
}

// rows returns the location of the host's rows.
func (t *staging) rows() devmem.Host {
	switch {
	case t.bytes == 0:
		return devmem.Host{}
	case t.theirs.At != nil:
		return t.theirs
	case t.packed:
		return devmem.Host{At: t.host.At, Stride: t.data.Bytes}
	}
	return devmem.Host{At: unsafe.Add(t.host.At, t.at.Offset), Stride: t.at.Stride}
}

// send queues the copy of the host's rows to the device.
func (t *staging) send(up driver.Stream, b driver.Backend, r driver.Rows) error {
	from := t.rows()
	if from.Stride == t.at.Stride {
		r = t.run(r)
	}
	return b.CopyIn(up, t.at.Plane, from.At, from.Stride, r)
}

// fetch queues the copy back to the host, skipping some rows. Gaps between the caller's rows belong
// to the caller, except in a page-locked table as it was allocated, as opposed to a narrower one
// inside it.
func (t *staging) fetch(down driver.Stream, b driver.Backend, skip int64, r driver.Rows) error {
	to, from := t.rows(), t.at.Plane
	from.Offset += skip * from.Stride
	if t.theirs.At != nil { // the destination has the skipped rows too
		to = to.From(int(skip))
	}
	if to.Stride == t.at.Stride && (t.theirs.At == nil || t.block != nil && t.block.Laid == to && t.block.Row == t.data.Bytes) {
		r = t.run(r)
	}
	return b.CopyOut(down, to.At, to.Stride, from, r)
}

// run returns rows including the gaps between them as a single row.
func (t *staging) run(r driver.Rows) driver.Rows {
	return driver.Rows{Bytes: t.at.Stride*(r.Count-1) + r.Bytes, Count: 1}
}

// A slot is memory for one piece, and the streams that copy it in, sum it and copy the sums out.
// Its work is done, and the slot free for the next piece, when the event copied is reached.
type slot struct {
	up, sum, down            driver.Stream
	sides                    [3]staging
	ends                     [3]ends // for pieces that are distributed over several devices
	uploaded, summed, copied driver.Event
	units                    int // of the current piece
}

// send queues the copy of a staged piece to the device, and returns the job to queue after it. The
// job continues from the piece before, if that is not nil.
func (s *slot) send(w *Work, before *slot, units int) (job method.Job, err error) {
	b := w.Job.Device.Backend
	if err := s.forget(b); err != nil {
		return job, err
	}
	if err := s.sides[0].send(s.up, b, w.rows(0, units)); err != nil {
		return job, err
	}
	if s.up != s.sum {
		if s.uploaded, err = b.Record(s.up); err != nil {
			return job, err
		}
		if err := b.WaitFor(s.sum, s.uploaded); err != nil {
			return job, err
		}
	}
	job = w.piece(s, units)
	if before != nil {
		job.Carry = true
		err = s.carry(w, before)
	}
	s.units = units
	return job, err
}

// fetch queues the copy of the sums to the host after the job, without the units to skip.
func (s *slot) fetch(w *Work, skip int) (err error) {
	b := w.Job.Device.Backend
	if s.summed, err = b.Record(s.sum); err != nil {
		return err
	}
	if s.down != s.sum {
		if err := b.WaitFor(s.down, s.summed); err != nil {
			return err
		}
	}
	for i := 1; i < 3 && w.has(i); i++ {
		if err := s.sides[i].fetch(s.down, b, int64(skip*w.unitRows(i)), w.rows(i, s.units+1-skip)); err != nil {
			return err
		}
	}
	s.copied, err = b.Record(s.down)
	return err
}

// carry queues the copy of the last unit of the previous piece's tables, as soon as that is summed,
// to the unit before those of this piece.
func (s *slot) carry(w *Work, before *slot) error {
	b := w.Job.Device.Backend
	if before != s {
		if err := b.WaitFor(s.sum, before.summed); err != nil {
			return err
		}
	}
	for i := 1; i < 3 && w.has(i); i++ {
		last := before.sides[i].at.Plane
		last.Offset += int64(before.units*w.unitRows(i)) * last.Stride
		// One run of bytes: drivers assume that rows of one buffer overlap.
		if err := b.CopyWithin(s.sum, s.sides[i].at.Plane, last, s.sides[i].run(w.rows(i, 1))); err != nil {
			return err
		}
	}
	return nil
}

// forget frees the events of the last work in the slot.
func (s *slot) forget(b driver.Backend) error {
	var errs []error
	for _, e := range []*driver.Event{&s.uploaded, &s.summed, &s.copied} {
		if *e != 0 {
			errs = append(errs, b.FreeEvent(*e))
			*e = 0
		}
	}
	return driver.FirstError(errs...)
}

// free frees the memory of a slot in which nothing is running.
func (s *slot) free(d *devmem.Device) error {
	errs := []error{s.forget(d.Backend)}
	for i := range s.sides {
		t := &s.sides[i]
		errs = append(errs, t.freeDevice(d), t.freeHost(d), s.ends[i].free(d))
		*t = staging{}
	}
	return driver.FirstError(errs...)
}
