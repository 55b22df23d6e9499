package measure

import (
	"context"
	"slices"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
)

// Published returns an algorithm of package papers as a contestant. On the processor it is timed
// by the clock, and on a device by events. If host is set, it is timed from host memory to host
// memory.
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

// Own specifies a table of boxsum's own to compare with a published algorithm.
type Own struct {
	Sum      raster.Type
	Kind     papers.Kind
	Rotation rotated.Rotation

	Device *gpu.Device // nil for the CPU, with Options
	Images int         // number that a device processes together; 0 for one image already on the device
	Host   bool        // from host memory to host memory
	Options
}

// Contestant returns the contestant that computes the table of an image.
func (o Own) Contestant(img raster.Array) (*Contestant, error) {
	if o.Device != nil {
		if err := onDevices(raster.Pair{Pixel: img.Type, Sum: o.Sum}); err != nil {
			return nil, err
		}
	}
	if o.Images > 0 && o.Device != nil {
		return o.many(img)
	}
	host, err := o.onCPU(img)
	if err != nil {
		return nil, err
	}
	if o.Device == nil {
		return host.Contestant(o.Options), nil
	}
	w, err := DeviceSetup{Device: o.Device}.work(host)
	if err != nil {
		return nil, err
	}
	return w.Contestant(o.Host), nil
}

// many sends many images through a device like the published algorithm: from page-locked memory to
// page-locked memory.
func (o Own) many(img raster.Array) (*Contestant, error) {
	p, err := newPipeline(DeviceSetup{Device: o.Device}, o.Sum, 0, slices.Repeat([]raster.Array{img}, o.Images))
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

// onCPU returns the work of some images, of which the CPU processes the first.
func (o Own) onCPU(images ...raster.Array) (*Work, error) {
	switch o.Kind {
	case papers.Tilted:
		return tableWork(engine.Tilted, o.Sum, 0, images...)
	case papers.Rotated:
		return rotatedWorks[o.Sum](o.Rotation, images...)
	default:
		return tableWork(engine.Upright, o.Sum, 0, images...)
	}
}

// besideUpright returns the work on the CPU together with the upright table of the same images.
func (o Own) besideUpright(images ...raster.Array) (*Work, error) {
	w, err := o.onCPU(images...)
	if err != nil {
		return nil, err
	}
	w.Upright, err = tableWork(engine.Upright, o.Sum, 0, images...)
	return w, err
}
