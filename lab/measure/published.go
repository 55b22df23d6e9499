package measure

import (
	"context"
	"slices"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
)

// Published returns an algorithm of package papers as a contestant, timed by the clock on the
// processor and by events on a device, or with host from host memory to host memory.
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

// Own specifies boxsum's own table to compare with a published algorithm.
type Own struct {
	Sum      raster.Type
	Kind     papers.Kind
	Rotation rotated.Rotation

	Device *gpu.Device // nil for the CPU, with Options
	Images int         // number that a device processes together; 0 for one image already on the device
	Host   bool        // from host memory to host memory
	Options
}

// Contestant returns the contestant that makes the table of a boxsum.Image.
func (o Own) Contestant(img any) (*Contestant, error) {
	of := onDevices(raster.Pair{Pixel: pixels.Of(img).Type, Sum: o.Sum})
	switch {
	case o.Device == nil:
		w, err := o.onCPU(img)
		if err != nil {
			return nil, err
		}
		return w.Contestant(o.Options), nil
	case o.Images > 0:
		return o.many(of, img)
	}
	made := of.upright
	if o.Kind == papers.Tilted {
		made = of.tilted
	}
	w, err := made(DeviceJob{Device: o.Device}, img)
	if err != nil {
		return nil, err
	}
	return w.Contestant(o.Host), nil
}

// many sends many images through a device like the published algorithm: from page-locked memory to
// page-locked memory.
func (o Own) many(of *deviceKinds, img any) (*Contestant, error) {
	p, err := of.pipeline(DeviceJob{Device: o.Device}, 0, slices.Repeat([]any{img}, o.Images)...)
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

func (o Own) onCPU(img any) (*Work, error) {
	switch of := onSums[o.Sum]; o.Kind {
	case papers.Tilted:
		return of.tilted(img)
	case papers.Rotated:
		return of.rotated(o.Rotation, img)
	default:
		return of.upright(img)
	}
}

// besideUpright returns the work on the CPU together with the upright table of the same image.
func (o Own) besideUpright(img any) (*Work, error) {
	w, err := o.onCPU(img)
	if err != nil {
		return nil, err
	}
	w.Upright, err = onSums[o.Sum].upright(img)
	return w, err
}
