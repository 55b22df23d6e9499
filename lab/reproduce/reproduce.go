// Package reproduce runs the experiments of the works whose algorithms package
// papers has, and writes a report: every published figure, ours for the same
// algorithm, and boxsum's own engine, in tables and plots.
//
// Every result is compared with a reference, all entries, before it is timed.
// Those who are compared at one size take turns on the same pixels. The time
// that counts is the median; on a device it is between events of the device.
package reproduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/lab/measure"
)

// Config says what to reproduce, and on what.
type Config struct {
	// Names are experiments, such as messom/table-3, or works, such as messom,
	// which stand for all of theirs. None, or "all", stands for everything.
	Names []string

	// Device is where the algorithms for a GPU run; nil leaves them out.
	Device *gpu.Device

	// Quick takes fewer sizes and runs: a minute instead of several.
	Quick bool

	// Sizes, if not nil, take the place of the sizes that experiments sweep.
	Sizes []Size

	// Repeat, if not zero, takes the place of the published number of runs.
	Repeat int

	// CPU, Version and Command are what the report says of the processor, the
	// program, and how it was called.
	CPU, Version, Command string

	// Progress, if not nil, is called as measurements finish.
	Progress func(Progress)

	// Ready, if not nil, is called with what there is of the report every few
	// seconds, and at last with all of it.
	Ready func(*Report) error

	// measure and machine stand in for the real thing in tests.
	measure func(context.Context, []Spec) []Result
	machine *Machine
}

// What is measured, and how far it is, as package measure has it.
type (
	Size     = measure.Size
	Progress = measure.Progress
)

// sized is the size of an image.
func sized(width, height int) Size { return Size{Width: width, Height: height} }

// An Experiment is one table, or some figures, of a work.
type Experiment struct {
	Name  string // as in messom/table-3
	Title string
}

// Work is the name of the experiment's work.
func (e *Experiment) Work() string { work, _, _ := strings.Cut(e.Name, "/"); return work }

// experiments are all of them, work by work.
var experiments = fromFile[[]*Experiment]("experiments.json")

// Experiments lists all experiments, work by work.
func Experiments() []*Experiment { return slices.Clone(experiments) }

// Select is the experiments that names stand for, in the order of the list.
func Select(names []string) ([]*Experiment, error) {
	all := Experiments()
	for _, name := range names {
		if name != "all" && !slices.ContainsFunc(all, func(e *Experiment) bool { return e.Name == name || e.Work() == name }) {
			var works []string
			for _, e := range all {
				works = append(works, e.Work())
			}
			return nil, fmt.Errorf("reproduce: no experiment is called %q: there are all, %s, and their parts, which list shows",
				name, strings.Join(slices.Compact(works), ", "))
		}
	}
	if len(names) == 0 || slices.Contains(names, "all") {
		return all, nil
	}
	return slices.DeleteFunc(all, func(e *Experiment) bool {
		return !slices.Contains(names, e.Name) && !slices.Contains(names, e.Work())
	}), nil
}

// Run measures what the experiments need and reports on it. Where the context
// ends early the report has what was measured until then.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	experiments, err := Select(cfg.Names)
	if err != nil {
		return nil, err
	}
	if cfg.machine == nil {
		cfg.machine = machineOf(cfg)
	}
	r := &Report{
		Title: "Published summed-area table algorithms, measured again", Made: time.Now().UTC().Truncate(time.Second),
		Version: cfg.Version, Command: cfg.Command, Quick: cfg.Quick, Machine: *cfg.machine,
	}
	s := r.set(cfg.Sizes, cfg.Repeat)
	if err := s.fits(experiments); err != nil {
		return nil, err
	}
	var todo []Spec
	for _, e := range experiments {
		for _, spec := range e.specs(s) {
			todo = addSpec(todo, spec)
		}
	}
	measure := cfg.measure
	if measure == nil {
		if slices.ContainsFunc(experiments, func(e *Experiment) bool { return e.Name == "messom/table-2" }) {
			r.Turned = turnedFaces()
		}
		l := &lab{device: cfg.Device, setting: s, progress: cfg.Progress, total: len(todo)}
		measure = l.measure
	}
	written := time.Now()
	for len(todo) > 0 && ctx.Err() == nil {
		var group []Spec
		group, todo = samePixels(todo)
		r.Results = append(r.Results, measure(ctx, group)...)
		r.experiments = slices.DeleteFunc(slices.Clone(experiments), func(e *Experiment) bool { return len(todo) > 0 && !r.has(e) })
		r.Interrupted = ctx.Err() != nil
		last := len(todo) == 0 || r.Interrupted
		if cfg.Ready != nil && (last || time.Since(written) > writeEvery) {
			if err := cfg.Ready(r); err != nil {
				return r, err
			}
			written = time.Now()
		}
	}
	if err := ctx.Err(); err != nil {
		return r, err
	}
	return r, r.wrong()
}

// writeEvery is how often a report is written while it grows.
const writeEvery = 5 * time.Second

// samePixels takes the specs out of a list that share the pixels of the first.
func samePixels(specs []Spec) (group, others []Spec) {
	for _, s := range specs {
		if s.Size == specs[0].Size && pixelType(s.Precision) == pixelType(specs[0].Precision) {
			group = append(group, s)
		} else {
			others = append(others, s)
		}
	}
	return group, others
}

// has reports whether anything of an experiment was measured.
func (r *Report) has(e *Experiment) bool {
	for _, s := range e.specs(r.setting) {
		if slices.ContainsFunc(r.Results, func(result Result) bool { return result.Spec.same(s) }) {
			return true
		}
	}
	return false
}

// wrong is an error where a table was not what it should be.
func (r *Report) wrong() error {
	var errs []error
	for _, result := range r.Results {
		if result.Wrong {
			errs = append(errs, fmt.Errorf("%v: %s", result.Spec, result.Missing))
		}
	}
	if errs == nil {
		return nil
	}
	return fmt.Errorf("reproduce: wrong results: %w", errors.Join(errs...))
}

// A setting is what experiments plan by.
type setting struct {
	quick  bool
	device deviceKind
	cores  int
	sizes  []Size
	repeat int
}

// A deviceKind is what there is to run the algorithms for a GPU on.
type deviceKind int

const (
	noDevice deviceKind = iota
	standIn             // OpenCL on the processor
	realGPU
)

// set is the setting of a report.
func (r *Report) set(sizes []Size, repeat int) *setting {
	r.setting = &setting{r.Quick, r.Machine.kind(), r.Machine.Cores, sizes, repeat}
	if len(sizes) == 0 {
		r.setting.sizes = nil
	}
	return r.setting
}
