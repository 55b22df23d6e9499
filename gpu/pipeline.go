package gpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/boxsum/boxsum"
)

// PipelineOptions says how a [Pipeline] runs; nil and the zero value suit most.
type PipelineOptions struct {
	// Options is how tables are made. With BandRows every image goes through
	// in bands, one after another.
	Options

	// InFlight is how many images are under way at a time, at most. It bounds
	// the memory of a pipeline, which is that of so many images and tables on
	// the device, and as much that is page-locked on the host, except for what
	// is page-locked already; with Reuse it is one more. Zero stands for what
	// keeps the copies busy: 4, and 8 where tables are new, since memory for
	// these takes its time.
	InFlight int

	// Reuse hands tables out in the page-locked memory that the device wrote
	// them to, which saves a copy and new memory for each. A table is valid
	// until the loop asks for the next one, and empty from then on; its Sums,
	// if kept, must not be used. [PipelineInto], which does not heed Reuse, is
	// as fast and leaves tables to the caller.
	Reuse bool
}

// Pipeline makes the tables of many images on a device, while others are on
// their way there and back:
//
//	for table, err := range gpu.Pipeline[uint32](ctx, d, images, &gpu.PipelineOptions{Reuse: true}) {
//		...
//	}
//
// Tables come in the order of the images, which may differ in size. An image
// that cannot have a table has an error in its place, and the next one follows.
// What ends the run early comes once, as the last error: that of ctx when it is
// done, or [ErrClosed]. A nil ctx is never done. Where memory is short, fewer images are in flight, and
// those that are too large go in bands as in [IntegrateHost], as do those that are
// narrow and very tall.
//
// Images are asked for between one table and the next, never beside the body of
// the loop, so that neither has to know of goroutines. Before the next image is
// asked for, at most InFlight-1 tables are still owed: with InFlight 1 each table
// comes at once, and nothing overlaps. The memory of an image is free when the next
// one is asked for, except that of [NewHostImage], which the device reads
// directly: it must stay as it is until the table is there. So many images as
// may be in flight can therefore take turns, and so many tables of [PipelineInto].
//
// A device keeps the memory of a pipeline that has come to its end for the next
// one, until it is needed or the device is closed.
func Pipeline[S boxsum.Sum, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq[boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.Table[S], error] {
	return pipeline(ctx, d, intoNew[*boxsum.Table[S]](images), opt, sumTables[S]())
}

// PipelineInto is [Pipeline] into tables that are already there: each image comes
// with the table that it goes into, which must have its size and may not lie in its
// memory. A table is the pipeline's until it comes out; then it is the caller's
// again, for good or for another image. It comes out beside an error of its image,
// too, and after a loop that has ended early all are the caller's.
//
// A device writes into a [NewHostTable] directly, which is as fast as Reuse; into
// other tables processors copy.
func PipelineInto[S boxsum.Sum, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq2[*boxsum.Table[S], boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.Table[S], error] {
	kind := sumTables[S]()
	kind.given = true
	return pipeline(ctx, d, images, opt, kind)
}

// PipelineSquares is [Pipeline] for the tables of images and those of their
// squares. The types go together as in [boxsum.IntegrateSquares].
func PipelineSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq[boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.SquaredTable[S, Q], error] {
	return pipeline(ctx, d, intoNew[*boxsum.SquaredTable[S, Q]](images), opt, squareTables[S, Q]())
}

// PipelineSquaresInto is [PipelineInto] for the tables of images and those of
// their squares.
func PipelineSquaresInto[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq2[*boxsum.SquaredTable[S, Q], boxsum.Image[P]], opt *PipelineOptions) iter.Seq2[*boxsum.SquaredTable[S, Q], error] {
	kind := squareTables[S, Q]()
	kind.given = true
	return pipeline(ctx, d, images, opt, kind)
}

// tables is what a pipeline must know of the tables T that it makes.
type tables[T any] struct {
	sum, square element
	given       bool // by the caller

	fresh  func(integrateJob) (T, error)                // in memory of its own
	over   func(job integrateJob, sums, squares host) T // in memory that is there
	accept func(t T, job integrateJob) error            // whether one can take the sums of a job, which says so with its offset
	rows   func(T) (sums, squares host)                 // where it lies
	empty  func(T)                                      // makes it hold nothing
}

func sumTables[S boxsum.Sum]() tables[*boxsum.Table[S]] {
	return tables[*boxsum.Table[S]]{
		sum:    elementOf[S](),
		fresh:  newHostTable[S],
		over:   func(job integrateJob, sums, _ host) *boxsum.Table[S] { return tableOver[S](job, sums) },
		accept: takes[S],
		rows: func(t *boxsum.Table[S]) (sums, squares host) {
			return hostRows(t.Sums, t.Stride), host{}
		},
		empty: func(t *boxsum.Table[S]) { *t = boxsum.Table[S]{} },
	}
}

func squareTables[S boxsum.Sum, Q boxsum.Square]() tables[*boxsum.SquaredTable[S, Q]] {
	return tables[*boxsum.SquaredTable[S, Q]]{
		sum:    elementOf[S](),
		square: elementOf[Q](),
		fresh: func(job integrateJob) (*boxsum.SquaredTable[S, Q], error) {
			sums, err := newHostTable[S](job)
			if err != nil {
				return nil, err
			}
			squares, err := newHostTable[Q](job.ofSquares())
			return &boxsum.SquaredTable[S, Q]{Sum: sums, Squares: squares}, err
		},
		over: func(job integrateJob, sums, squares host) *boxsum.SquaredTable[S, Q] {
			return &boxsum.SquaredTable[S, Q]{Sum: tableOver[S](job, sums), Squares: tableOver[Q](job.ofSquares(), squares)}
		},
		accept: func(t *boxsum.SquaredTable[S, Q], job integrateJob) error {
			if t == nil {
				return fmt.Errorf("gpu: %w: no table to write to", boxsum.ErrInvalid)
			}
			return firstError(takes(t.Sum, job), takes(t.Squares, job.ofSquares()))
		},
		rows: func(t *boxsum.SquaredTable[S, Q]) (sums, squares host) {
			return hostRows(t.Sum.Sums, t.Sum.Stride), hostRows(t.Squares.Sums, t.Squares.Stride)
		},
		empty: func(t *boxsum.SquaredTable[S, Q]) {
			*t.Sum, *t.Squares = boxsum.Table[S]{}, boxsum.Table[Q]{}
		},
	}
}

// takes says whether a table can take the sums of a job, and notes their offset.
func takes[S boxsum.Sum](t *boxsum.Table[S], job integrateJob) error {
	if err := accepts(t, job.width, job.height, job.channels); err != nil {
		return err
	}
	t.Offset = float32(job.offset)
	return nil
}

// intoNew is images that have no tables yet.
func intoNew[T any, P boxsum.Pixel](images iter.Seq[boxsum.Image[P]]) iter.Seq2[T, boxsum.Image[P]] {
	if images == nil {
		return nil
	}
	return func(yield func(T, boxsum.Image[P]) bool) {
		var none T
		for im := range images {
			if !yield(none, im) {
				return
			}
		}
	}
}

func pipeline[T any, P boxsum.Pixel](ctx context.Context, d *Device, images iter.Seq2[T, boxsum.Image[P]], opt *PipelineOptions, kind tables[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if ctx == nil {
			ctx = context.Background()
		}
		if err := ctx.Err(); err != nil {
			yield(none, err)
			return
		}
		r, err := newRun(d, elementOf[P](), opt, kind)
		if err != nil {
			yield(none, err)
			return
		}
		defer r.end()
		if images == nil {
			return
		}
		for table, im := range images {
			w, err := workOf(im, table, &r.opt.Options, &kind)
			r.feed(table, w, err)
			if !r.deliver(ctx, yield, false) {
				return
			}
		}
		r.whole = r.deliver(ctx, yield, true)
	}
}

// workOf is what there is to do for an image, or what is wrong with it.
func workOf[T any, P boxsum.Pixel](im boxsum.Image[P], table T, opt *Options, kind *tables[T]) (*bandWork, error) {
	im, err := checkedImage(im)
	if err != nil {
		return nil, err
	}
	w, err := hostWork(im, kind.sum, kind.square, opt)
	if err != nil || !kind.given {
		return w, err
	}
	if err := kind.accept(table, w.job); err != nil {
		return nil, err
	}
	w.sums, w.squares = kind.rows(table)
	return w, w.apart()
}

// A run is one loop over a pipeline. Each image has a goroutine, which stages its
// pixels, queues its work and waits for its table. One at a time is at each of
// these, in the order of the images, and the loop gets tables in order.
type run[T any] struct {
	device *Device
	opt    PipelineOptions
	kind   tables[T]
	slots  *slots
	ahead  int // images in flight at most

	idle  chan *slot     // those that the next image can have
	stop  chan struct{}  // closed when the loop has ended
	under sync.WaitGroup // all goroutines
	live  int            // slots that take part; of the goroutine that stages
	known integrateJob   // for which there was memory; of the goroutine that stages

	queue    []*passage[T] // in the order of the images
	starting chan struct{} // closed when the memory of the last image is free; nil before and after
	last     milestones    // of the last image
	failed   bool          // some image has an error
	whole    bool          // all images went through
}

// milestones are closed when the work of an image is queued, and when its table is
// there.
type milestones struct{ queued, there chan struct{} }

// wait waits for a milestone of the image before, if there is one.
func wait(milestone chan struct{}) {
	if milestone != nil {
		<-milestone
	}
}

// A passage is an image on its way.
type passage[T any] struct {
	done  chan struct{} // closed when table and err are there
	table T
	err   error
	slot  *slot // where a reused table lies
}

func newRun[T any](d *Device, pixel element, opt *PipelineOptions, kind tables[T]) (*run[T], error) {
	if err := pairError(pixel, kind.sum, kind.square); err != nil {
		return nil, err
	}
	r := &run[T]{device: d, kind: kind, stop: make(chan struct{})}
	if opt != nil {
		r.opt = *opt
		r.opt.Reuse = opt.Reuse && !kind.given
	}
	if _, err := r.opt.check(kind.sum); err != nil {
		return nil, err
	}
	// More than this is a mistake, and slots take some memory even if empty.
	const most = 1 << 16
	if r.opt.InFlight < 0 || r.opt.InFlight > most {
		return nil, fmt.Errorf("gpu: %w: %d images in flight: between 1 and %d can be", boxsum.ErrInvalid, r.opt.InFlight, most)
	}
	r.ahead = 4
	if !r.opt.Reuse && !kind.given {
		r.ahead = 8
	}
	r.ahead = cmp.Or(r.opt.InFlight, r.ahead)
	r.live = r.ahead
	if r.opt.Reuse {
		r.live++ // one is the loop's
	}
	r.idle = make(chan *slot, r.live)
	if err := d.hold(); err != nil {
		return nil, err
	}
	var err error
	if r.slots, err = d.takeSlots(r.live); err != nil {
		return nil, firstError(err, d.release())
	}
	for _, s := range r.slots.all[:r.live] {
		r.idle <- s
	}
	return r, nil
}

// feed sets an image on its way to its table, if that is given, or notes what is
// wrong with it.
func (r *run[T]) feed(table T, w *bandWork, err error) {
	p := &passage[T]{done: make(chan struct{}), table: table, err: err}
	r.queue = append(r.queue, p)
	if err != nil {
		close(p.done)
		return
	}
	w.stop = r.stop
	free := make(chan struct{})
	before, own := r.last, milestones{make(chan struct{}), make(chan struct{})}
	r.starting, r.last = free, own
	r.under.Go(func() {
		defer close(p.done)
		s, err := r.start(p, w, before, sync.OnceFunc(func() { close(free) }))
		close(own.queued)
		if s != nil {
			err = r.finish(p, s, w, before, own)
		} else {
			close(own.there)
		}
		p.err = err
	})
}

// deliver hands out tables until the next image can come, or all of them, and
// says whether the loop goes on. Otherwise nothing is under way any more when it
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
		if !again || errors.Is(oldest.err, ErrClosed) {
			return false
		}
	}
	return true
}

var errStopped = errors.New("gpu: the loop has ended")

// start stages an image, calls free when its memory may change, queues its work and
// is the slot that it has. A slot that finds no memory is given up, and the image
// waits for one that has some. When the last one finds none, the image goes in
// bands: it has no slot, and is there when start returns.
//
// Work may need memory too. Only when there was enough for such an image before
// is the next one staged while the work of this one is queued. Should there be too
// little then, the image goes in bands at once.
func (r *run[T]) start(p *passage[T], w *bandWork, before milestones, free func()) (*slot, error) {
	defer free()
	if w.rows > 0 || w.job.width == 0 || w.job.height == 0 || w.wasteful() {
		return nil, r.inBands(p, w)
	}
	for {
		var s *slot
		select {
		case s = <-r.idle:
		case <-r.stop:
			return nil, errStopped
		}
		known := r.known == w.job
		err := r.slots.stage(s, w, r.live == 1)
		staged := err == nil
		if staged {
			if known {
				free()
			}
			wait(before.queued)
			err = r.slots.queue(s, w)
		}
		if err == nil {
			if !known {
				r.known = w.job
			}
			return s, nil
		}
		short := errors.Is(err, ErrMemory)
		if staged && known {
			if short {
				err = r.fromSlot(p, s, w)
			}
			r.idle <- s
			return nil, err
		}
		if short {
			if freeing := s.free(r.device); freeing != nil {
				err, short = freeing, false
			}
		}
		if short && r.live > 1 {
			r.live--
			continue
		}
		r.idle <- s
		if short {
			err = r.inBands(p, w)
		}
		return nil, err
	}
}

// fromSlot has an image go in bands whose pixels are in a slot only: its memory may have
// changed, and slots that the next images have wait for this one.
func (r *run[T]) fromSlot(p *passage[T], s *slot, w *bandWork) error {
	w.pixels = s.pixels.rows()
	if err := r.slots.keepPixels(s); err != nil {
		return err
	}
	return r.inBands(p, w)
}

func (r *run[T]) inBands(p *passage[T], w *bandWork) error {
	t, err := r.tableOf(p, w)
	if err != nil {
		return err
	}
	w.sums, w.squares = r.kind.rows(t)
	w.fresh = !r.kind.given
	if err := w.run(r.device); err != nil {
		return err
	}
	p.table = t
	return nil
}

// tableOf is the table that an image came with, or a new one.
func (r *run[T]) tableOf(p *passage[T], w *bandWork) (T, error) {
	if r.kind.given {
		return p.table, nil
	}
	return r.kind.fresh(w.job)
}

// finish waits for the work of an image, says so by closing there, and makes the
// table. Tables that are not reused are copied side by side; but their goroutines
// wait for the device one after another, since some drivers spin meanwhile.
func (r *run[T]) finish(p *passage[T], s *slot, w *bandWork, before, own milestones) error {
	wait(before.there)
	err := s.wait(r.device)
	close(own.there)
	if r.opt.Reuse {
		p.slot = s
		if err == nil {
			p.table = r.kind.over(w.job, s.sums.rows(), s.squares.rows())
		}
		return err
	}
	defer func() { r.idle <- s }()
	if err != nil {
		return err
	}
	t, err := r.tableOf(p, w)
	if err != nil {
		return err
	}
	sums, squares := r.kind.rows(t)
	s.deliver(sums, squares, !r.kind.given)
	p.table = t
	return nil
}

// release takes a table back that the loop is done with.
func (r *run[T]) release(p *passage[T]) {
	if r.opt.Reuse && p.err == nil {
		r.kind.empty(p.table)
	}
	if p.slot != nil {
		r.idle <- p.slot
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
	_ = r.device.keepSlots(r.slots, r.whole && !r.failed)
	_ = r.device.release()
}
