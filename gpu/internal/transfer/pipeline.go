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

// Tables is what a pipeline must know of the tables T that it makes.
type Tables[T any] struct {
	Given bool // by the caller

	Fresh func(*Work) (T, error)                     // in memory of its own
	Over  func(w *Work, sums, squares devmem.Host) T // in memory that is there
	Rows  func(T) (sums, squares devmem.Host)        // where it lies
	Empty func(T)                                    // makes it hold nothing
}

// Images are what a pipeline works on, each with its table if that is given, or with what
// is wrong with it.
type Images[T any] func(yield func(table T, w *Work, err error) bool)

// Pipeline makes the tables of images, inFlight of which are under way at a time, and with
// reuse hands them out where the device wrote them to.
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

// A run is one loop over a pipeline. Each image has a goroutine, which stages its
// pixels, queues its work and waits for its table. On each device one at a time is at each
// of these, in the order of the images, and the loop gets tables in order.
type run[T any] struct {
	group Group
	kind  Tables[T]
	reuse bool
	lines []*line[T]
	ahead int // images in flight at most

	stop  chan struct{}  // closed when the loop has ended
	under sync.WaitGroup // all goroutines

	fed      int           // images
	queue    []*passage[T] // in the order of the images
	starting chan struct{} // closed when the memory of the last image is free; nil before and after
	failed   bool          // some image has an error
	whole    bool          // all images went through
}

// A line is the images of a run on one device.
type line[T any] struct {
	*run[T]
	device *devmem.Device
	slots  *pool
	idle   chan *slot   // those that the next image can have
	live   int          // slots that take part; of the goroutine that stages
	known  method.Job   // for which there was memory; of the goroutine that stages
	last   milestones   // of the last image
	busy   atomic.Int64 // images under way
	out    atomic.Bool  // the device has failed: others take the next images
}

func newRun[T any](g Group, inFlight int, reuse bool, kind Tables[T]) (*run[T], error) {
	r := &run[T]{group: g, kind: kind, reuse: reuse, ahead: inFlight, stop: make(chan struct{})}
	slots := devmem.CeilDiv(inFlight, len(g.Devices))
	if reuse {
		slots++ // one is the loop's
	}
	failed := make([]error, len(g.Devices))
	for i, d := range g.Devices {
		l, err := r.newLine(d, slots)
		if failed[i] = err; err == nil {
			r.lines = append(r.lines, l)
		}
	}
	if len(r.lines) == 0 {
		return nil, together(failed)
	}
	for i, err := range failed {
		if err != nil {
			g.tell(g.Devices[i], err)
		}
	}
	return r, nil
}

func (r *run[T]) newLine(d *devmem.Device, slots int) (*line[T], error) {
	l := &line[T]{run: r, device: d, live: slots, idle: make(chan *slot, slots)}
	if err := d.Hold(); err != nil {
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

// next is the line that the next image goes to: the one with the fewest under way, of
// those that have not failed.
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

// feed sets an image on its way to its table, if that is given, or notes what is
// wrong with it.
func (r *run[T]) feed(table T, w *Work, err error) {
	p := &passage[T]{done: make(chan struct{}), table: table, err: err}
	r.queue = append(r.queue, p)
	if err != nil {
		close(p.done)
		return
	}
	l := r.next(w)
	w.stop, w.Job.Device = r.stop, l.device
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

// deliver hands out tables until the next image can come, or all of them, and
// reports whether the loop goes on. Otherwise nothing is under way any more when it
// returns: images may then free what it likes.
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

// release takes a table back that the loop is done with.
func (r *run[T]) release(p *passage[T]) {
	if r.reuse && p.err == nil {
		r.kind.Empty(p.table)
	}
	if p.slot != nil {
		p.line.idle <- p.slot
	}
}

// halt ends what is under way, and waits for it. Doing it again does nothing.
func (r *run[T]) halt() {
	select {
	case <-r.stop:
	default:
		close(r.stop)
	}
	r.under.Wait()
}

// end puts the slots aside for the next run, or frees them. An error here has no
// image to go with, and the device tells the next call what is wrong with it.
func (r *run[T]) end() {
	r.halt()
	for _, l := range r.lines {
		_ = keepImages(l.slots, r.whole && !r.failed && !l.out.Load())
		_ = l.device.Release()
	}
}
