// Package measure times tables computed by this library on the CPU and on devices, by published
// algorithms and by other libraries, next to the limits of memory. Packages bench and reproduce
// choose what to measure and report the results.
//
// All contestants take turns on the same pixels after a warm-up, and every table is compared with a
// plain reference before it is timed. Pixels are drawn such that all sums are exact, even in
// floats, so entries are compared bit for bit.
package measure

import (
	"context"
	"runtime"
	"time"

	"github.com/boxsum/boxsum/gpu"
)

const (
	// minRounds is the number of rounds that are made even if the budget is used up.
	minRounds = 3
	// WarmRuns is the maximum number of untimed runs at the start of a turn, which take about
	// WarmTime. They restore the contents of caches and wake up cores. A processor that protects its
	// last-level cache from streams needs many: after other work, OpenCV is fastest in the tenth run
	// for the 40 MB of a 2160p table. Tables that take longer than WarmTime do not fit the caches.
	WarmRuns = 10
	// WarmTime is the time after which the untimed runs of a turn end.
	WarmTime = 40 * time.Millisecond
)

// Progress describes how far a measurement has advanced.
type Progress struct {
	Done, Total int    // finished and total number of timed rounds or results
	What        string // what is being measured, such as "u8:u32 1080p"
}

// A Timer times n runs, after warm runs that are not timed.
type Timer = func(n, warm int) ([]time.Duration, error)

// A Contestant takes turns with others.
type Contestant struct {
	Run   Timer
	Check func() error // runs once and compares all entries; nil if there is no table
	Close func() error // nil if there is nothing to free
	Queue func() error // queues the kernels of one run; nil on the CPU

	// Abandon leaves a run behind when the context is canceled, because an algorithm on the processor
	// cannot be stopped. It must not be set for a device, which may be closed next.
	Abandon bool

	Want  int             // number of timed runs in all rounds; 0 means one per round
	Times []time.Duration // times of these runs
	Err   error           // error that ended them early
}

// A Race times contestants in turn.
type Race struct {
	Rounds int
	Budget time.Duration // time after which a race ends early, but not before minRounds; 0 means no limit
	Warm   int           // maximum number of warm-up runs before timed ones

	// Plan, if not nil, is called with the time of a first run, and may set Want and Times.
	Plan func(c *Contestant, first time.Duration)
	// Continue lets the other contestants continue after one has failed.
	Continue bool
	// Before and After, if not nil, are called before a turn and after a round.
	Before func(c *Contestant)
	After  func(round int)
}

// Run makes one untimed run of each contestant and then all rounds.
func (r *Race) Run(ctx context.Context, field []*Contestant) error {
	last := make([]time.Duration, len(field))
	turn := func(i, n, warm int) ([]time.Duration, error) {
		c := field[i]
		if c.Err != nil || n == 0 {
			return nil, nil
		}
		if r.Before != nil {
			r.Before(c)
		}
		var times []time.Duration
		err := c.await(ctx, func() (err error) { times, err = c.Run(n, warm); return err })
		if err != nil {
			if ctx.Err() != nil || !r.Continue {
				return nil, err
			}
			c.Err = err
			return nil, nil
		}
		last[i] = times[len(times)-1]
		return times, nil
	}
	for i, c := range field {
		if _, err := turn(i, 1, 0); err != nil {
			return err
		}
		if r.Plan != nil && c.Err == nil {
			r.Plan(c, last[i])
		}
	}
	start := time.Now()
	for round := range r.Rounds {
		runtime.GC() // not while a contestant is timed
		for i, c := range field {
			n := 1
			if c.Want > 0 || r.Plan != nil {
				n = c.Want*(round+1)/r.Rounds - c.Want*round/r.Rounds
			}
			times, err := turn(i, n, warmFor(last[i], r.Warm))
			if err != nil {
				return err
			}
			c.Times = append(c.Times, times...)
		}
		if r.After != nil {
			r.After(round + 1)
		}
		if r.Budget != 0 && round+1 >= minRounds && time.Since(start) > r.Budget {
			break
		}
	}
	return nil
}

// await waits for do or, if the contestant can be abandoned, for the end of the context, after which
// nobody uses its results.
func (c *Contestant) await(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.Abandon {
		return do()
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Verify checks the contestant's table.
func (c *Contestant) Verify(ctx context.Context) error {
	if c.Check == nil {
		return nil
	}
	return c.await(ctx, c.Check)
}

// End closes a contestant, which may be nil, and ignores errors.
func (c *Contestant) End() {
	if c != nil && c.Close != nil {
		_ = c.Close()
	}
}

// warmFor returns the number of warm-up runs for a contestant whose runs take d.
func warmFor(d time.Duration, most int) int {
	return int(min(time.Duration(most), WarmTime/max(d, 1)))
}

// OnClock returns a Timer that uses the clock.
func OnClock(f func() error) Timer {
	return func(n, warm int) ([]time.Duration, error) {
		times := make([]time.Duration, n)
		for i := -warm; i < n; i++ {
			start := time.Now()
			if err := f(); err != nil {
				return nil, err
			}
			if took := time.Since(start); i >= 0 {
				times[i] = took
			}
		}
		return times, nil
	}
}

// OnEvents returns a Timer for runs that queue work on a device, which it times with events. It
// does not wait for warm-up runs: they keep the device busy while the host queues the timed runs.
func OnEvents(d *gpu.Device, queue func() error) Timer {
	return func(n, warm int) ([]time.Duration, error) {
		for range warm {
			if err := queue(); err != nil {
				return nil, err
			}
		}
		return d.Time(n, queue)
	}
}
