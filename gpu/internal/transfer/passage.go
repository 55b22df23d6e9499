package transfer

import "github.com/boxsum/boxsum/gpu/internal/devmem"

// A passage is an image on its way through a pipeline.
type passage[T any] struct {
	done  chan struct{} // closed when table and err are set
	table T
	err   error
	line  *line[T]
	slot  *slot // the line's slot that holds a reused table
}

// milestones are closed when the work of an image is queued, and when its table has arrived.
type milestones struct{ queued, there chan struct{} }

// wait waits for a milestone of the previous image, if there is one.
func wait(milestone chan struct{}) {
	if milestone != nil {
		<-milestone
	}
}

// start stages an image, calls free when its memory may change, queues its work, and returns its
// slot. A slot for which there is no memory is given up, and the image waits for another one. If
// there is no memory for the last slot, the image is processed in bands: it has no slot, and is
// complete when start returns.
//
// Work may need memory too. The next image is staged while the work of this one is queued only if
// there was enough memory for such an image before. If there is too little all the same, the image
// is processed in bands at once.
func (l *line[T]) start(p *passage[T], w *Work, before milestones, free func()) (*slot, error) {
	defer free()
	if w.Piece > 0 || w.empty() || w.wasteful() {
		return nil, l.elsewhere(p, w, l.inBands(p, w))
	}
	for {
		var s *slot
		select {
		case s = <-l.idle:
		case <-l.run.stop:
			return nil, errStopped
		}
		like := w.Job
		like.Offset = 0 // does not affect memory
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
		little := outOfMemory(err)
		if staged && known {
			w.Sides[0] = Rows(s.sides[0].rows()) // the caller's memory may have changed
			if little {
				err = l.fromSlot(p, s, w)
			}
			err = l.elsewhere(p, w, err)
			l.idle <- s
			return nil, err
		}
		if little {
			if freeing := s.free(l.device.Device); freeing != nil {
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

// fromSlot processes an image in bands whose pixels exist only in a slot. Slots that the next
// images have wait for this one.
func (l *line[T]) fromSlot(p *passage[T], s *slot, w *Work) error {
	if err := l.slots.keepPixels(s); err != nil {
		return err
	}
	return l.inBands(p, w)
}

// elsewhere computes a table on other devices after an error of this one, given the pixels in the
// work's memory. If all devices fail, their error is that of the image.
func (l *line[T]) elsewhere(p *passage[T], w *Work, err error) error {
	if err == nil || len(l.run.lines) == 1 || w.ended() != nil {
		return err
	}
	if w.Piece == 0 {
		w.Piece = w.Units // undivided, as on this device
	}
	for _, other := range l.run.lines {
		if other == l || other.inBands(p, w) != nil {
			continue
		}
		if !outOfMemory(err) {
			l.out.Store(true)
			l.run.group.reportFailed(l.device, err)
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
	sums, squares := l.run.kind.Rows(t)
	w.Sides[1], w.Sides[2] = Rows(sums), Rows(squares)
	if err := Single(l.device).Run(w); err != nil {
		return err
	}
	p.table = t
	return nil
}

// tableOf returns the table that was given with an image, or a new one.
func (l *line[T]) tableOf(p *passage[T], w *Work) (T, error) {
	if l.run.kind.Given {
		return p.table, nil
	}
	return l.run.kind.Fresh(w)
}

// finish waits for the work of an image, closes own.there, and returns the table. Tables that are
// not reused are copied concurrently, but their goroutines wait for the device one after another,
// because some drivers spin while waiting.
func (l *line[T]) finish(p *passage[T], s *slot, w *Work, before, own milestones) error {
	wait(before.there)
	err := s.wait(l.device.Device)
	close(own.there)
	if err != nil && len(l.run.lines) > 1 {
		_ = l.slots.wait() // nothing may write to the table concurrently with another device
		w.Sides[0] = Rows(s.sides[0].rows())
		err = l.elsewhere(p, w, err)
		l.idle <- s
		return err
	}
	if l.run.reuse {
		p.slot = s
		if err == nil {
			p.table = l.run.kind.Over(w, s.sides[1].rows(), s.sides[2].rows())
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
	sums, squares := l.run.kind.Rows(t)
	s.deliver([]devmem.Host{sums, squares})
	p.table = t
	return nil
}
