package gpu

import (
	"runtime"
	"sync"
)

// laneCount is how many bands are under way at most: one processor cannot copy as
// fast as the bus, and each lane has one.
func laneCount() int { return min(max(runtime.GOMAXPROCS(0), 3), 12) }

// lanes are what bands go through in turn.
type lanes struct{ lanes []*lane }

// A lane is a stream, a band on the device and page-locked memory for it on the
// host.
type lane struct {
	backend          backend
	stream           stream
	in, out, squares band
	summed, copied   event
	rows             int // of the band under way
}

// A band is rows of an image or a table on the device, and the host's copy of
// them without gaps.
type band struct {
	at      batch
	bytes   int64 // of the device memory
	staging hostMemory
	row     int64 // bytes
}

// takeLanes is the lanes of last time, or none yet. Page-locked memory is slow
// to come by.
func (d *Device) takeLanes() *lanes {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lanes
	d.lanes = nil
	if l == nil {
		l = &lanes{}
	}
	return l
}

// keepLanes puts lanes that work and do not take much aside for the next call, and
// frees others.
func (d *Device) keepLanes(l *lanes, works bool) error {
	d.mu.Lock()
	keep := works && d.lanes == nil && l.bytes() <= slabsBytes
	if keep {
		d.lanes = l
	}
	d.mu.Unlock()
	if keep {
		return nil
	}
	return l.free(d)
}

// dropLanes frees the lanes that were put aside, and says whether there were
// any.
func (d *Device) dropLanes() bool {
	l := d.takeLanes()
	return l.free(d) == nil && len(l.lanes) > 0
}

// fit makes so many lanes for bands of so many rows of a job.
func (l *lanes) fit(d *Device, job integrateJob, rows, count int) error {
	image := array{element: job.pixel, width: job.width, height: rows, channels: job.channels, count: 1}
	table, squares := image, image
	table.element, table.border = job.sum, 1
	squares.element, squares.border = job.square, 1
	for len(l.lanes) < count {
		s, err := d.backend.newStream()
		if err != nil {
			return err
		}
		l.lanes = append(l.lanes, &lane{backend: d.backend, stream: s})
	}
	for _, lane := range l.lanes[:count] {
		err := lane.in.fit(d, image)
		if err == nil {
			err = lane.out.fit(d, table)
		}
		if err == nil && job.square != none {
			err = lane.squares.fit(d, squares)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fit lays the band out as a, and takes memory on both sides where it has too
// little.
func (b *band) fit(d *Device, a array) error {
	bytes, err := a.lay()
	if err != nil {
		return err
	}
	row := a.rowBytes()
	if b.bytes < bytes || b.staging.bytes < row*int64(a.height+a.border) {
		if err := b.free(d.backend); err != nil {
			return err
		}
		if b.at.memory, err = d.allocate(bytes); err != nil {
			return err
		}
		b.bytes = bytes
		if b.staging, err = d.allocateHost(row * int64(a.height+a.border)); err != nil {
			return err
		}
	}
	a.at.memory = b.at.memory
	b.at, b.row = a.at, row
	return nil
}

func (b *band) free(from backend) error {
	var errs []error
	if b.at.memory != 0 {
		errs = append(errs, from.free(b.at.memory))
	}
	if b.staging.at != nil {
		errs = append(errs, from.freeHost(b.staging))
	}
	*b = band{}
	return firstError(errs...)
}

// free waits for all that is under way, since lanes read from each other, and
// then frees it.
func (l *lanes) free(d *Device) error {
	var errs []error
	for _, lane := range l.lanes {
		errs = append(errs, d.backend.wait(lane.stream))
	}
	for _, lane := range l.lanes {
		errs = append(errs, lane.forget(), d.freeStream(lane.stream),
			lane.in.free(d.backend), lane.out.free(d.backend), lane.squares.free(d.backend))
	}
	return firstError(errs...)
}

// start queues a band of rows, whose pixels are staged or lie in page-locked
// memory. It goes on from the one above it unless it is the first.
func (l *lane) start(d *Device, w *bandWork, above *lane, first, count int) (err error) {
	if err := l.forget(); err != nil {
		return err
	}
	b, n := l.backend, int64(count)
	from := host{l.in.staging.at, l.in.row}
	if w.blocks[0] != nil {
		from = w.pixels.from(first)
	}
	if err := b.copyIn(l.stream, l.in.at.plane, from.at, from.stride, rows{l.in.row, n}); err != nil {
		return err
	}
	job := w.job
	job.stream, job.height, job.carry = l.stream, count, above != nil
	job.in, job.out, job.squares = l.in.at, l.out.at, l.squares.at
	if above != nil {
		if err := l.carry(above, job.square != none); err != nil {
			return err
		}
	}
	if err := d.run(job, w.kernels); err != nil {
		return err
	}
	l.rows = count
	if l.summed, err = b.record(l.stream); err != nil {
		return err
	}
	for i, t := range l.tables(job.square != none) {
		to, r := host{t.staging.at, t.row}, rows{t.row, n + 1}
		if w.blocks[i+1] != nil {
			to = w.table(i).from(first)
		}
		from := t.at.plane
		if above != nil { // which delivers the row that both have
			from.offset += from.stride
			r.count--
			if w.blocks[i+1] != nil {
				to = to.from(1)
			}
		}
		if err := b.copyOut(l.stream, to.at, to.stride, from, r); err != nil {
			return err
		}
	}
	l.copied, err = b.record(l.stream)
	return err
}

// tables is the one table of a band, or both.
func (l *lane) tables(squares bool) []*band {
	if squares {
		return []*band{&l.out, &l.squares}
	}
	return []*band{&l.out}
}

// carry queues the copy of the last row of the band above, as soon as that is
// summed, into the row over this band.
func (l *lane) carry(above *lane, squares bool) error {
	if above != l {
		if err := l.backend.waitFor(l.stream, above.summed); err != nil {
			return err
		}
	}
	theirs := above.tables(squares)
	for i, t := range l.tables(squares) {
		last := theirs[i].at.plane
		last.offset += int64(above.rows) * last.stride
		if err := l.backend.copyWithin(l.stream, t.at.plane, last, rows{t.row, 1}); err != nil {
			return err
		}
	}
	return nil
}

// stage copies the pixels of a band to where the device reads them, if it cannot
// read them where they are.
func (l *lane) stage(w *bandWork, first, count int) {
	if w.blocks[0] == nil {
		copyRows(host{l.in.staging.at, l.in.row}, w.pixels.from(first), rows{l.in.row, int64(count)})
	}
}

// deliver copies the sums of a band that has come back to where they belong, if
// the device did not.
func (l *lane) deliver(w *bandWork, first, count int) {
	if first > 0 {
		first++ // the row above is there
	} else {
		count++
	}
	for i, t := range l.tables(w.job.square != none) {
		if w.blocks[i+1] != nil {
			continue
		}
		dst, part := w.table(i).from(first), rows{t.row, int64(count)}
		copyRows(dst, host{t.staging.at, t.row}, part)
		if w.fresh {
			clearGaps(dst, part)
		}
	}
}

// wait waits for the band under way.
func (l *lane) wait() error { return l.backend.waitEvent(l.copied) }

// forget frees the events of all lanes.
func (l *lanes) forget() error {
	var errs []error
	for _, lane := range l.lanes {
		errs = append(errs, lane.forget())
	}
	return firstError(errs...)
}

// forget frees the events of a band.
func (l *lane) forget() error {
	var errs []error
	for _, e := range []*event{&l.summed, &l.copied} {
		if *e != 0 {
			errs = append(errs, l.backend.freeEvent(*e))
			*e = 0
		}
	}
	return firstError(errs...)
}

// A convoy is bands on lanes that keep their order in each of several steps, while
// others are at other steps. When one fails, all later ones do.
type convoy struct {
	turns  [steps][]chan struct{} // each lane's
	broken chan struct{}          // closed when a step has failed
	first  sync.Once
	failed error
}

const (
	queueing = iota // on the device
	waiting         // for the device: one at a time, since some drivers spin
	steps
)

func newConvoy(lanes int) *convoy {
	c := &convoy{broken: make(chan struct{})}
	for step := range c.turns {
		for range lanes {
			c.turns[step] = append(c.turns[step], make(chan struct{}, 1))
		}
		c.turns[step][0] <- struct{}{}
	}
	return c
}

// step takes a step for a band after all bands before it.
func (c *convoy) step(step, band int, take func() error) error {
	turns := c.turns[step]
	select {
	case <-turns[band%len(turns)]:
	case <-c.broken:
		return c.failed
	}
	if err := take(); err != nil {
		c.fail(err)
		return err
	}
	turns[(band+1)%len(turns)] <- struct{}{}
	return nil
}

// fail ends the convoy.
func (c *convoy) fail(err error) {
	c.first.Do(func() {
		c.failed = err
		close(c.broken)
	})
}
