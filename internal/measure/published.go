package measure

import (
	"context"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
)

// Published is an algorithm of package papers: on the processor by the clock, on a
// device by its events, and with host from host memory to host memory.
func Published(job *papers.Job, d *gpu.Device, host bool) *Contestant {
	run := job.Run
	if host {
		run = job.RunHost
	}
	c := &Contestant{Run: OnClock(run), Close: job.Close, Queue: job.Run, Check: func() error {
		if err := run(); err != nil {
			return err
		}
		return job.Verify()
	}}
	if d != nil && !host {
		c.Run = OnEvents(d, run)
	}
	return c
}

// Own is boxsum's way to the table of a published algorithm.
type Own[S boxsum.Sum, P boxsum.Pixel] struct {
	Kind     papers.Kind
	Rotation rotated.Rotation

	Device *gpu.Device // nil for the CPU, with Options
	Images int         // that go through the device together; 0 for one that is there
	Host   bool        // from host memory to host memory
	Options
}

// Contestant is the table of an image.
func (o Own[S, P]) Contestant(img boxsum.Image[P]) (*Contestant, error) {
	switch {
	case o.Device == nil:
		w, err := o.onCPU(img)
		if err != nil {
			return nil, err
		}
		return w.Contestant(o.Options), nil
	case o.Images > 0:
		return o.many(img)
	}
	made := deviceUpright[S, P]
	if o.Kind == papers.Tilted {
		made = deviceTilted[S, P]
	}
	w, err := made(DeviceJob{Device: o.Device}, img)
	if err != nil {
		return nil, err
	}
	return w.Contestant(o.Host), nil
}

// many sends many images through a device, as published ones go: from page-locked memory
// to page-locked memory.
func (o Own[S, P]) many(img boxsum.Image[P]) (*Contestant, error) {
	p, err := NewPipeline[S](DeviceJob{Device: o.Device}, 0, slices.Repeat([]boxsum.Image[P]{img}, o.Images)...)
	if err != nil {
		return nil, err
	}
	send := func(compare bool) error {
		return p.Send(context.Background(), Way{Locked, Reused}, o.Images, compare)
	}
	return &Contestant{
		Run:   OnClock(func() error { return send(false) }),
		Check: func() error { return send(true) },
		Close: p.Close,
	}, nil
}

func (o Own[S, P]) onCPU(img boxsum.Image[P]) (*Work, error) {
	switch o.Kind {
	case papers.Tilted:
		return only(tiltedWork[S](img))
	case papers.Rotated:
		return only(rotatedWork[S](o.Rotation, img))
	}
	return only(uprightWork[S](img))
}

// only is a work without its table.
func only[T any](w *Work, _ T, err error) (*Work, error) { return w, err }

// besideUpright is the work on the CPU with the upright table of the same image.
func (o Own[S, P]) besideUpright(img boxsum.Image[P]) (*Work, error) {
	w, err := o.onCPU(img)
	if err != nil {
		return nil, err
	}
	w.Upright, _, err = uprightWork[S](img)
	return w, err
}
