package gpu

import (
	"runtime"
	"sync"
	"unsafe"
)

// laneCount is one band on its way in, one being summed, one on its way out.
const laneCount = 3

// lanes are what bands go through in turn.
type lanes struct{ lanes []*lane }

// A lane is a stream, a band on the device and page-locked memory for it on the
// host.
type lane struct {
	backend          backend
	stream           stream
	in, out, squares band
	summed, copied   event
	first, rows      int // of the band under way
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

// keepLanes puts lanes that work aside for the next call, and frees others.
func (d *Device) keepLanes(l *lanes, works bool) error {
	d.mu.Lock()
	keep := works && d.lanes == nil
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
		err := lane.in.fit(d.backend, image)
		if err == nil {
			err = lane.out.fit(d.backend, table)
		}
		if err == nil && job.square != none {
			err = lane.squares.fit(d.backend, squares)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fit lays the band out as a, and takes memory on both sides where it has too
// little.
func (b *band) fit(from backend, a array) error {
	bytes, err := a.lay()
	if err != nil {
		return err
	}
	row := a.rowBytes()
	if b.bytes < bytes || b.staging.bytes < row*int64(a.height+a.border) {
		if err := b.free(from); err != nil {
			return err
		}
		if b.at.memory, err = from.alloc(bytes); err != nil {
			return err
		}
		b.bytes = bytes
		if b.staging, err = from.allocHost(row * int64(a.height+a.border)); err != nil {
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

// start queues a band of rows, which goes on from the one above it unless it is
// the first.
func (l *lane) start(d *Device, w *bandWork, above *lane, first, count int) (err error) {
	b, n := l.backend, int64(count)
	l.first, l.rows = first, count
	gather(l.in.staging.at, w.pixels, int64(first), n, l.in.row)
	if err := b.copyIn(l.stream, l.in.at.plane, l.in.staging.at, l.in.row, rows{l.in.row, n}); err != nil {
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
	if l.summed, err = b.record(l.stream); err != nil {
		return err
	}
	for _, t := range l.tables(job.square != none) {
		from := t.at.plane
		skip := int64(0)
		if above != nil { // which delivers the row that both have
			skip = 1
			from.offset += from.stride
		}
		if err := b.copyOut(l.stream, t.staging.at, t.row, from, rows{t.row, n + 1 - skip}); err != nil {
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
	if err := l.backend.waitFor(l.stream, above.summed); err != nil {
		return err
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

// finish waits for the band under way, if any, and copies its sums to where they
// belong.
func (l *lane) finish(w *bandWork) error {
	if l.copied == 0 {
		return nil
	}
	if err := l.backend.waitEvent(l.copied); err != nil {
		return err
	}
	first, n := int64(l.first)+1, int64(l.rows)
	if l.first == 0 {
		first, n = 0, n+1
	}
	scatter(w.sums, first, n, l.out.staging.at, l.out.row)
	if w.job.square != none {
		scatter(w.squares, first, n, l.squares.staging.at, l.squares.row)
	}
	return l.forget()
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

// gather copies rows of the host to memory without gaps, and scatter the other
// way.
func gather(dst unsafe.Pointer, src host, first, rows, bytes int64) {
	eachRow(rows, bytes, func(y int64) { copyBytes(unsafe.Add(dst, y*bytes), src.row(first+y), bytes) })
}

func scatter(dst host, first, rows int64, src unsafe.Pointer, bytes int64) {
	eachRow(rows, bytes, func(y int64) { copyBytes(dst.row(first+y), unsafe.Add(src, y*bytes), bytes) })
}

func copyBytes(dst, src unsafe.Pointer, n int64) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

// eachRow calls f for every row, on several processors where there is enough to
// copy: one cannot keep up with the bus.
func eachRow(rows, bytes int64, f func(y int64)) {
	const worth = 1 << 20 // bytes a goroutine
	workers := min(int64(runtime.GOMAXPROCS(0)), rows*bytes/worth, rows, 8)
	if workers <= 1 {
		for y := range rows {
			f(y)
		}
		return
	}
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			for y := rows * k / workers; y < rows*(k+1)/workers; y++ {
				f(y)
			}
		})
	}
	wg.Wait()
}
