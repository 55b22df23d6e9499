package reproduce

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/lab/measure"
)

// A lab measures specs.
type lab struct {
	device      *gpu.Device
	setting     *setting
	progress    func(Progress)
	done, total int
	pixels      pixels // those of the last group
}

// turns is the number of turns over which the runs of a contestant are spread.
const turns = 4

// measure measures specs of the same pixels, alternating.
func (l *lab) measure(ctx context.Context, specs []Spec) []Result {
	var results, entered []Result
	var field []*measure.Contestant
	defer func() {
		for _, c := range field {
			c.End()
		}
		debug.FreeOSMemory()
	}()
	for _, s := range specs {
		if ctx.Err() != nil {
			return results
		}
		l.tell(s)
		r, c, err := l.enter(ctx, s)
		switch {
		case err == nil:
			field, entered = append(field, c), append(entered, r)
		case ctx.Err() != nil:
			return results
		default:
			results = append(results, Result{Spec: s, Missing: reason(err), Wrong: errors.As(err, new(*wrongError))})
			l.done++
		}
	}
	of := func(c *measure.Contestant) *Result { return &entered[slices.Index(field, c)] }
	race := measure.Race{
		Rounds: turns, Warm: 1, Continue: true,
		Plan: func(c *measure.Contestant, first time.Duration) {
			c.Want = l.runs(of(c).Spec, first)
			if first >= measure.WarmTime { // no need for warm-up, and other contestants have no effect
				c.Times, c.Want = []time.Duration{first}, c.Want-1
			}
		},
		Before: func(c *measure.Contestant) { l.tell(of(c).Spec) },
		After: func(round int) {
			if round == turns {
				l.done += len(field)
			}
		},
	}
	_ = race.Run(ctx, field) // the only error is that of the context
	for i, c := range field {
		r := entered[i]
		switch {
		case c.Err != nil:
			r.Missing = reason(c.Err)
			results = append(results, r)
		case len(c.Times) > 0:
			results = append(results, r.withTimes(c.Times))
		}
	}
	return results
}

func (l *lab) tell(s Spec) {
	if l.progress != nil {
		l.progress(Progress{Done: l.done, Total: l.total, What: s.String()})
	}
}

// reason returns an error as shown in a table.
func reason(err error) string {
	switch {
	case errors.Is(err, gpu.ErrNoDevice):
		return "no device"
	case errors.Is(err, boxsum.ErrMemory):
		return "too little device memory"
	}
	return err.Error()
}

// A wrongError reports a wrong result.
type wrongError struct{ error }

// enter prepares a spec and compares its result with the reference.
func (l *lab) enter(ctx context.Context, s Spec) (r Result, c *measure.Contestant, err error) {
	r = Result{Spec: s, On: "cpu"}
	if s.GPU {
		if l.device == nil {
			return r, nil, gpu.ErrNoDevice
		}
		info := l.device.Info()
		r.On, r.StandIn = info.Kind.String(), info.CPU
	}
	if l.pixels.Size != s.Size || l.pixels.kind != pixelType(s.Precision) {
		if l.pixels, err = newPixels(s.Size, s.Precision); err != nil {
			return r, nil, err
		}
	}
	if c, r.Each, err = l.contestant(s); err == nil {
		c.Abandon = !s.GPU
		if err = c.Verify(ctx); err != nil {
			err = &wrongError{fmt.Errorf("%v: %w", s, err)}
		}
	}
	if err != nil {
		c.End()
		return r, nil, err
	}
	r.Verified = c.Check != nil || s.Cycles > 0
	return r, c, nil
}

// runs returns the number of runs of a spec: as published, or as many as time allows.
func (l *lab) runs(s Spec, once time.Duration) int {
	// Forty milliseconds for each published run, and at least two seconds, suffice for everything
	// except what has become slower since.
	most, budget := s.Runs, max(2*time.Second, time.Duration(s.Runs)*measure.WarmTime)
	if l.setting.repeat > 0 {
		return l.setting.repeat
	}
	if l.setting.quick {
		most, budget = min(most, 12), 120*time.Millisecond
	}
	return min(most, max(3, int(budget/max(once, 1))))
}
