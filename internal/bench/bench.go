// Package bench is what boxsum bench measures, prints and plots: how fast tables are
// made by this library, and by others on the same machine in the same run, beside
// what the memory allows.
//
// A speed is the best of several runs, and on a GPU the median of the device's
// own times, beside a copy of as many bytes there.
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
	"github.com/boxsum/boxsum/internal/measure"
)

const (
	// DefaultSizes and DefaultTypes are what `boxsum bench` measures.
	DefaultSizes = "480p,720p,1080p,2160p,4096x4096"
	DefaultTypes = "u8:u32,f32:f64"
	// VolumeSizes is what tables of volumes are measured at.
	VolumeSizes = "128x128x128,256x256x256,512x512x512"
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

	// lacks stands in for a device without some types in tests.
	lacks func(Case) error
}

// What is measured, and how far it is, as package measure has it.
type (
	Case     = measure.Case
	Size     = measure.Size
	Progress = measure.Progress
)

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
		if c.Tilted() || c.Rotated() {
			copies = 3 // an upright one, and what the limits write
		}
		field, _, err := p.onCPU(c, size, copies)
		if err != nil {
			return err
		}
		results, err := p.measure(ctx, field)
		all = append(all, results...)
		return err
	}, func(c Case, size Size, why error) {
		all = append(all, leftOut(Boxsum, nil, c, size, 1, why))
	})
	return all, cmp.Or(err, measured(all))
}

// onCPU is who takes turns at one size: the table, the upright one beside it, then the
// limits, each with every worker count. They need several copies of the table's memory.
func (p *plan) onCPU(c Case, size Size, copies int64) ([]entry, *measure.Work, error) {
	if err := c.FitMemory(size, copies); err != nil {
		return nil, nil, err
	}
	w, err := measure.Prepare(c, size, p.Workers, p.Level)
	if err != nil {
		return nil, nil, err
	}
	name := Boxsum
	if p.Level != (Config{}).Level {
		name = fmt.Sprint(Boxsum, " ", p.Level)
	}
	var field []entry
	add := func(name string, w *measure.Work) {
		for _, n := range p.Workers {
			r := newResult(name, nil, c, size, n, 1, true)
			field = append(field, entry{r, w.Contestant(measure.Options{Workers: n, Level: p.Level})})
		}
	}
	add(name, w)
	if w.Upright != nil {
		add(Upright, w.Upright)
	}
	_, written := c.Bytes(size)
	for _, n := range p.Workers {
		limit := func(name string) Result { return newResult(name, nil, c, size, n, 1, false) }
		fill := limit(LimitFill)
		fill.Bytes = written
		field = append(field, entry{limit(LimitFillRead), w.FillRead(n)}, entry{fill, w.Fill(n)}, entry{limit(LimitCopy), w.Copy(n)})
	}
	return field, w, nil
}

// A plan is a Config with its defaults filled in, and how far it has come.
type plan struct {
	Config
	done, total int
}

func (cfg Config) plan() (*plan, error) {
	if err := cfg.fill(DefaultSizes, DefaultTypes); err != nil {
		return nil, err
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

// fill fills in sizes and types, sizes of their own for volumes, and reports where they
// do not go together.
func (cfg *Config) fill(sizes, types string) (err error) {
	if slices.ContainsFunc(cfg.Cases, Case.Volume) {
		sizes = VolumeSizes
	}
	if cfg.Sizes == nil {
		if cfg.Sizes, err = measure.ParseSizes(sizes); err != nil {
			return err
		}
	}
	if cfg.Cases == nil {
		if cfg.Cases, err = measure.ParseTypes(types); err != nil {
			return err
		}
	}
	for _, c := range cfg.Cases {
		for _, size := range cfg.Sizes {
			if c.Volume() && size.Depth == 0 {
				return fmt.Errorf("bench: %v takes sizes such as 256x256x256, and %v is of an image", c, size)
			}
			if !c.Volume() && size.Depth != 0 {
				return fmt.Errorf("bench: %v is a table of an image, and %v is the size of a volume: measure types such as volume there", c, size)
			}
		}
	}
	return nil
}

// oneAndAll is one worker, and as many as there are cores.
func oneAndAll() []int { return slices.Compact([]int{1, runtime.GOMAXPROCS(0)}) }

// each calls f for every combination, or leave where that is left out, and gives its
// memory back in between, so that only one at a time has to fit.
func (p *plan) each(f func(Case, Size) error, leave func(Case, Size, error)) error {
	for _, c := range p.Cases {
		for _, size := range p.Sizes {
			end := p.done + p.Repeat
			var err error
			if p.lacks != nil {
				err = p.lacks(c)
			}
			if err == nil {
				err = f(c, size)
			}
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

// An entry is a contestant and its result, all but the times.
type entry struct {
	Result
	*measure.Contestant
}

// measure times one combination.
func (p *plan) measure(ctx context.Context, field []entry) ([]Result, error) {
	start, about := p.done, field[0].Result
	tell := func(done int) {
		p.done = start + done
		if p.Progress != nil {
			p.Progress(Progress{Done: p.done, Total: p.total, What: fmt.Sprint(about.Case(), " ", about.Size)})
		}
	}
	tell(0)
	race := measure.Race{Rounds: p.Repeat, Budget: p.Budget, Warm: measure.WarmRuns, After: tell}
	var contestants []*measure.Contestant
	for _, e := range field {
		contestants = append(contestants, e.Contestant)
	}
	if err := race.Run(ctx, contestants); err != nil {
		return nil, err
	}
	tell(p.Repeat)
	var results []Result
	for _, e := range field {
		results = append(results, e.withTimes(e.Contestant.Times))
	}
	return results, nil
}
