package transfer

import "github.com/boxsum/boxsum/gpu/internal/devmem"

// A passage is an image on its way.
type passage[T any] struct {
	done  chan struct{} // closed when table and err are there
	table T
	err   error
	line  *line[T]
	slot  *slot // of the line, where a reused table lies
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
func (l *line[T]) start(p *passage[T], w *Work, before milestones, free func()) (*slot, error) {
	defer free()
	if w.Piece > 0 || w.empty() || w.wasteful() {
		return nil, l.elsewhere(p, w, l.inBands(p, w))
	}
	for {
		var s *slot
		select {
		case s = <-l.idle:
		case <-l.stop:
			return nil, errStopped
		}
		like := w.Job
		like.Offset = 0 // takes no memory
		known := l.known == like
		err := l.slots.stage(s, w, l.live == 1)
		staged := err == nil
		if staged {
			if known {
				free()
			}
			wait(before.queued)
			err = l.slots.queueImage(s, w)
		}
		if err == nil {
			if !known {
				l.known = like
			}
			return s, nil
		}
		little := short(err)
		if staged && known {
			w.Sides[0] = Rows(s.sides[0].rows()) // its own memory may have changed
			if little {
				err = l.fromSlot(p, s, w)
			}
			err = l.elsewhere(p, w, err)
			l.idle <- s
			return nil, err
		}
		if little {
			if freeing := s.free(l.device); freeing != nil {
				err, little = freeing, false
			}
		}
		if little && l.live > 1 {
			l.live--
			continue
		}
		l.idle <- s
		if little {
			err = l.inBands(p, w)
		}
		return nil, l.elsewhere(p, w, err)
	}
}

// fromSlot has an image go in bands whose pixels are in a slot only: slots that the next
// images have wait for this one.
func (l *line[T]) fromSlot(p *passage[T], s *slot, w *Work) error {
	if err := l.slots.keepPixels(s); err != nil {
		return err
	}
	return l.inBands(p, w)
}

// elsewhere has other devices make a table after an error of this one, from pixels that are
// where the work has them. An error that all of them have is that of the image.
func (l *line[T]) elsewhere(p *passage[T], w *Work, err error) error {
	if err == nil || len(l.lines) == 1 || w.ended() != nil {
		return err
	}
	if w.Piece == 0 {
		w.Piece = w.Units // whole, as it would have been
	}
	for _, other := range l.lines {
		if other == l || other.inBands(p, w) != nil {
			continue
		}
		if !short(err) {
			l.out.Store(true)
			l.group.tell(l.device, err)
		}
		return nil
	}
	return err
}

func (l *line[T]) inBands(p *passage[T], w *Work) error {
	t, err := l.tableOf(p, w)
	if err != nil {
		return err
	}
	sums, squares := l.kind.Rows(t)
	w.Sides[1], w.Sides[2] = Rows(sums), Rows(squares)
	if err := w.Run(l.device); err != nil {
		return err
	}
	p.table = t
	return nil
}

// tableOf is the table that an image came with, or a new one.
func (l *line[T]) tableOf(p *passage[T], w *Work) (T, error) {
	if l.kind.Given {
		return p.table, nil
	}
	return l.kind.Fresh(w)
}

// finish waits for the work of an image, says so by closing there, and makes the
// table. Tables that are not reused are copied side by side; but their goroutines
// wait for the device one after another, since some drivers spin meanwhile.
func (l *line[T]) finish(p *passage[T], s *slot, w *Work, before, own milestones) error {
	wait(before.there)
	err := s.wait(l.device)
	close(own.there)
	if err != nil && len(l.lines) > 1 {
		_ = l.slots.wait() // nothing may write to the table beside another device
		w.Sides[0] = Rows(s.sides[0].rows())
		err = l.elsewhere(p, w, err)
		l.idle <- s
		return err
	}
	if l.reuse {
		p.slot = s
		if err == nil {
			p.table = l.kind.Over(w, s.sides[1].rows(), s.sides[2].rows())
		}
		return err
	}
	defer func() { l.idle <- s }()
	if err != nil {
		return err
	}
	t, err := l.tableOf(p, w)
	if err != nil {
		return err
	}
	sums, squares := l.kind.Rows(t)
	s.deliver([]devmem.Host{sums, squares})
	p.table = t
	return nil
}
