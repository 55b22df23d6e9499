// Package measure times tables: those of this library, on the CPU and on devices,
// those of published algorithms and those of other libraries, beside what memory
// allows. Packages bench and reproduce say which, and report on them.
//
// All that are compared take turns on the same pixels, after a warm-up, and every
// table is compared with a plain reference before it is timed. Pixels are drawn
// so that all sums are exact, floats included: all entries are compared to the bit.
package measure

import (
	"context"
	"runtime"
	"time"

	"github.com/boxsum/boxsum/gpu"
)

const (
	// minRounds is how many rounds even a spent budget leaves.
	minRounds = 3
	// A turn starts with runs that are not timed: up to WarmRuns of them, in
	// about WarmTime. They give back what the others took, the caches and a
	// core that is awake. A processor that guards its last cache against
	// streams needs many: after other work, OpenCV is at its best with the
	// 40 MB of a 2160p table in the tenth run. Tables that need longer than
	// WarmTime have outgrown the caches.
	WarmRuns = 10
	WarmTime = 40 * time.Millisecond
)

// Progress is how far a measurement has come.
type Progress struct {
	Done, Total int    // timed rounds or results, out of all of them
	What        string // what is measured now, such as "u8:u32 1080p"
}

// A Timer times n runs, after some that warm up and are not timed.
type Timer = func(n, warm int) ([]time.Duration, error)

// A Contestant takes turns with others.
type Contestant struct {
	Run   Timer
	Check func() error // runs once and compares all entries; nil where there is no table
	Close func() error // nil where there is nothing to give back
	Queue func() error // queues the kernels of one run; nil on the CPU

	// Abandon leaves a run behind when the context ends: an algorithm on the
	// processor cannot be stopped. On a device it could not be: the device may be
	// closed next.
	Abandon bool

	Want  int             // timed runs, spread over all rounds; 0 for one a round
	Times []time.Duration // of these runs
	Err   error           // what ended them early
}

// A Race lets contestants take turns.
type Race struct {
	Rounds int
	Budget time.Duration // after which a race ends early, though not before minRounds; 0 for none
	Warm   int           // runs before those that are timed, at most

	// Plan, if not nil, sees the time of a first run, and may set Want and Times.
	Plan func(c *Contestant, first time.Duration)
	// Continue lets the others go on after an error of one.
	Continue bool
	// Before and After, if not nil, are called before a turn and after a round.
	Before func(c *Contestant)
	After  func(round int)
}

// Run is one run of each, which is not timed, and then all rounds.
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
		runtime.GC() // not while someone is timed
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

// await waits for what a contestant does, or where it can be abandoned for the end
// of the context: nobody looks at what it leaves then.
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

// End closes a contestant, which may be nil. An error is no longer of interest.
func (c *Contestant) End() {
	if c != nil && c.Close != nil {
		_ = c.Close()
	}
}

// warmFor is how many runs come before a timed one, for someone who took d.
func warmFor(d time.Duration, most int) int {
	return int(min(time.Duration(most), WarmTime/max(d, 1)))
}

// OnClock times runs by the clock on the wall.
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

// OnEvents times runs that queue work on a device by events there. It does not wait
// for the runs before: they keep the device busy while the host queues those that
// count.
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
