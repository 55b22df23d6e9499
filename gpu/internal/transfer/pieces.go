package transfer

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
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

// Run computes the table in pieces. While the device has too little memory, it retries with smaller
// pieces and then with fewer slots.
func (w *Work) Run(d *devmem.Device) (err error) {
	if err := d.Enter(); err != nil {
		return err
	}
	defer d.Leave()
	w.Job.Device = d
	if err := w.ended(); err != nil {
		return err
	}
	if w.Prepare != nil {
		var release func() error
		if w.Method, release, err = w.Prepare(d); err != nil {
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
		err := w.inPieces(units, min(slots, devmem.CeilDiv(w.Units, units)))
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

// inPieces computes the table in pieces of some units. Each slot has a goroutine, which processes
// its pieces one after another.
func (w *Work) inPieces(units, slots int) (err error) {
	d := w.Job.Device
	p, err := takePool(d, piecesPool, slots)
	if err != nil {
		return err
	}
	defer func() { err = keepPieces(p, err) }() // waits for running work after an error
	var blocks [3]*devmem.Block                 // page-locked memory of the caller's
	for i := range w.Sides {
		if blocks[i] = w.block(i); blocks[i] != nil {
			defer func() { err = driver.FirstError(err, d.ReleaseBlock(blocks[i])) }()
		}
	}
	for _, s := range p.slots[:slots] {
		for i := range s.sides {
			s.sides[i].theirs = devmem.Host{}
			if blocks[i] != nil {
				s.sides[i].theirs = w.Sides[i].At // not nil; each piece sets its own
			}
		}
		if err := p.fit(s, w, units, true, 0); err != nil {
			return err
		}
	}
	order, pieces := newStages(slots), devmem.CeilDiv(w.Units, units)
	through := make(chan struct{}, slots)
	var under sync.WaitGroup
	for k := range slots {
		under.Go(func() {
			for n := k; n < pieces && w.pass(p.slots[:slots], n, units, order); n += slots {
				through <- struct{}{}
			}
		})
	}
	go func() {
		under.Wait()
		close(through)
	}()
	done := 0
	for range through {
		done++
		w.report(float64(done) / float64(pieces))
	}
	return driver.FirstError(order.failed, driver.EachError(slices.Values(p.slots[:slots]), func(s *slot) error { return s.forget(d.Backend) }))
}

// keepPieces keeps working slots that are not too large for the next call, and frees others.
func keepPieces(p *pool, err error) error {
	if err == nil && p.Bytes() <= keptBytes {
		return p.device.KeepSpare(piecesPool, p)
	}
	return driver.FirstError(err, p.Free())
}

// block returns the page-locked memory that contains a side, row after row, or nil.
func (w *Work) block(side int) *devmem.Block {
	s := w.Sides[side]
	if !w.has(side) || s.Unit != s.At.Stride*int64(w.unitRows(side)) {
		return nil
	}
	return w.Job.Device.BlockOf(s.At, w.rows(side, w.Units+min(side, 1)))
}

// pass copies a piece in, sums it and copies the sums out. It reports whether to continue with the
// next piece.
func (w *Work) pass(slots []*slot, n, units int, order *stages) bool {
	own, first := slots[n%len(slots)], n*units
	count := min(units, w.Units-first)
	if err := w.ended(); err != nil {
		order.fail(err)
		return false
	}
	for i := range own.sides {
		if own.sides[i].theirs.At != nil {
			own.sides[i].theirs = w.Sides[i].From(first)
		}
	}
	if own.sides[0].theirs.At == nil {
		w.copyUnits(0, first, count, own.sides[0].rows(), true)
	}
	err := order.take(queueing, n, func() error {
		var before *slot
		if n > 0 {
			before = slots[(n-1)%len(slots)]
		}
		return own.queue(w, before, count)
	})
	if err == nil {
		err = order.take(waiting, n, func() error { return w.Job.Device.Backend.WaitEvent(own.copied) })
	}
	if err != nil {
		return false
	}
	from, tables := first, count+1
	if n > 0 { // the previous piece has delivered the unit that both have
		from, tables = first+1, count
	}
	for i := 1; i < 3 && w.has(i); i++ {
		if own.sides[i].theirs.At == nil {
			w.copyUnits(i, from, tables, own.sides[i].rows(), false)
		}
	}
	return true
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
			copyRows(there, at, each)
			continue
		}
		copyRows(at, there, each)
	}
}

var errStopped = errors.New("the loop has ended")
