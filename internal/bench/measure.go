package bench

import (
	"context"
	"time"
)

const (
	// minRounds is how many rounds even a spent budget leaves.
	minRounds = 3
	// A turn starts with runs that are not timed: up to warmRuns of them, in
	// about warmTime. They give back what the others took, the caches and a
	// core that is awake. A processor that guards its last cache against
	// streams needs many: after other work, OpenCV is at its best with the
	// 40 MB of a 2160p table in the tenth run. Tables that need longer than
	// warmTime have outgrown the caches.
	warmRuns = 10
	warmTime = 40 * time.Millisecond
)

// A contestant is one who takes turns with others.
type contestant struct {
	Result                                       // all but the times
	run    func(warm int) (time.Duration, error) // times one run after warm others
}

// measure lets all contestants take turns: one round to warm up, then repeat
// timed rounds, or fewer when the budget is spent. It calls tell with the
// number of rounds done.
func measure(ctx context.Context, field []contestant, repeat int, budget time.Duration, tell func(int)) ([]Result, error) {
	last := make([]time.Duration, len(field))
	turn := func(i, warm int) (err error) {
		if err := ctx.Err(); err != nil {
			return err
		}
		last[i], err = field[i].run(warm)
		return err
	}
	for i := range field {
		if err := turn(i, 0); err != nil {
			return nil, err
		}
	}
	times := make([][]time.Duration, len(field))
	start := time.Now()
	for round := 1; round <= repeat; round++ {
		for i := range field {
			if err := turn(i, warmFor(last[i])); err != nil {
				return nil, err
			}
			times[i] = append(times[i], last[i])
		}
		tell(round)
		if round >= minRounds && time.Since(start) > budget {
			break
		}
	}
	results := make([]Result, len(field))
	for i, c := range field {
		results[i] = c.Result.withTimes(times[i])
	}
	return results, nil
}

// warmFor is how many runs come before a timed one, for someone who took d.
func warmFor(d time.Duration) int {
	return int(min(warmRuns, warmTime/max(d, 1)))
}
