package gpu

import (
	"errors"
	"math"
	"sync"
)

// A slabWork is a volume on the host that becomes a table on the host, in slabs of
// slices. Lanes take slabs in turn: while one is copied in, others are summed or
// copied out. To a lane a slab is an image, slice under slice.
type slabWork struct {
	device       *Device
	job          volumeJob // of a slab, without places
	kernels      Kernels
	depth        int
	slices       int // of a slab, 0 for what suits
	voxels, sums func(z int) host
}

const (
	// slabBytes is about what the sums of a slab take: enough for the device to be
	// busy, little enough for the copies of a usual volume to overlap.
	slabBytes = 8 << 20
	// slabsBytes is what all lanes may take together, if more than a few lanes do:
	// one on its way in, one being summed, one on its way out. A device keeps no more
	// for later.
	slabsBytes = 512 << 20
	fewLanes   = 3
)

// run makes the table in slabs, and in smaller and then fewer ones for as long as the
// device has too little memory.
func (w *slabWork) run() error {
	if err := w.device.enter(); err != nil {
		return err
	}
	defer w.device.leave()
	table := w.job.integrateJob.part(1)
	slice, err := table.lay() // with the gaps after rows, which are the most of short ones
	if err != nil {
		return err
	}
	slices, lanes := w.slices, laneCount()
	if slices == 0 {
		slices = int(max(1, slabBytes/slice))
	}
	most := math.MaxInt32/(w.job.height+1) - 2 // rows of a lane are counted in 31 bits
	slices = max(min(slices, w.depth, most), 1)
	lanes = min(lanes, max(fewLanes, int(slabsBytes/slice/int64(slices+1))))
	for {
		err := w.inSlabs(slices, min(lanes, ceilDiv(w.depth, slices)))
		switch {
		case !errors.Is(err, ErrMemory):
			return err
		case w.device.dropSpare():
		case slices > 1:
			slices = (slices + 1) / 2
		case lanes > 1:
			lanes /= 2
		default:
			return err
		}
	}
}

// inSlabs makes the table in slabs of so many slices. Each lane has a goroutine, which
// takes every so manyth slab all the way.
func (w *slabWork) inSlabs(slices, count int) (err error) {
	l := w.device.takeLanes()
	defer func() { err = firstError(err, w.device.keepLanes(l, err == nil)) }()
	if err := w.fit(l, slices, count); err != nil {
		return err
	}
	order := newConvoy(count)
	var done sync.WaitGroup
	for k := range count {
		done.Go(func() {
			for n := k; n*slices < w.depth; n += count {
				if !w.slab(l.lanes[:count], n, slices, order) {
					return
				}
			}
		})
	}
	done.Wait()
	return firstError(order.failed, l.forget())
}

// bytes is what all lanes have taken on the device.
func (l *lanes) bytes() (all int64) {
	for _, lane := range l.lanes {
		all += lane.in.bytes + lane.out.bytes + lane.squares.bytes
	}
	return all
}

// fit makes so many lanes for slabs of so many slices.
func (w *slabWork) fit(l *lanes, slices, count int) error {
	in := array{element: w.job.pixel, width: w.job.width, height: slices * w.job.height, channels: w.job.channels, count: 1}
	out := in
	out.element, out.border, out.height = w.job.sum, 1, (slices+1)*(w.job.height+1)-1
	for k := range count {
		if k == len(l.lanes) {
			s, err := w.device.backend.newStream()
			if err != nil {
				return err
			}
			l.lanes = append(l.lanes, &lane{backend: w.device.backend, stream: s})
		}
		if err := l.lanes[k].in.fit(w.device, in); err != nil {
			return err
		}
		if err := l.lanes[k].out.fit(w.device, out); err != nil {
			return err
		}
	}
	return nil
}

// of is the slices of a lane's band, each of so many rows, and what one of them is in
// page-locked memory.
func (b *band) of(height int) (at batch, staged func(z int) host, each rows) {
	at = b.at
	at.distance = int64(height) * at.stride
	all := host{b.staging.at, b.row}
	return at, func(z int) host { return all.from(z * height) }, rows{b.row, int64(height)}
}

// slab takes a slab in, sums it and takes the sums out, and says whether the next one
// may follow.
func (w *slabWork) slab(lanes []*lane, n, slices int, order *convoy) bool {
	own, first := lanes[n%len(lanes)], n*slices
	count := min(slices, w.depth-first)
	_, staged, each := own.in.of(w.job.height)
	for z := range count {
		copyRows(staged(z), w.voxels(first+z), each)
	}
	from, tables := 0, count+1
	if n > 0 { // the slab before delivers the slice that both have
		from, tables = 1, count
	}
	err := order.step(queueing, n, func() error {
		var before *lane
		if n > 0 {
			before = lanes[(n-1)%len(lanes)]
		}
		return w.start(own, before, slices, count, from, tables)
	})
	if err == nil {
		err = order.step(waiting, n, own.wait)
	}
	if err != nil {
		return false
	}
	_, staged, each = own.out.of(w.job.height + 1)
	for z := range tables {
		copyRows(w.sums(first+from+z), staged(z), each)
	}
	return true
}

// start queues a slab, which goes on from the one before it unless it is the first.
func (w *slabWork) start(l, before *lane, slices, count, from, tables int) (err error) {
	if err := l.forget(); err != nil {
		return err
	}
	b, job := l.backend, w.job
	var in, out rows
	job.in, _, in = l.in.of(job.height)
	job.out, _, out = l.out.of(job.height + 1)
	if err := b.copyIn(l.stream, job.in.plane, l.in.staging.at, in.bytes, rows{in.bytes, in.count * int64(count)}); err != nil {
		return err
	}
	if before != nil {
		if before != l {
			if err := b.waitFor(l.stream, before.summed); err != nil {
				return err
			}
		}
		last, _, _ := before.out.of(job.height + 1)
		// One run of bytes: drivers take rows of one buffer to overlap.
		slice := rows{(out.count-1)*job.out.stride + out.bytes, 1}
		if err := b.copyWithin(l.stream, job.out.plane, last.image(slices), slice); err != nil {
			return err
		}
	}
	job.stream, job.count, job.carry, job.gaps = l.stream, count, before != nil, true
	if err := w.device.volumeIntegrate(job, w.kernels); err != nil {
		return err
	}
	if l.summed, err = b.record(l.stream); err != nil {
		return err
	}
	if err := b.copyOut(l.stream, l.out.staging.at, out.bytes, job.out.image(from), rows{out.bytes, out.count * int64(tables)}); err != nil {
		return err
	}
	l.copied, err = b.record(l.stream)
	return err
}
