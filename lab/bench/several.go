package bench

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
)

// Several measures tables from host memory to host memory, on several devices used as one and on
// the first of them alone. Every table is compared with the reference before it is timed. Sizes
// that do not fit in memory are left out, as in [GPU].
func Several(ctx context.Context, cfg Config) ([]Result, error) {
	cfg.Repeat, cfg.Batch = cmp.Or(cfg.Repeat, GPURepeat), 1
	p, err := cfg.onDevice(GPUSizes, GPUTypes, Case.OnDevice, "%s is measured on the CPU only: leave it out, or leave out --on")
	if err != nil {
		return nil, err
	}
	p.lead = 14
	for _, c := range p.Cases {
		p.lead = max(p.lead, len(c.String()))
	}
	p.text("several", p)
	return p.end(p.each(EndToEnd, func(c Case, size Size) error { return p.several(ctx, c, size) }))
}

// several verifies and times one case at one size.
func (p *plan) several(ctx context.Context, c Case, size Size) (err error) {
	if err := c.FitMemory(size, 2); err != nil {
		return err
	}
	var field []entry
	for _, by := range []struct {
		name   string
		device *gpu.Device
	}{{EndToEnd, p.Device}, {EndToEndOne, p.Device.Members()[0]}} {
		job := p.job(size, 1)
		job.Device = by.device
		w, err := job.Prepare(c)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		field = append(field, entry{newResult(by.name, by.device, c, size, 0, 1, true), w.Contestant(true)})
	}
	results, err := p.measure(ctx, field)
	if err != nil {
		return err
	}
	all, one := runner{EndToEnd, 0}, runner{EndToEndOne, 0}
	p.headOf(c, func() []column {
		return []column{took("all", fine, all), speed(all), took("one", fine, one), speed(one), ratio("×", digits("%.2f"), one, all)}
	})
	p.row(size.Name, results)
	return nil
}

// transferTime returns the time to send bytes to a device and receive others, count times. Several
// devices transfer their parts concurrently.
func transferTime(d *gpu.Device, in, out int64, count int) (time.Duration, error) {
	members := d.Members()
	times, errs := make([]time.Duration, len(members)), make([]error, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		if part := (count + i) / len(members); part > 0 {
			all.Go(func() { times[i], errs[i] = launch.TransferTime(m, in, out, part) })
		}
	}
	all.Wait()
	longest := time.Duration(0)
	for _, took := range times {
		longest = max(longest, took)
	}
	return longest, errors.Join(errs...)
}
