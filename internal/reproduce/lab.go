package reproduce

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/boxsum/boxsum/gpu"
)

// A lab measures specs.
type lab struct {
	device      *gpu.Device
	setting     *setting
	progress    func(Progress)
	done, total int
	pixels      pixels // those of the last group
}

func (l *lab) close() { l.pixels = pixels{} }

// A contestant is a spec that is ready to run.
type contestant struct {
	Result
	run    func(n int, warm bool) ([]time.Duration, error) // times n runs, if warm after one that is not timed
	verify func() error                                    // runs and compares
	close  func()

	times   []time.Duration
	want    int  // how many more there should be
	quickly bool // a run is short enough for others to have taken its caches
}

const (
	// turns is how many a contestant's runs are spread over.
	turns = 4
	// slow is a run so long that neither a run to warm up nor a turn of
	// others matters.
	slow = 50 * time.Millisecond
)

// measure lets specs of the same pixels take turns.
func (l *lab) measure(ctx context.Context, specs []Spec) []Result {
	var results []Result
	var field []*contestant
	defer func() {
		for _, c := range field {
			c.close()
		}
		debug.FreeOSMemory()
	}()
	for _, s := range specs {
		if ctx.Err() != nil {
			return results
		}
		l.tell(s)
		c, err := l.enter(ctx, s)
		if err != nil && ctx.Err() != nil {
			return results
		}
		if err == nil {
			field = append(field, c)
			continue
		}
		l.done++
		r := Result{Spec: s, Missing: reason(err), Wrong: errors.As(err, new(*wrongError))}
		results = append(results, r)
	}
	for turn := range turns {
		runtime.GC() // not while someone is timed
		for _, c := range field {
			l.tell(c.Spec)
			n := c.want*(turn+1)/turns - c.want*turn/turns
			if n > 0 && ctx.Err() == nil {
				times, err := c.await(ctx, func() ([]time.Duration, error) { return c.run(n, c.quickly) })
				c.times = append(c.times, times...)
				if err != nil && ctx.Err() == nil {
					c.Missing, c.want = reason(err), 0
				}
			}
			if turn == turns-1 {
				l.done++
			}
		}
	}
	for _, c := range field {
		if c.Missing == "" && len(c.times) > 0 {
			results = append(results, c.Result.withTimes(c.times))
		} else if c.Missing != "" {
			results = append(results, c.Result)
		}
	}
	return results
}

func (l *lab) tell(s Spec) {
	if l.progress != nil {
		l.progress(Progress{Done: l.done, Total: l.total, What: s.String()})
	}
}

// reason is an error as a table shows it.
func reason(err error) string {
	switch {
	case errors.Is(err, gpu.ErrNoDevice):
		return "no device"
	case errors.Is(err, gpu.ErrMemory):
		return "too little device memory"
	}
	return err.Error()
}

// A wrongError is a result that was not what it should be.
type wrongError struct{ error }

// enter prepares a spec, compares what it makes with the reference, and says how
// often it shall run.
func (l *lab) enter(ctx context.Context, s Spec) (c *contestant, err error) {
	if s.GPU && l.device == nil {
		return nil, gpu.ErrNoDevice
	}
	if l.pixels.Size != s.Size || l.pixels.kind != pixelType(s.Precision) {
		if l.pixels, err = newPixels(s.Size, s.Precision); err != nil {
			return nil, err
		}
	}
	switch {
	case s.Cycles > 0:
		c, err = l.cycles(s)
	case s.Algorithm == DeviceCopy:
		c, err = l.copies(s)
	case s.Algorithm == Boxsum:
		c, err = l.boxsum(s)
	default:
		c, err = l.paper(s)
	}
	if err != nil {
		return nil, err
	}
	c.Spec, c.On = s, "cpu"
	if s.GPU {
		info := l.device.Info()
		c.On, c.StandIn = info.Kind.String(), info.CPU
	}
	if c.verify != nil {
		_, err := c.await(ctx, func() ([]time.Duration, error) { return nil, c.verify() })
		if err != nil {
			c.close()
			return nil, &wrongError{fmt.Errorf("%v: %w", s, err)}
		}
		c.Verified = true
	}
	once, err := c.await(ctx, func() ([]time.Duration, error) { return c.run(1, false) })
	if err != nil {
		c.close()
		return nil, err
	}
	c.want = l.runs(s, once[0])
	if c.quickly = once[0] < slow; !c.quickly {
		c.times, c.want = once, c.want-1
	}
	return c, nil
}

// await waits for something that a contestant does, or for the end of the context:
// an algorithm on the processor cannot be stopped, but is left alone with its
// memory. On a device it is not, for the device may be closed next.
func (c *contestant) await(ctx context.Context, do func() ([]time.Duration, error)) ([]time.Duration, error) {
	if c.GPU {
		return do()
	}
	type result struct {
		times []time.Duration
		err   error
	}
	done := make(chan result, 1)
	go func() {
		times, err := do()
		done <- result{times, err}
	}()
	select {
	case r := <-done:
		return r.times, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// runs is how often a spec is measured: as often as published, or as time
// allows.
func (l *lab) runs(s Spec, once time.Duration) int {
	// Forty milliseconds for each run that was published, and two seconds at
	// least, cover all but what has become slower since.
	most, budget := s.Runs, max(2*time.Second, time.Duration(s.Runs)*slow*4/5)
	if l.setting.repeat > 0 {
		return l.setting.repeat
	}
	if l.setting.quick {
		most, budget = min(most, 12), 120*time.Millisecond
	}
	return min(most, max(3, int(budget/max(once, 1))))
}

// onClock times runs by the clock on the wall.
func onClock(f func() error) func(n int, warm bool) ([]time.Duration, error) {
	return func(n int, warm bool) ([]time.Duration, error) {
		if warm {
			if err := f(); err != nil {
				return nil, err
			}
		}
		times := make([]time.Duration, n)
		for i := range times {
			start := time.Now()
			if err := f(); err != nil {
				return nil, err
			}
			times[i] = time.Since(start)
		}
		return times, nil
	}
}

// onEvents times runs by events of a device. The first keeps it busy while the
// next ones are queued.
func onEvents(d *gpu.Device, f func() error) func(n int, warm bool) ([]time.Duration, error) {
	return func(n int, warm bool) ([]time.Duration, error) {
		skip := 0
		if warm {
			skip = 1
		}
		times, err := d.Time(n+skip, f)
		if err != nil {
			return nil, err
		}
		return times[skip:], nil
	}
}
