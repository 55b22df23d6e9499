package measure

import (
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/papers"
)

// Published is an algorithm of package papers: on the processor by the clock, on a
// device by its events, and with host from host memory to host memory.
func Published(job *papers.Job, d *gpu.Device, host bool) *Contestant {
	run := job.Run
	if host {
		run = job.RunHost
	}
	c := &Contestant{Run: OnClock(run), Close: job.Close, Check: func() error {
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
