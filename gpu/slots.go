package gpu

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// slots are what the images of a pipeline pass through, and the streams that
// they share.
//
// There is one stream for each step, with events between them, instead of one
// for each slot: copies of one direction then run in the order of the images,
// the first that is wanted first, and all kernels share one workspace.
type slots struct {
	device        *Device
	up, sum, down stream
	all           []*slot
	used          int        // of them in the pipeline under way; others are left from one before
	mu            sync.Mutex // held where memory of slots is counted, taken or freed beside that
}

// A slot is room for one image and its tables. Its work is done, and the room
// free for the next, when the event copied is reached.
type slot struct {
	pixels, sums, squares    twin
	uploaded, summed, copied event
}

// A twin is memory on the device and page-locked memory on the host, laid out
// alike, gaps included: a copy from one to the other is one run of bytes, which
// is faster than rows. Page-locked memory of the caller's takes the place of the
// host's part.
type twin struct {
	at     batch
	bytes  int64 // in use
	data   rows
	room   int64 // on the device
	host   hostMemory
	theirs host   // page-locked rows of the caller's, if there are any
	block  *block // in which these lie, while they are in use
}

// all is the parts of a slot.
func (s *slot) all() [3]*twin { return [3]*twin{&s.pixels, &s.sums, &s.squares} }

const (
	// slotsBytes is what all slots of a pipeline may take on the host or on
	// the device. One slot may take more if it is the only one.
	slotsBytes = 2 << 30
	// keptBytes is how much of it a device keeps for the next pipeline.
	keptBytes = 1 << 30
)

// takeSlots is the slots of last time, as far as they go.
func (d *Device) takeSlots(count int) (p *slots, err error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	d.mu.Lock()
	p, d.slots = d.slots, nil
	d.mu.Unlock()
	if p == nil {
		p = &slots{device: d}
	}
	for _, s := range []*stream{&p.up, &p.sum, &p.down} {
		if *s != 0 {
			continue
		}
		if *s, err = d.backend.newStream(); err != nil {
			return nil, firstError(err, p.free())
		}
	}
	for len(p.all) < count {
		p.all = append(p.all, &slot{})
	}
	p.used = count
	return p, nil
}

// keepSlots puts slots that work aside for the next pipeline, and frees others.
func (d *Device) keepSlots(p *slots, works bool) error {
	if !works || p.room() > keptBytes || d.enter() != nil {
		return p.free()
	}
	defer d.leave()
	d.mu.Lock()
	keep := d.slots == nil
	if keep {
		d.slots = p
	}
	d.mu.Unlock()
	if keep {
		return nil
	}
	return p.free()
}

// dropSlots frees the slots that were put aside, and says whether there were
// any.
func (d *Device) dropSlots() bool {
	d.mu.Lock()
	p := d.slots
	d.slots = nil
	d.mu.Unlock()
	return p != nil && p.free() == nil
}

// trim frees the slots that the pipeline under way does not use, and says
// whether there were any.
func (p *slots) trim() bool {
	unused := p.all[p.used:]
	p.all = p.all[:p.used]
	var errs []error
	for _, s := range unused {
		errs = append(errs, s.free(p.device))
	}
	return len(unused) > 0 && firstError(errs...) == nil
}

// room is what all slots have taken on the device.
func (p *slots) room() (bytes int64) {
	for _, s := range p.all {
		bytes += s.pixels.room + s.sums.room + s.squares.room
	}
	return bytes
}

// wait waits for all that is under way.
func (p *slots) wait() error {
	var errs []error
	for _, s := range []stream{p.up, p.sum, p.down} {
		if s != 0 {
			errs = append(errs, p.device.backend.wait(s))
		}
	}
	return firstError(errs...)
}

// free frees everything, after what is under way.
func (p *slots) free() error {
	errs := []error{p.wait()}
	for _, s := range p.all {
		errs = append(errs, s.free(p.device))
	}
	for _, s := range []*stream{&p.up, &p.sum, &p.down} {
		if *s != 0 {
			errs = append(errs, p.device.freeStream(*s))
			*s = 0
		}
	}
	p.all = nil
	return firstError(errs...)
}

// stage makes room for an image in a slot and copies its pixels there, unless they
// are page-locked. After an error the slot holds nothing of the caller's.
func (p *slots) stage(s *slot, w *bandWork, alone bool) error {
	d := p.device
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	for i, theirs := range []host{w.pixels, w.sums, w.squares} {
		t, whole := s.all()[i], w.job.part(i)
		t.theirs = host{}
		if t.block = d.blockOf(theirs, whole.rows()); t.block != nil {
			t.theirs = theirs
		}
	}
	err := p.fit(s, w.job, alone)
	if errors.Is(err, ErrMemory) && p.trim() {
		err = p.fit(s, w.job, alone)
	}
	if err != nil {
		return firstError(err, s.leave(d))
	}
	if s.pixels.theirs.at == nil {
		to, data := s.pixels.rows(), s.pixels.data
		share(data, imageCopiers(s.pixels.bytes, s.sums.bytes+s.squares.bytes), func(first, count int64) {
			copyRows(to.from(int(first)), w.pixels.from(int(first)), rows{data.bytes, count})
		})
	}
	return nil
}

// queue queues the work for an image that is staged. After an error nothing is
// under way in the slot.
func (p *slots) queue(s *slot, w *bandWork) (err error) {
	d, b := p.device, p.device.backend
	defer func() {
		if err != nil {
			err = firstError(err, p.wait(), s.leave(d))
		}
	}()
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	if err := s.forget(d); err != nil {
		return err
	}
	if err := s.pixels.send(p.up, b); err != nil {
		return err
	}
	if s.uploaded, err = b.record(p.up); err != nil {
		return err
	}
	if err := b.waitFor(p.sum, s.uploaded); err != nil {
		return err
	}
	job := w.job
	job.stream, job.in, job.out, job.squares = p.sum, s.pixels.at, s.sums.at, s.squares.at
	if err := d.run(job, w.kernels); err != nil {
		return err
	}
	if s.summed, err = b.record(p.sum); err != nil {
		return err
	}
	if err := b.waitFor(p.down, s.summed); err != nil {
		return err
	}
	for _, t := range []*twin{&s.sums, &s.squares} {
		if err := t.fetch(p.down, b); err != nil {
			return err
		}
	}
	s.copied, err = b.record(p.down)
	return err
}

// fit makes room in a slot for a job, if all slots together do not take too much
// then.
func (p *slots) fit(s *slot, job integrateJob, alone bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts [3]array
	var more int64
	for i, t := range s.all() {
		parts[i], t.bytes = job.part(i), 0
		if parts[i].element == none {
			continue
		}
		var err error
		if t.bytes, err = parts[i].lay(); err != nil {
			return err
		}
		more += max(t.bytes-t.room, 0)
	}
	if total := p.room(); !alone && more > 0 && total+more > slotsBytes {
		return fmt.Errorf("gpu: %w: images in flight would take %d bytes", ErrMemory, total+more)
	}
	for i, t := range s.all() {
		if t.bytes == 0 {
			continue
		}
		if err := t.fit(p.device, parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// part is the image of a job, its sums or its squares.
func (job *integrateJob) part(i int) array {
	a := array{element: job.pixel, width: job.width, height: job.height, channels: job.channels, count: 1}
	if i > 0 {
		a.element, a.border = [...]element{1: job.sum, 2: job.square}[i], 1
	}
	return a
}

// fit lays the twin out as a, which was laid out, and takes memory where it has
// too little.
func (t *twin) fit(d *Device, a array) (err error) {
	if t.room < t.bytes {
		if err := t.freeDevice(d); err != nil {
			return err
		}
		if t.at.memory, err = d.allocate(t.bytes); err != nil {
			return err
		}
		t.room = t.bytes
	}
	if t.theirs.at == nil && t.host.bytes < t.bytes {
		if err := t.freeHost(d); err != nil {
			return err
		}
		if t.host, err = d.allocateHost(t.bytes); err != nil {
			t.host = hostMemory{}
			return err
		}
	}
	a.at.memory = t.at.memory
	t.at, t.data = a.at, a.rows()
	return nil
}

func (t *twin) freeDevice(d *Device) error {
	m := t.at.memory
	t.at.memory, t.room = 0, 0
	if m == 0 {
		return nil
	}
	return d.backend.free(m)
}

func (t *twin) freeHost(d *Device) error {
	m := t.host
	t.host = hostMemory{}
	if m.at == nil {
		return nil
	}
	return d.backend.freeHost(m)
}

// rows is where the host's rows lie.
func (t *twin) rows() host {
	switch {
	case t.bytes == 0:
		return host{}
	case t.theirs.at != nil:
		return t.theirs
	}
	return host{unsafe.Add(t.host.at, t.at.offset), t.at.stride}
}

// deliver copies the sums and squares that have come to where they belong, if that
// is not where they are; fresh says that these are tables of newTable.
func (s *slot) deliver(sums, squares host, fresh bool) {
	for i, dst := range []host{sums, squares} {
		t := s.all()[i+1]
		if t.bytes == 0 || t.theirs.at != nil {
			continue
		}
		share(t.data, tableCopiers, func(first, count int64) {
			part := rows{t.data.bytes, count}
			copyRows(dst.from(int(first)), t.rows().from(int(first)), part)
			if fresh {
				clearGaps(dst.from(int(first)), part)
			}
		})
	}
}

// send queues the way of the host's rows to the device.
func (t *twin) send(up stream, b backend) error {
	from := t.rows()
	if from.stride == t.at.stride {
		bytes := t.run()
		return b.copyIn(up, t.at.plane, from.at, bytes, rows{bytes, 1})
	}
	return b.copyIn(up, t.at.plane, from.at, from.stride, t.data)
}

// fetch queues the way back. Gaps between the caller's rows are the caller's too,
// except in a table of [NewHostTable] as it was made, not in a narrower one there.
func (t *twin) fetch(down stream, b backend) error {
	if t.bytes == 0 {
		return nil
	}
	to := t.rows()
	if to.stride == t.at.stride && (t.block == nil || t.block.laid == to && t.block.row == t.data.bytes) {
		bytes := t.run()
		return b.copyOut(down, to.at, bytes, t.at.plane, rows{bytes, 1})
	}
	return b.copyOut(down, to.at, to.stride, t.at.plane, t.data)
}

// run is how many bytes the rows take with the gaps between them.
func (t *twin) run() int64 { return t.at.stride*(t.data.count-1) + t.data.bytes }

// wait waits for the work in the slot. The next work there frees its events: that
// takes longer than a loop should wait.
func (s *slot) wait(d *Device) error { return firstError(d.backend.waitEvent(s.copied), s.leave(d)) }

// leave ends the use of the caller's memory.
func (s *slot) leave(d *Device) error {
	var errs []error
	for _, t := range s.all() {
		if t.block != nil {
			errs = append(errs, d.leaveBlock(t.block))
			t.block = nil
		}
	}
	return firstError(errs...)
}

// forget frees the events of the last work in the slot.
func (s *slot) forget(d *Device) error {
	var errs []error
	for _, e := range []*event{&s.uploaded, &s.summed, &s.copied} {
		if *e != 0 {
			errs = append(errs, d.backend.freeEvent(*e))
			*e = 0
		}
	}
	return firstError(errs...)
}

// free frees the memory of a slot in which nothing is under way.
func (s *slot) free(d *Device) error {
	errs := []error{s.forget(d)}
	for _, t := range s.all() {
		errs = append(errs, t.freeDevice(d), t.freeHost(d))
		*t = twin{}
	}
	return firstError(errs...)
}

// keepPixels frees the memory of a slot except for the pixels on the host, also while
// another one is fitted.
func (p *slots) keepPixels(s *slot) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.device
	errs := []error{s.pixels.freeDevice(d)}
	for _, t := range []*twin{&s.sums, &s.squares} {
		errs = append(errs, t.freeDevice(d), t.freeHost(d))
	}
	return firstError(errs...)
}

// ofSquares is the job as if its squares were its sums.
func (job integrateJob) ofSquares() integrateJob {
	job.offset = 0
	return job
}

// newHostTable is a table of the host for the sums of a job.
func newHostTable[S boxsum.Sum](job integrateJob) (*boxsum.Table[S], error) {
	t, err := newTable[S](job.width, job.height, job.channels)
	if err != nil {
		return nil, err
	}
	t.Offset = float32(job.offset)
	return t, nil
}

// tableOver is such a table in memory that is already there.
func tableOver[S boxsum.Sum](job integrateJob, at host) *boxsum.Table[S] {
	stride := int(at.stride) / elementOf[S]().bytes()
	return &boxsum.Table[S]{
		Sums:   unsafe.Slice((*S)(at.at), job.height*stride+(job.width+1)*job.channels),
		Stride: stride,
		Width:  job.width, Height: job.height, Channels: job.channels,
		Offset: float32(job.offset),
	}
}
