package transfer

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
)

// Tables holds the operations of a pipeline on the tables T that it returns.
type Tables[T any] struct {
	Given bool // the caller provides the tables

	Fresh func(*Work) (T, error)                     // returns a table in new memory
	Over  func(w *Work, sums, squares devmem.Host) T // returns a table in existing memory
	Rows  func(T) (sums, squares devmem.Host)        // returns the location of a table
	Empty func(T)                                    // empties a table
}

// Images yields the images for a pipeline, each with its table if tables are given, or with its
// error.
type Images[T any] func(yield func(table T, w *Work, err error) bool)

// Pipeline computes the tables of images, inFlight of which are in progress at a time. If reuse is
// set, it yields tables in the memory that the device wrote to.
func Pipeline[T any](ctx context.Context, g Group, images Images[T], inFlight int, reuse bool, kind Tables[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		r, err := newRun(g, inFlight, reuse, kind)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		defer r.end()
		more := true
		images(func(table T, w *Work, err error) bool {
			r.feed(table, w, err)
			more = r.deliver(ctx, yield, false)
			return more
		})
		r.whole = more && r.deliver(ctx, yield, true)
	}
}

// A run is one loop over a pipeline. Each image has a goroutine, which stages its pixels, queues
// its work and waits for its table. On each device, at most one image is at each of these stages,
// in the order of the images, and the loop yields tables in order.
type run[T any] struct {
	group Group
	kind  Tables[T]
	reuse bool
	lines []*line[T]
	ahead int // greatest number of images in flight

	stop  chan struct{}  // closed when the loop has ended
	under sync.WaitGroup // all goroutines

	fed      int           // images started
	queue    []*passage[T] // in the order of the images
	starting chan struct{} // closed when the memory of the last image may change; nil before and after
	failed   bool          // some image had an error
	whole    bool          // all images were processed
}

// A line is the part of a run on one device.
type line[T any] struct {
	run    *run[T]
	device *Device
	slots  *pool
	idle   chan *slot   // available to the next image
	live   int          // slots in use; belongs to the goroutine that stages
	known  method.Job   // a job for which there was enough memory; belongs to the goroutine that stages
	last   milestones   // of the last image
	busy   atomic.Int64 // images in progress
	out    atomic.Bool  // the device has failed: others take the next images
}

func newRun[T any](g Group, inFlight int, reuse bool, kind Tables[T]) (*run[T], error) {
	r := &run[T]{group: g, kind: kind, reuse: reuse, ahead: inFlight, stop: make(chan struct{})}
	slots := devmem.CeilDiv(inFlight, len(g.Devices))
	if reuse {
		slots++ // the loop holds one
	}
	failed := make([]error, len(g.Devices))
	for i, d := range g.Devices {
		l, err := r.newLine(d, slots)
		if failed[i] = err; err == nil {
			r.lines = append(r.lines, l)
		}
	}
	if len(r.lines) == 0 {
		return nil, joinErrors(failed)
	}
	for i, err := range failed {
		if err != nil {
			g.reportFailed(g.Devices[i], err)
		}
	}
	return r, nil
}

func (r *run[T]) newLine(d *Device, slots int) (*line[T], error) {
	l := &line[T]{run: r, device: d, live: slots, idle: make(chan *slot, slots)}
	if err := d.Retain(); err != nil {
		return nil, err
	}
	var err error
	if l.slots, err = takeImages(d, slots); err != nil {
		return nil, driver.FirstError(err, d.Release())
	}
	for _, s := range l.slots.slots[:slots] {
		l.idle <- s
	}
	return l, nil
}

// next returns the line for the next image: the one with the fewest images in progress among those
// that have not failed.
func (r *run[T]) next(w *Work) *line[T] {
	turn := r.fed
	r.fed++
	var best *line[T]
	for i := range r.lines {
		l := r.lines[(turn+i)%len(r.lines)]
		switch {
		case i == 0, best.out.Load() && !l.out.Load():
			best = l
		case l.out.Load():
		case !best.out.Load() && !r.group.fixed(w) && l.busy.Load() < best.busy.Load():
			best = l
		}
	}
	return best
}

// feed starts the processing of an image, with its table if that is given, or records its error.
func (r *run[T]) feed(table T, w *Work, err error) {
	p := &passage[T]{done: make(chan struct{}), table: table, err: err}
	r.queue = append(r.queue, p)
	if err != nil {
		close(p.done)
		return
	}
	l := r.next(w)
	w.stop, w.Job.Device = r.stop, l.device.Device
	free := make(chan struct{})
	before, own := l.last, milestones{make(chan struct{}), make(chan struct{})}
	r.starting, l.last, p.line = free, own, l
	l.busy.Add(1)
	r.under.Go(func() {
		defer close(p.done)
		defer l.busy.Add(-1)
		s, err := l.start(p, w, before, sync.OnceFunc(func() { close(free) }))
		close(own.queued)
		if s != nil {
			err = l.finish(p, s, w, before, own)
		} else {
			close(own.there)
		}
		p.err = err
	})
}

// deliver yields tables until the next image can start, or all of them, and reports whether the
// loop continues. If not, nothing is running when it returns, so that the source of the images may
// free its memory.
func (r *run[T]) deliver(ctx context.Context, yield func(T, error) bool, all bool) (more bool) {
	defer func() {
		if !more {
			r.halt()
		}
	}()
	var none T
	for len(r.queue) > 0 {
		if err := ctx.Err(); err != nil {
			yield(none, err)
			return false
		}
		oldest := r.queue[0]
		if !all && r.starting == nil && len(r.queue) < r.ahead {
			select {
			case <-oldest.done:
			default:
				return true
			}
		} else {
			select {
			case <-oldest.done:
			case <-r.starting:
				r.starting = nil
				continue
			case <-ctx.Done():
				continue
			}
		}
		r.queue = r.queue[1:]
		r.failed = r.failed || oldest.err != nil
		again := yield(oldest.table, oldest.err)
		r.release(oldest)
		if !again || errors.Is(oldest.err, boxsum.ErrClosed) {
			return false
		}
	}
	return true
}

// release takes back a table that the loop no longer uses.
func (r *run[T]) release(p *passage[T]) {
	if r.reuse && p.err == nil {
		r.kind.Empty(p.table)
	}
	if p.slot != nil {
		p.line.idle <- p.slot
	}
}

// halt stops and waits for everything in progress. Calling it again does nothing.
func (r *run[T]) halt() {
	select {
	case <-r.stop:
	default:
		close(r.stop)
	}
	r.under.Wait()
}

// end keeps the slots for the next run, or frees them. An error here belongs to no image; the
// device reports its cause to the next call.
func (r *run[T]) end() {
	r.halt()
	for _, l := range r.lines {
		_ = keepImages(l.slots, r.whole && !r.failed && !l.out.Load())
		_ = l.device.Release()
	}
}
