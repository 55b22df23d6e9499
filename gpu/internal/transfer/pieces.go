package transfer

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
)

// SlotCount returns the greatest number of pieces in progress: one processor cannot copy as fast as
// the bus, and each slot has one.
func SlotCount() int { return min(max(runtime.GOMAXPROCS(0), 3), 12) }

// keptBytes bounds the memory of the slots of pieces, beyond the few that are always used: one for
// a piece that is copied in, one for a piece that is summed, and one for a piece that is copied
// out. A device keeps no more for later.
const (
	keptBytes = 512 << 20
	fewSlots  = 3
)

// sizes returns the number of units in a piece, and the number of slots.
func (w *Work) sizes() (units, slots int) {
	if w.Volume || w.Job.Bins > 0 {
		return w.largeSizes()
	}
	return w.bandSizes()
}

// bandSizes returns the sizes for images. Queuing a band takes about as long as a processor needs
// for bandCost bytes, and nothing overlaps with the work for the first band before it is queued, or
// for the last one afterwards. The result minimizes the sum of both.
func (w *Work) bandSizes() (units, slots int) {
	const (
		bandCost = 1200 << 10
		most     = 8 << 20   // in one slot
		all      = 256 << 20 // in all slots, unless two rows need more
	)
	row, laid := w.rowBytes()
	units = w.Piece
	if units == 0 {
		units = int(max(1, min(math.Sqrt(row*float64(w.Units)*bandCost)/row, most/laid)))
	}
	units = min(units, w.Units)
	return units, int(max(2, min(all/(laid*float64(units)), float64(SlotCount()))))
}

// largeSizes returns the sizes for slices, and for tables that are far larger than their pixels.
func (w *Work) largeSizes() (units, slots int) {
	// pieceBytes is the approximate size of the sums of a piece: enough to keep the device busy,
	// and small enough that the copies of typical work overlap.
	const pieceBytes = 8 << 20
	unit := w.array(1, 1)
	rows := int64(w.unitRows(1))
	if _, err := unit.Layout(); err == nil { // include the gaps after rows, which dominate for short rows
		rows *= unit.At.Stride
	}
	units = w.Piece
	if units == 0 {
		units = int(max(1, pieceBytes/rows))
	}
	most := math.MaxInt32/w.unitRows(1) - 2 // rows of a slot are counted in 31 bits
	units = max(min(units, w.Units, most), 1)
	return units, min(SlotCount(), max(fewSlots, int(keptBytes/rows/int64(units+1))))
}

// Run computes the table of the work. A single device passes it through its slots piece by piece:
// each slot has a goroutine. While the device has too little memory, Run retries with smaller pieces
// and then with fewer slots.
func (g Group) Run(w *Work) (err error) {
	if len(g.Devices) > 1 {
		return g.runTogether(w)
	}
	d := g.Devices[0]
	if err := d.Enter(); err != nil {
		return err
	}
	defer d.Leave()
	w.Job.Device = d.Device
	if err := w.ended(); err != nil {
		return err
	}
	if w.Prepare != nil {
		var release func() error
		if w.Method, release, err = w.Prepare(d.Device); err != nil {
			return err
		}
		defer func() { err = driver.FirstError(err, release()) }()
	}
	if w.empty() {
		w.clear()
		w.report(1)
		return nil
	}
	for units, slots := w.sizes(); ; {
		p, err := w.cut(d, units, min(slots, devmem.CeilDiv(w.Units, units)))
		if err == nil {
			for k := range p.slots {
				p.under.Go(func() { p.pass(k) })
			}
			err = p.finish()
		}
		switch {
		case !outOfMemory(err):
			return err
		case d.DropSpare():
		case units > 1:
			units = (units + 1) / 2
		case slots > 1:
			slots /= 2
		default:
			return err
		}
	}
}

// report reports the progress of the work.
func (w *Work) report(done float64) {
	if w.Progress != nil {
		w.Progress(done)
	}
}

// A pieces is work that passes through the slots of one device, piece by piece.
type pieces struct {
	work    *Work
	pool    *pool
	slots   []*slot
	blocks  [3]*devmem.Block // page-locked memory of the caller's
	units   int              // in a piece
	count   int
	order   *stages
	under   sync.WaitGroup // the goroutines of the slots
	through chan struct{}  // receives a value for every piece that is complete
}

// cut divides the work into pieces of some units, and takes slots with memory for a piece each.
func (w *Work) cut(d *Device, units, slots int) (p *pieces, err error) {
	p = &pieces{work: w, units: units, count: devmem.CeilDiv(w.Units, units), order: newStages(slots), through: make(chan struct{}, slots)}
	if p.pool, err = takePool(d, forPieces, slots); err != nil {
		return nil, err
	}
	p.slots = p.pool.slots[:slots]
	for i := range w.Sides {
		p.blocks[i] = w.block(i)
	}
	for _, s := range p.slots {
		for i := range s.sides {
			s.sides[i].theirs = devmem.Host{}
			if p.blocks[i] != nil {
				s.sides[i].theirs = w.Sides[i].At // not nil; each piece sets its own
			}
		}
		if err := p.pool.fit(s, w, units, true, 0); err != nil {
			return nil, p.end(err)
		}
	}
	return p, nil
}

// pass computes every len(slots)-th piece in slot k, until a piece of any slot fails. Pieces are
// queued in order, each after the one that it continues from, and are waited for in order.
func (p *pieces) pass(k int) {
	w, own := p.work, p.slots[k]
	for n := k; n < p.count; n += len(p.slots) {
		units := min(p.units, w.Units-n*p.units)
		if err := w.ended(); err != nil {
			p.order.fail(err)
			return
		}
		own.stage(w, n*p.units, units)
		var before *slot
		if n > 0 {
			before = p.slots[(n-1)%len(p.slots)]
		}
		if !p.order.enter(queueing, n) {
			return
		}
		job, err := own.send(w, before, units)
		if err == nil {
			err = method.Run(w.Method, job, w.Way)
		}
		if err == nil {
			err = own.fetch(w, min(n, 1)) // the previous piece delivers the unit that both have
		}
		if !p.order.leave(queueing, n, err) || !p.order.enter(waiting, n) {
			return
		}
		if !p.order.leave(waiting, n, w.Job.Device.Backend.WaitEvent(own.copied)) {
			return
		}
		own.store(w, n*p.units, min(n, 1))
		p.through <- struct{}{}
	}
}

// finish waits for all pieces and returns the slots.
func (p *pieces) finish() error {
	go func() {
		p.under.Wait()
		close(p.through)
	}()
	done := 0
	for range p.through {
		done++
		p.work.report(float64(done) / float64(p.count))
	}
	b := p.work.Job.Device.Backend
	return p.end(driver.FirstError(p.order.failed, driver.EachError(slices.Values(p.slots), func(s *slot) error { return s.forget(b) })))
}

// end keeps the slots for later work, or frees them after an error as soon as their work has ended.
// Then it releases the memory of the caller.
func (p *pieces) end(err error) error {
	err = keepPieces(p.pool, err)
	for _, block := range p.blocks {
		if block != nil {
			err = driver.FirstError(err, p.work.Job.Device.ReleaseBlock(block))
		}
	}
	return err
}

// keepPieces keeps working slots that are not too large for the next call, and frees others.
func keepPieces(p *pool, err error) error {
	if err == nil && p.bytes() <= keptBytes {
		return p.device.keepSpare(p)
	}
	return driver.FirstError(err, p.free())
}

// block returns the page-locked memory that contains a side, row after row, or nil.
func (w *Work) block(side int) *devmem.Block {
	s := w.Sides[side]
	if !w.has(side) || s.Unit != s.At.Stride*int64(w.unitRows(side)) {
		return nil
	}
	return w.Job.Device.BlockOf(s.At, w.rows(side, w.Units+min(side, 1)))
}

// stage copies the pixels of a piece, which begins at unit first, to where the device reads them.
func (s *slot) stage(w *Work, first, units int) {
	for i := range s.sides {
		if s.sides[i].theirs.At != nil {
			s.sides[i].theirs = w.Sides[i].From(first)
		}
	}
	if s.sides[0].theirs.At == nil {
		w.copyUnits(0, first, units, s.sides[0].rows(), true)
	}
}

// store copies the sums of a piece to the table, without the units to skip.
func (s *slot) store(w *Work, first, skip int) {
	for i := 1; i < 3 && w.has(i); i++ {
		if s.sides[i].theirs.At == nil {
			w.copyUnits(i, first+skip, s.units+1-skip, s.sides[i].rows(), false)
		}
	}
}

// copyUnits copies units of a side to where they are staged, or back.
func (w *Work) copyUnits(side, first, count int, staged devmem.Host, in bool) {
	each := w.rows(side, 1)
	if s := w.Sides[side]; s.Unit == s.At.Stride*each.Count { // no gaps between units
		each, count = w.rows(side, count), 1
	}
	for n := range count {
		at, there := w.Sides[side].From(first+n), staged.From(n*int(each.Count))
		if in {
			devmem.CopyRows(there, at, each)
			continue
		}
		devmem.CopyRows(at, there, each)
	}
}

var errStopped = errors.New("the loop has ended")
