// Package bench measures how fast tables are made: by this library, by others
// on the same machine in the same run, and beside what the memory allows.
//
// A speed is the best of several runs, and on a GPU the median of the device's
// own times, beside a copy of as many bytes there. Everyone who is compared
// takes turns on the same pixels, after a warm-up, and every table is compared
// with a plain reference before anyone is timed. Pixels are drawn so that all
// sums are exact, floats included, and so "compared" means to the bit, all
// entries.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
)

const (
	// DefaultSizes and DefaultTypes are what `boxsum bench` measures.
	DefaultSizes = "480p,720p,1080p,2160p,4096x4096"
	DefaultTypes = "u8:u32,f32:f64"
	// DefaultRepeat is the least number of runs that a figure should rest on.
	DefaultRepeat = 15
	// DefaultBudget lets the largest image that a 24 GB machine can compare
	// have all its runs, and stops what is far slower.
	DefaultBudget = time.Minute
)

// Config says what to measure. Every combination of a size and a case is
// measured, one after another.
type Config struct {
	Sizes []Size // nil means DefaultSizes
	Cases []Case // nil means DefaultTypes

	// Workers are the worker counts to compare; nil means one, and one for
	// every core.
	Workers []int

	// Repeat is how many runs are timed, and zero means DefaultRepeat.
	// A combination that has spent its Budget stops earlier, though not
	// before three; zero means DefaultBudget.
	Repeat int
	Budget time.Duration

	// Level is the instruction set to use.
	Level boxsum.Level

	// Progress, if not nil, is called as runs finish.
	Progress func(Progress)
}

// Progress is how far a measurement has come.
type Progress struct {
	Done, Total int    // timed rounds, out of all of them
	What        string // what is measured now, such as "u8:u32 1080p"
}

// Run measures tables and the memory's limits. Its results come in the order
// of cases, sizes, and worker counts, those of the table before the limits.
// What was measured before an error or the context's end comes with it. A size
// that the memory cannot hold is left out: its result says so.
func Run(ctx context.Context, cfg Config) ([]Result, error) {
	p, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	var all []Result
	err = p.each(func(c Case, size Size) error {
		copies := int64(1)
		if c.tilted() || c.turned() {
			copies = 3 // an upright one, and what the limits write
		}
		if err := fitsMemory(c, size, copies); err != nil {
			return err
		}
		w, err := prepare(c, size, p.Workers, p.Level)
		if err != nil {
			return err
		}
		results, err := p.measure(ctx, c, size, w.field(c, size, p.Workers, p.Level))
		all = append(all, results...)
		return err
	}, func(c Case, size Size, why error) {
		all = append(all, leftOut(Boxsum, "cpu", c, size, 1, why))
	})
	return all, cmp.Or(err, measured(all))
}

// A plan is a Config with its defaults filled in, and how far it has come.
type plan struct {
	Config
	done, total int
}

func (cfg Config) plan() (*plan, error) {
	var err error
	if err := cfg.matchSizes(); err != nil {
		return nil, err
	}
	if cfg.Sizes == nil {
		if cfg.Sizes, err = ParseSizes(DefaultSizes); err != nil {
			return nil, err
		}
	}
	if cfg.Cases == nil {
		if cfg.Cases, err = ParseTypes(DefaultTypes); err != nil {
			return nil, err
		}
	}
	if cfg.Workers == nil {
		cfg.Workers = oneAndAll()
	}
	for _, n := range cfg.Workers {
		if n < 1 {
			return nil, fmt.Errorf("bench: %d workers: at least 1 is needed", n)
		}
	}
	if cfg.Repeat < 0 || cfg.Budget < 0 {
		return nil, fmt.Errorf("bench: repeat %d and budget %v cannot be negative", cfg.Repeat, cfg.Budget)
	}
	cfg.Repeat = cmp.Or(cfg.Repeat, DefaultRepeat)
	cfg.Budget = cmp.Or(cfg.Budget, DefaultBudget)
	return &plan{Config: cfg, total: len(cfg.Cases) * len(cfg.Sizes) * cfg.Repeat}, nil
}

// oneAndAll is one worker, and as many as there are cores.
func oneAndAll() []int { return slices.Compact([]int{1, runtime.GOMAXPROCS(0)}) }

// each calls f for every combination, or leave where that is left out, and gives its
// memory back in between, so that only one at a time has to fit.
func (p *plan) each(f func(Case, Size) error, leave func(Case, Size, error)) error {
	for _, c := range p.Cases {
		for _, size := range p.Sizes {
			end := p.done + p.Repeat
			err := f(c, size)
			if leavesOut(err) {
				leave(c, size, err)
				p.done, err = end, nil
			}
			if err != nil {
				return fmt.Errorf("bench: %v %v: %w", c, size, err)
			}
			debug.FreeOSMemory()
		}
	}
	return nil
}

// measure times one combination.
func (p *plan) measure(ctx context.Context, c Case, size Size, field []contestant) ([]Result, error) {
	start := p.done
	tell := func(done int) {
		p.done = start + done
		if p.Progress != nil {
			p.Progress(Progress{Done: p.done, Total: p.total, What: fmt.Sprint(c, " ", size)})
		}
	}
	tell(0)
	results, err := measure(ctx, field, p.Repeat, p.Budget, tell)
	if err == nil {
		tell(p.Repeat)
	}
	return results, err
}

// fitsMemory says so before it happens when copies of a case's buffers need
// more memory than is free.
func fitsMemory(c Case, size Size, copies int64) error {
	read, written := c.bytes(size)
	if err := grid.Check(float64(copies) * float64(read+written)); err != nil {
		return tooLarge{fmt.Errorf("%w: choose a smaller size", err)}
	}
	return nil
}
