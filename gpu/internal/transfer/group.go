package transfer

import (
	"errors"
	"slices"
	"sync"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
)

// A Group is a set of devices that share work. If one fails, the others take over its part.
type Group struct {
	Devices []*Device
	Failed  func(*Device, error) // reports a device that failed, and why; may be nil
}

// Single returns a group of one device.
func Single(d *Device) Group { return Group{Devices: []*Device{d}} }

// SameModel reports whether all devices are of the same model, so that their kernels add in the same
// order.
func (g Group) SameModel() bool {
	first := g.Devices[0].Info()
	return !slices.ContainsFunc(g.Devices, func(d *Device) bool {
		info := d.Info()
		info.Index = first.Index
		return info != first
	})
}

// fixed reports whether it matters which device computes which part: float sums of different
// devices may differ in their last bits, and must be the same in every run.
func (g Group) fixed(w *Work) bool {
	return (w.Job.Sum.Float() || w.Job.Square.Float()) && !g.SameModel()
}

// reportFailed reports a device that failed.
func (g Group) reportFailed(d *Device, err error) {
	if g.Failed != nil {
		g.Failed(d, err)
	}
}

// runTogether computes the table of the work in pieces that are distributed over all devices.
func (g Group) runTogether(w *Work) error {
	if err := w.ended(); err != nil {
		return err
	}
	if w.empty() {
		return g.first(func(d *Device) error { return Single(d).Run(w) })
	}
	units, slots := w.sizes()
	for bands := g.bands(w, units); ; {
		err := g.inPieces(w, units, bands, max(slots/bands, min(slots, fewSlots)))
		switch {
		case !outOfMemory(err):
			return err
		case bands > 1:
			bands /= 2
		case units > 1:
			units = (units + 1) / 2
		case slots > 1:
			slots /= 2
		default:
			return err
		}
	}
}

// first calls do for one device after the other until it succeeds.
func (g Group) first(do func(*Device) error) (err error) {
	for _, d := range g.Devices {
		failed := do(d)
		if failed == nil {
			return nil
		}
		err = driver.FirstError(err, failed)
	}
	return err
}

// bands returns the number of bands, of units units each, in a piece. The last unit of a piece goes
// through the host to the device of the next piece, which takes about half as long as the transfer
// of a band. While every device copies a piece, this happens once per device.
func (g Group) bands(w *Work, units int) int {
	devices := len(g.Devices)
	return max(1, min((devices+1)/2, w.Units/units/(2*devices)))
}

// A spread is work whose pieces are distributed over the devices of a group. Slots take pieces as
// they become free. A slot sends the pixels of its piece to its device, and waits for the table's
// last unit before the piece, which another device has stored in the table on the host. Then it
// sums the piece, and passes its own last unit on before it fetches the rest.
//
// A piece is several bands, each as large as on a single device, so that the sums have the same
// bits.
type spread struct {
	group        Group
	work         *Work
	units, bands int // units in a band, bands in a piece
	pieces       int
	slots        int // greatest number of slots per device
	through      chan struct{}

	mu      sync.Mutex
	change  sync.Cond
	next    []int // the next piece of each device, or of all devices together
	back    []int // pieces that were given back
	carried int   // pieces whose last units are on the host
	done    int   // completed pieces
	members int   // devices that take part
	absent  []bool
	failed  []error // why devices left
	err     error   // what stops all devices
}

// inPieces computes the table in pieces of some bands of some units.
func (g Group) inPieces(w *Work, units, bands, slots int) error {
	s := &spread{
		group: g, work: w, units: units, bands: bands, pieces: devmem.CeilDiv(w.Units, units*bands),
		members: len(g.Devices), absent: make([]bool, len(g.Devices)), next: []int{0},
	}
	s.slots = min(slots, devmem.CeilDiv(s.pieces, len(g.Devices)))
	s.through = make(chan struct{}, s.slots)
	s.change.L = &s.mu
	if g.fixed(w) {
		s.next = nil
		for i := range g.Devices {
			s.next = append(s.next, i)
		}
	}
	var under sync.WaitGroup
	for i, d := range g.Devices {
		under.Go(func() { s.leave(i, s.join(i, d)) })
	}
	go func() {
		under.Wait()
		close(s.through)
	}()
	done := 0
	for range s.through {
		done++
		w.report(float64(done) / float64(s.pieces))
	}
	return s.err
}

// A member is a device that takes part.
type member struct {
	index   int
	work    *Work // the work for this device
	slots   int   // slots still working; guarded by the spread's mu
	err     error // why the device takes no more pieces; guarded by the spread's mu
	waiting sync.Mutex
}

// join makes a device take part until everything is done, or the device fails.
func (s *spread) join(index int, d *Device) (err error) {
	if err := d.Enter(); err != nil {
		return err
	}
	defer d.Leave()
	own := *s.work
	own.Job.Device = d.Device
	if own.Prepare != nil {
		var release func() error
		if own.Method, release, err = own.Prepare(d.Device); err != nil {
			return err
		}
		defer func() { err = driver.FirstError(err, release()) }()
	}
	p, err := takePool(d, forPieces, s.slots)
	if err != nil {
		return err
	}
	defer func() { err = keepPieces(p, err) }() // waits for running work after an error
	var blocks [3]*devmem.Block
	for i := range own.Sides {
		if blocks[i] = own.block(i); blocks[i] != nil {
			defer func() { err = driver.FirstError(err, d.ReleaseBlock(blocks[i])) }()
		}
	}
	slots, err := s.fit(p, &own, blocks)
	if err != nil {
		return err
	}
	m := &member{index: index, work: &own, slots: len(slots)}
	var under sync.WaitGroup
	for _, slot := range slots {
		under.Go(func() { s.serve(m, slot) })
	}
	under.Wait()
	return driver.FirstError(m.err, driver.EachError(slices.Values(slots), func(s *slot) error { return s.forget(d.Backend) }))
}

// fit allocates memory in as many slots as possible.
func (s *spread) fit(p *pool, w *Work, blocks [3]*devmem.Block) ([]*slot, error) {
	one := func(own *slot) error {
		for i := range own.sides {
			own.sides[i].theirs = devmem.Host{}
			if blocks[i] != nil {
				own.sides[i].theirs = w.Sides[i].At // not nil; each piece sets its own
			}
		}
		if err := p.fit(own, w, s.units*s.bands, true, 0); err != nil {
			return err
		}
		return own.fitEnds(w)
	}
	for n, own := range p.slots[:s.slots] {
		err := one(own)
		if outOfMemory(err) && (p.trim() || p.device.DropSpare()) {
			err = one(own)
		}
		if outOfMemory(err) && n > 0 {
			return p.slots[:n], own.free(p.device.Device)
		}
		if err != nil {
			return nil, err
		}
	}
	return p.slots[:s.slots], nil
}

// leave ends the participation of a device. If the last one leaves unfinished work, its error
// becomes that of the group.
func (s *spread) leave(index int, err error) {
	s.mu.Lock()
	s.members--
	s.absent[index] = true
	others := s.err == nil && (s.done == s.pieces || s.members > 0)
	if err != nil {
		s.failed = append(s.failed, err)
	}
	if s.err == nil && s.members == 0 && s.done < s.pieces {
		s.err = joinErrors(s.failed)
	}
	s.change.Broadcast()
	s.mu.Unlock()
	if err != nil && others {
		s.group.reportFailed(s.group.Devices[index], err)
	}
}

// joinErrors combines several errors into one.
func joinErrors(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	same := !slices.ContainsFunc(errs, func(err error) bool { return err.Error() != errs[0].Error() })
	if same {
		return errs[0]
	}
	return driver.OneLine{Err: errors.Join(errs...)}
}

// errBefore makes a slot give up its piece in favor of an earlier one that was given back.
var errBefore = errors.New("an earlier piece is still waiting")

// serve processes pieces in a slot until there are no more.
func (s *spread) serve(m *member, own *slot) {
	for n, ok := s.take(m); ok; n, ok = s.take(m) {
		err := s.pass(m, own, n)
		if err == nil {
			s.through <- struct{}{}
			continue
		}
		// No one may use the slot or the caller's memory once another device has the piece.
		waited := m.work.Job.Device.Backend.Wait(own.sum)
		if err == errBefore {
			err = waited
		}
		if s.giveBack(m, n, err) {
			return
		}
	}
}

// take returns the first available piece, and whether there is one for this device. While others
// hold all pieces it waits, because they may fail.
func (s *spread) take(m *member) (n int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && m.err == nil && s.done < s.pieces {
		if s.err = s.work.ended(); s.err != nil {
			s.change.Broadcast()
			break
		}
		n, from := s.lowest(m)
		switch {
		case n == s.pieces:
			s.change.Wait()
			continue
		case from < 0:
			s.back = slices.DeleteFunc(s.back, func(b int) bool { return b == n })
		default:
			s.next[from] += len(s.next)
		}
		return n, true
	}
	return 0, false
}

// lowest returns the first piece that a device may take, and the index in s.next that it comes
// from, or -1 if it was given back. If there is none, n is the number of pieces.
func (s *spread) lowest(m *member) (n, from int) {
	n, from = s.pieces, -1
	for _, b := range s.back {
		n = min(n, b)
	}
	for i, next := range s.next {
		if next < n && (len(s.next) == 1 || i == m.index || s.absent[i]) {
			n, from = next, i
		}
	}
	return n, from
}

// giveBack returns a piece to the others after an error, and reports whether the slot is done. If
// memory is short, the other slots of the device continue; otherwise the device is done.
func (s *spread) giveBack(m *member, n int, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back = append(s.back, n)
	s.change.Broadcast()
	if err == nil {
		return false
	}
	s.err = driver.FirstError(s.err, s.work.ended()) // may be the cause of err
	if m.slots--; !outOfMemory(err) || m.slots == 0 {
		m.err = driver.FirstError(m.err, err)
	}
	return true
}

// await waits for the last unit of the previous piece.
func (s *spread) await(m *member, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.carried < n {
		if err := driver.FirstError(s.err, m.err); err != nil {
			return err
		}
		if before, _ := s.lowest(m); before < n {
			return errBefore
		}
		s.change.Wait()
	}
	return nil
}

// carry stores the last unit of a piece where the next piece finds it, unless it is already there:
// a piece is computed again if its device failed later.
func (s *spread) carry(n int, deliver func()) {
	s.mu.Lock()
	there := s.carried > n
	s.mu.Unlock()
	if there {
		return
	}
	deliver() // the next piece waits, and no one else has this one
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carried = n + 1
	s.change.Broadcast()
}

// finish counts a completed piece.
func (s *spread) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done++; s.done == s.pieces {
		s.change.Broadcast()
	}
}

// pass copies a piece in, sums it and copies the sums out.
func (s *spread) pass(m *member, own *slot, n int) error {
	w, b := m.work, m.work.Job.Device.Backend
	first := n * s.units * s.bands
	count := min(s.units*s.bands, w.Units-first)
	if err := own.forget(b); err != nil {
		return err
	}
	own.stage(w, first, count)
	if err := own.sides[0].send(own.up, b, w.rows(0, count)); err != nil {
		return err
	}
	if err := s.await(m, n); err != nil {
		return err
	}
	skip := min(n, 1) // the unit that the previous piece delivers
	if err := s.queue(w, own, n, first, count, skip); err != nil {
		return err
	}
	if err := b.WaitEvent(own.summed); err != nil {
		return err
	}
	s.carry(n, func() {
		for i := 1; i < 3 && w.has(i); i++ {
			w.copyUnits(i, first+count, 1, own.ends[i].outgoing(w, i), false)
		}
	})
	m.waiting.Lock() // one at a time, because some drivers spin
	err := b.WaitEvent(own.copied)
	m.waiting.Unlock()
	if err != nil {
		return err
	}
	for i := 1; i < 3 && w.has(i); i++ {
		if own.sides[i].theirs.At == nil {
			w.copyUnits(i, first+skip, count-skip, own.sides[i].rows(), false)
		}
	}
	s.finish()
	return nil
}

// queue queues the rest of a piece, when the unit before it is available.
func (s *spread) queue(w *Work, own *slot, n, first, count, skip int) (err error) {
	b := w.Job.Device.Backend
	for i := 1; n > 0 && i < 3 && w.has(i); i++ {
		in := own.ends[i].incoming(w, i)
		w.copyUnits(i, first, 1, in, true)
		if err := b.CopyIn(own.sum, own.sides[i].at.Plane, in.At, in.Stride, w.rows(i, 1)); err != nil {
			return err
		}
	}
	for from := 0; from < count; from += s.units {
		job := w.band(own, from, min(s.units, count-from))
		job.Carry = n > 0 || from > 0
		if err := method.Run(w.Method, job, w.Way); err != nil {
			return err
		}
	}
	for i := 1; i < 3 && w.has(i); i++ {
		out, last := own.ends[i].outgoing(w, i), own.sides[i].at.Plane
		last.Offset += int64(count*w.unitRows(i)) * last.Stride
		if err := b.CopyOut(own.sum, out.At, out.Stride, last, w.rows(i, 1)); err != nil {
			return err
		}
	}
	if own.summed, err = b.Record(own.sum); err != nil {
		return err
	}
	for i := 1; count > skip && i < 3 && w.has(i); i++ {
		if err := own.sides[i].fetch(own.down, b, int64(skip*w.unitRows(i)), w.rows(i, count-skip)); err != nil {
			return err
		}
	}
	own.copied, err = b.Record(own.down)
	return err
}

// ends is page-locked memory for the unit before a piece of a table, followed by its last unit.
type ends struct{ host driver.HostMemory }

// fitEnds allocates memory for both ends of a slot if it has too little.
func (s *slot) fitEnds(w *Work) (err error) {
	d := w.Job.Device
	for i := 1; i < 3 && w.has(i); i++ {
		e := &s.ends[i]
		r := w.rows(i, 2)
		if e.host.Bytes >= r.Bytes*r.Count {
			continue
		}
		if err := e.free(d); err != nil {
			return err
		}
		if e.host, err = d.AllocateHost(r.Bytes * r.Count); err != nil {
			e.host = driver.HostMemory{}
			return err
		}
	}
	return nil
}

func (e *ends) free(d *devmem.Device) error {
	m := e.host
	e.host = driver.HostMemory{}
	if m.At == nil {
		return nil
	}
	return d.Backend.FreeHost(m)
}

// incoming returns the memory of the unit before a piece on its way to the device, and outgoing that of the
// last unit on its way back.
func (e *ends) incoming(w *Work, side int) devmem.Host {
	return devmem.Host{At: e.host.At, Stride: w.rows(side, 1).Bytes}
}

func (e *ends) outgoing(w *Work, side int) devmem.Host {
	return e.incoming(w, side).From(w.unitRows(side))
}
