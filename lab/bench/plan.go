package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/boxsum/boxsum/lab/measure"
)

// A plan is a Config with its defaults filled in, and the results so far.
type plan struct {
	Config
	Peers *measure.Peers // nil if there are none

	report
	done, total int
	results     []Result

	checked map[Case][]string // peers that made a right table on a device
	wrong   []error           // errors about those that did not
	kernels []kernelRow       // kernels used on a device
}

// plan fills in default sizes and types, with other sizes for volumes. It returns an error for
// sizes and types that cannot be combined.
func (cfg Config) plan(sizes, types string) (_ *plan, err error) {
	if slices.ContainsFunc(cfg.Cases, Case.Volume) {
		sizes = VolumeSizes
	}
	if cfg.Sizes == nil {
		if cfg.Sizes, err = measure.ParseSizes(sizes); err != nil {
			return nil, err
		}
	}
	if cfg.Cases == nil {
		if cfg.Cases, err = measure.ParseTypes(types); err != nil {
			return nil, err
		}
	}
	for _, c := range cfg.Cases {
		for _, size := range cfg.Sizes {
			if c.Volume() && size.Depth == 0 {
				return nil, fmt.Errorf("%v needs sizes of volumes, such as 256x256x256, not %v", c, size)
			}
			if !c.Volume() && size.Depth != 0 {
				return nil, fmt.Errorf("%v needs sizes of images, not of volumes such as %v", c, size)
			}
		}
	}
	if cfg.Workers == nil {
		cfg.Workers = oneAndAll()
	}
	for _, n := range cfg.Workers {
		if n < 1 {
			return nil, fmt.Errorf("workers is %d, want 1 or more", n)
		}
	}
	if cfg.Repeat < 0 || cfg.Budget < 0 {
		return nil, fmt.Errorf("repeat is %d and budget %v, want 0 or more", cfg.Repeat, cfg.Budget)
	}
	cfg.Repeat, cfg.Batch = cmp.Or(cfg.Repeat, DefaultRepeat), cmp.Or(cfg.Batch, 1)
	cfg.Budget = cmp.Or(cfg.Budget, DefaultBudget)
	return &plan{Config: cfg, report: report{w: cfg.Out}, total: len(cfg.Cases) * len(cfg.Sizes) * cfg.Repeat}, nil
}

// oneAndAll returns 1 and the number of cores.
func oneAndAll() []int { return slices.Compact([]int{1, runtime.GOMAXPROCS(0)}) }

// Has reports whether one of the cases is of a kind, given by the name of a method of [Case].
func (p *plan) Has(kind string) bool {
	is := map[string]func(Case) bool{"Volume": Case.Volume, "Tilted": Case.Tilted, "Rotated": Case.Rotated, "Histogram": Case.Histogram}[kind]
	return slices.ContainsFunc(p.Cases, is)
}

// each calls f for every combination of a case and a size.
func (p *plan) each(name string, f func(Case, Size) error) error {
	for _, c := range p.Cases {
		for _, size := range p.Sizes {
			left := newResult(name, p.Device, c, size, 0, p.Batch, false)
			if err := p.try(left, Result.line, func() error { return f(c, size) }); err != nil {
				return fmt.Errorf("%v %v: %w", c, size, err)
			}
		}
	}
	return nil
}

// try measures one combination, or leaves it out with a result and a line that give the reason. It
// frees memory afterwards, so that only one combination has to fit at a time.
func (p *plan) try(left Result, line func(Result) string, f func() error) (err error) {
	defer debug.FreeOSMemory()
	end := p.done + p.Repeat
	if p.lacks != nil {
		err = p.lacks(left.Case())
	}
	if err == nil {
		err = f()
	}
	if !leavesOut(err) {
		return err
	}
	left.LeftOut, left.cause = reason(err), err
	p.results, p.done = append(p.results, left), end
	p.line(line(left))
	return nil
}

// end returns the results and all errors.
func (p *plan) end(err error) ([]Result, error) {
	return p.results, errors.Join(cmp.Or(err, measured(p.results)), p.err, errors.Join(p.wrong...))
}

// An entry is a contestant with its result, except the times.
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
	results = withExtra(results)
	p.results = append(p.results, results...)
	return results, nil
}
