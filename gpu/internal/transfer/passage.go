package transfer

import "github.com/boxsum/boxsum/gpu/internal/devmem"

// A passage is an image on its way.
type passage[T any] struct {
	done  chan struct{} // closed when table and err are there
	table T
	err   error
	slot  *slot // where a reused table lies
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

// start stages an image, calls free when its memory may change, queues its work and
// is the slot that it has. A slot that finds no memory is given up, and the image
// waits for one that has some. When the last one finds none, the image goes in
// bands: it has no slot, and is there when start returns.
//
// Work may need memory too. Only when there was enough for such an image before
// is the next one staged while the work of this one is queued. Should there be too
// little then, the image goes in bands at once.
func (r *run[T]) start(p *passage[T], w *Work, before milestones, free func()) (*slot, error) {
	defer free()
	if w.Piece > 0 || w.empty() || w.wasteful() {
		return nil, r.inBands(p, w)
	}
	for {
		var s *slot
		select {
		case s = <-r.idle:
		case <-r.stop:
			return nil, errStopped
		}
		like := w.Job
		like.Offset = 0 // takes no memory
		known := r.known == like
		err := r.slots.stage(s, w, r.live == 1)
		staged := err == nil
		if staged {
			if known {
				free()
			}
			wait(before.queued)
			err = r.slots.queueImage(s, w)
		}
		if err == nil {
			if !known {
				r.known = like
			}
			return s, nil
		}
		little := short(err)
		if staged && known {
			if little {
				err = r.fromSlot(p, s, w)
			}
			r.idle <- s
			return nil, err
		}
		if little {
			if freeing := s.free(r.device); freeing != nil {
				err, little = freeing, false
			}
		}
		if little && r.live > 1 {
			r.live--
			continue
		}
		r.idle <- s
		if little {
			err = r.inBands(p, w)
		}
		return nil, err
	}
}

// fromSlot has an image go in bands whose pixels are in a slot only: its memory may have
// changed, and slots that the next images have wait for this one.
func (r *run[T]) fromSlot(p *passage[T], s *slot, w *Work) error {
	w.Sides[0] = Rows(s.sides[0].rows())
	if err := r.slots.keepPixels(s); err != nil {
		return err
	}
	return r.inBands(p, w)
}

func (r *run[T]) inBands(p *passage[T], w *Work) error {
	t, err := r.tableOf(p, w)
	if err != nil {
		return err
	}
	sums, squares := r.kind.Rows(t)
	w.Sides[1], w.Sides[2] = Rows(sums), Rows(squares)
	if err := w.Run(r.device); err != nil {
		return err
	}
	p.table = t
	return nil
}

// tableOf is the table that an image came with, or a new one.
func (r *run[T]) tableOf(p *passage[T], w *Work) (T, error) {
	if r.kind.Given {
		return p.table, nil
	}
	return r.kind.Fresh(w)
}

// finish waits for the work of an image, says so by closing there, and makes the
// table. Tables that are not reused are copied side by side; but their goroutines
// wait for the device one after another, since some drivers spin meanwhile.
func (r *run[T]) finish(p *passage[T], s *slot, w *Work, before, own milestones) error {
	wait(before.there)
	err := s.wait(r.device)
	close(own.there)
	if r.reuse {
		p.slot = s
		if err == nil {
			p.table = r.kind.Over(w, s.sides[1].rows(), s.sides[2].rows())
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
	sums, squares := r.kind.Rows(t)
	s.deliver([]devmem.Host{sums, squares})
	p.table = t
	return nil
}
