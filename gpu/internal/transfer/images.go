package transfer

import (
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
)

// takeImages returns the slots for whole images.
func takeImages(d *Device, count int) (*pool, error) {
	if err := d.Enter(); err != nil {
		return nil, err
	}
	defer d.Leave()
	return takePool(d, forImages, count)
}

// keepImages keeps working slots for the next pipeline, and frees others.
func keepImages(p *pool, works bool) error {
	const most = 1 << 30 // in bytes
	if !works || p.bytes() > most || p.device.Enter() != nil {
		return p.free()
	}
	defer p.device.Leave()
	return p.device.keepSpare(p)
}

// stage allocates memory for an image in a slot and copies its pixels there, unless they are
// page-locked. After an error the slot holds nothing of the caller's.
func (p *pool) stage(s *slot, w *Work, alone bool) error {
	d := p.device.Device
	if err := d.Enter(); err != nil {
		return err
	}
	defer d.Leave()
	for i := range s.sides {
		t := &s.sides[i]
		if t.theirs = (devmem.Host{}); !w.has(i) {
			continue
		}
		if t.block = w.block(i); t.block != nil {
			t.theirs = w.Sides[i].At
		}
	}
	limit := int64(poolBytes)
	if alone {
		limit = 0
	}
	err := p.fit(s, w, w.Units, false, limit)
	if outOfMemory(err) && p.trim() {
		err = p.fit(s, w, w.Units, false, limit)
	}
	if err != nil {
		return driver.FirstError(err, s.leave(d))
	}
	if in := &s.sides[0]; in.theirs.At == nil {
		share(in.data, imageCopiers(in.bytes, s.sides[1].bytes+s.sides[2].bytes), func(first, count int64) {
			devmem.CopyRows(in.rows().From(int(first)), w.Sides[0].At.From(int(first)), driver.Rows{Bytes: in.data.Bytes, Count: count})
		})
	}
	return nil
}

// queueImage queues the work for a staged image. After an error nothing is running in the slot.
func (p *pool) queueImage(s *slot, w *Work) (err error) {
	d := p.device.Device
	defer func() {
		if err != nil {
			err = driver.FirstError(err, p.wait(), s.leave(d))
		}
	}()
	if err := d.Enter(); err != nil {
		return err
	}
	defer d.Leave()
	job, err := s.send(w, nil, w.Units)
	if err == nil {
		err = method.Run(w.Method, job, w.Way)
	}
	if err == nil {
		err = s.fetch(w, 0)
	}
	return err
}

// deliver copies the received sums and squares to their destination, unless they are already there.
func (s *slot) deliver(tables []devmem.Host) {
	for i, dst := range tables {
		t := &s.sides[i+1]
		if t.bytes == 0 || t.theirs.At != nil {
			continue
		}
		share(t.data, tableCopiers, func(first, count int64) {
			part := driver.Rows{Bytes: t.data.Bytes, Count: count}
			devmem.CopyRows(dst.From(int(first)), t.rows().From(int(first)), part)
		})
	}
}

// wait waits for the work in the slot. The next work there frees its events, which takes too long
// to be done in a loop over images.
func (s *slot) wait(d *devmem.Device) error {
	return driver.FirstError(d.Backend.WaitEvent(s.copied), s.leave(d))
}

// leave ends the use of the caller's memory.
func (s *slot) leave(d *devmem.Device) error {
	var errs []error
	for i := range s.sides {
		if t := &s.sides[i]; t.block != nil {
			errs = append(errs, d.ReleaseBlock(t.block))
			t.block = nil
		}
	}
	return driver.FirstError(errs...)
}

// keepPixels frees the memory of a slot except for the pixels on the host. It may run while another
// slot is fitted.
func (p *pool) keepPixels(s *slot) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.device.Device
	errs := []error{s.sides[0].freeDevice(d)}
	for i := 1; i < 3; i++ {
		errs = append(errs, s.sides[i].freeDevice(d), s.sides[i].freeHost(d))
	}
	return driver.FirstError(errs...)
}
