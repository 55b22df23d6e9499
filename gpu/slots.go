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
	used          int // of them in the pipeline under way; others are left from one before
}

// A slot is room for one image and its tables. Its work is done, and the room
// free for the next, when the event copied is reached.
type slot struct {
	pixels, sums, squares    twin
	uploaded, summed, copied event
	source                   *block // page-locked memory that the device reads from
}

// A twin is memory on the device and page-locked memory on the host, laid out
// alike, gaps included: a copy from one to the other is one run of bytes, which
// is faster than rows.
type twin struct {
	at    batch
	bytes int64 // in use
	data  rows
	room  int64 // on the device
	host  hostMemory
}

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

// start queues the work for an image in a slot, and returns when its pixels may
// change, unless they are page-locked. After an error nothing is under way in
// the slot.
func (p *slots) start(s *slot, w *bandWork, alone bool) (err error) {
	d, b := p.device, p.device.backend
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	defer func() {
		if err != nil {
			err = firstError(err, p.wait(), s.forget(d))
		}
	}()
	job := w.job
	s.source = d.blockOf(w.pixels, w.job)
	err = p.fit(s, job, alone)
	if errors.Is(err, ErrMemory) && p.trim() {
		err = p.fit(s, job, alone)
	}
	if err != nil {
		return err
	}
	if err := s.send(p.up, b, w); err != nil {
		return err
	}
	if s.uploaded, err = b.record(p.up); err != nil {
		return err
	}
	if err := b.waitFor(p.sum, s.uploaded); err != nil {
		return err
	}
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
		if t.bytes == 0 {
			continue
		}
		from := plane{memory: t.at.memory, stride: t.bytes}
		if err := b.copyOut(p.down, t.host.at, t.bytes, from, rows{t.bytes, 1}); err != nil {
			return err
		}
	}
	s.copied, err = b.record(p.down)
	return err
}

// fit makes room in a slot for a job, if all slots together do not take too much
// then.
func (p *slots) fit(s *slot, job integrateJob, alone bool) error {
	image := array{element: job.pixel, width: job.width, height: job.height, channels: job.channels, count: 1}
	sums, squares := image, image
	sums.element, sums.border = job.sum, 1
	squares.element, squares.border = job.square, 1
	parts := []struct {
		*twin
		array
		locked bool
	}{{&s.pixels, image, s.source == nil}, {&s.sums, sums, true}, {&s.squares, squares, true}}
	s.squares.bytes = 0
	var more int64
	for i := range parts {
		part := &parts[i]
		if part.element == none {
			continue
		}
		var err error
		if part.bytes, err = part.lay(); err != nil {
			return err
		}
		more += max(part.bytes-part.room, 0)
	}
	if total := p.room(); !alone && more > 0 && total+more > slotsBytes {
		return fmt.Errorf("gpu: %w: images in flight would take %d bytes", ErrMemory, total+more)
	}
	for _, part := range parts {
		if part.element == none {
			continue
		}
		if err := part.twin.fit(p.device, part.array, part.locked); err != nil {
			return err
		}
	}
	return nil
}

// fit lays the twin out as a, which was laid out, and takes memory where it has
// too little.
func (t *twin) fit(d *Device, a array, locked bool) (err error) {
	if t.room < t.bytes {
		if err := t.freeDevice(d); err != nil {
			return err
		}
		if t.at.memory, err = d.allocate(t.bytes); err != nil {
			return err
		}
		t.room = t.bytes
	}
	if locked && t.host.bytes < t.bytes {
		if err := t.freeHost(d); err != nil {
			return err
		}
		if t.host, err = d.backend.allocHost(t.bytes); err != nil {
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
	if t.bytes == 0 {
		return host{}
	}
	return host{unsafe.Add(t.host.at, t.at.offset), t.at.stride}
}

// copyTo copies the host's rows to others.
func (t *twin) copyTo(dst host) {
	if t.bytes > 0 {
		copyRows(dst, t.rows(), t.data)
	}
}

func copyRows(dst, src host, r rows) {
	eachRow(r.count, r.bytes, func(y int64) { copyBytes(dst.row(y), src.row(y), r.bytes) })
}

// stage copies rows that a device reads next, while others are on the bus. Where
// there are no gaps two processors copy long runs, which pass the caches by:
// more of them take memory's time from the bus.
func stage(dst, src host, r rows) {
	const worth = 1 << 20 // bytes
	if dst.stride != r.bytes || src.stride != r.bytes || r.bytes*r.count < worth {
		copyRows(dst, src, r)
		return
	}
	half := r.count / 2
	var wg sync.WaitGroup
	wg.Go(func() { copyBytes(dst.at, src.at, half*r.bytes) })
	copyBytes(dst.row(half), src.row(half), (r.count-half)*r.bytes)
	wg.Wait()
}

// send queues the way of the pixels to the device: from where they are if the
// device can read there, otherwise from a copy.
func (s *slot) send(up stream, b backend, w *bandWork) error {
	from, t := w.pixels, &s.pixels
	if s.source == nil {
		from = t.rows()
		stage(from, w.pixels, t.data)
	}
	if from.stride == t.at.stride {
		bytes := t.at.stride*(t.data.count-1) + t.data.bytes
		return b.copyIn(up, t.at.plane, from.at, bytes, rows{bytes, 1})
	}
	return b.copyIn(up, t.at.plane, from.at, from.stride, t.data)
}

// wait waits for the work in the slot.
func (s *slot) wait(d *Device) error { return firstError(d.backend.waitEvent(s.copied), s.forget(d)) }

// forget frees what belongs to one image only.
func (s *slot) forget(d *Device) error {
	var errs []error
	for _, e := range []*event{&s.uploaded, &s.summed, &s.copied} {
		if *e != 0 {
			errs = append(errs, d.backend.freeEvent(*e))
			*e = 0
		}
	}
	if s.source != nil {
		errs = append(errs, d.leaveBlock(s.source))
		s.source = nil
	}
	return firstError(errs...)
}

// free frees the memory of a slot in which nothing is under way.
func (s *slot) free(d *Device) error {
	var errs []error
	for _, t := range []*twin{&s.pixels, &s.sums, &s.squares} {
		errs = append(errs, t.freeDevice(d), t.freeHost(d))
		*t = twin{}
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
	t, err := boxsum.NewTable[S](job.width, job.height, job.channels)
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
