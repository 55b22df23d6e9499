// Package reproduce runs the experiments of the works in package papers and writes a report. For
// every published figure, the report contains the corresponding measurement of the same algorithm
// and of boxsum's own engine, in tables and plots.
//
// Every entry of every result is compared with a reference before it is timed. Contestants of the
// same size take turns on the same pixels. The reported time is the median; on a device it is
// measured between events of the device.
package reproduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/lab/measure"
)

// Config specifies what to reproduce, and where.
type Config struct {
	// Names are experiments, such as messom/table-3, or works, such as messom, which mean all of
	// their experiments. An empty list, or "all", means everything.
	Names []string

	// Device runs the GPU algorithms; nil omits them.
	Device *gpu.Device

	// Quick uses fewer sizes and runs, which takes a minute instead of several.
	Quick bool

	// Sizes, if not nil, replaces the sizes that experiments sweep.
	Sizes []Size

	// Repeat, if not zero, replaces the published number of runs.
	Repeat int

	// CPU, Version and Command are shown in the report: the processor, the version of the program,
	// and the command line.
	CPU, Version, Command string

	// Progress, if not nil, is called as measurements finish.
	Progress func(Progress)

	// Ready, if not nil, is called with the partial report every few seconds, and finally with the
	// complete one.
	Ready func(*Report) error

	// measure and machine replace the real ones in tests.
	measure func(context.Context, []Spec) []Result
	machine *Machine
}

// Types of package measure.
type (
	Size     = measure.Size
	Progress = measure.Progress
)

// sized returns the size of an image.
func sized(width, height int) Size { return Size{Width: width, Height: height} }

// An Experiment is one table, or several figures, of a work.
type Experiment struct {
	Name  string // as in messom/table-3
	Title string
}

// Work returns the name of the experiment's work.
func (e *Experiment) Work() string { work, _, _ := strings.Cut(e.Name, "/"); return work }

// experiments lists all experiments, work by work.
var experiments = sync.OnceValue(func() []*Experiment { return fromFile[[]*Experiment]("experiments.json") })

// Experiments lists all experiments, work by work.
func Experiments() []*Experiment { return slices.Clone(experiments()) }

// Select returns the experiments with the given names, in the order of [Experiments].
func Select(names []string) ([]*Experiment, error) {
	all := Experiments()
	for _, name := range names {
		if name != "all" && !slices.ContainsFunc(all, func(e *Experiment) bool { return e.Name == name || e.Work() == name }) {
			var works []string
			for _, e := range all {
				works = append(works, e.Work())
			}
			return nil, fmt.Errorf("unknown experiment %q, want all, %s, or a part of one (list prints them)",
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

// Run measures what the experiments need and returns a report. If the context is canceled, the
// report contains the measurements made until then.
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
		if slices.ContainsFunc(experiments, func(e *Experiment) bool { return e.Name == "bilgic/people" }) {
			if r.People, err = comparePeople(ctx, cfg.Quick); err != nil {
				return r, err
			}
		}
		l := &lab{device: cfg.Device, setting: s, progress: cfg.Progress, total: len(todo)}
		measure = l.measure
	}
	written := time.Now()
	for last := false; !last && ctx.Err() == nil; {
		if len(todo) > 0 {
			var group []Spec
			group, todo = samePixels(todo)
			r.Results = append(r.Results, measure(ctx, group)...)
		}
		r.experiments = slices.DeleteFunc(slices.Clone(experiments), func(e *Experiment) bool { return len(todo) > 0 && !r.has(e) })
		r.Interrupted = ctx.Err() != nil
		last = len(todo) == 0 || r.Interrupted
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

// writeEvery is the interval at which a growing report is written.
const writeEvery = 5 * time.Second

// samePixels splits off the specs of a list that share the pixels of the first.
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

// wrong returns an error if a table was wrong.
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
	return fmt.Errorf("wrong results: %w", errors.Join(errs...))
}

// A setting holds the parameters that experiments depend on.
type setting struct {
	quick  bool
	device deviceKind
	cores  int
	sizes  []Size
	repeat int
}

// A deviceKind is the kind of device for the GPU algorithms.
type deviceKind int

const (
	noDevice deviceKind = iota
	standIn             // OpenCL on the processor
	realGPU
)

// set returns the setting of a report.
func (r *Report) set(sizes []Size, repeat int) *setting {
	r.setting = &setting{r.Quick, r.Machine.kind(), r.Machine.Cores, sizes, repeat}
	if len(sizes) == 0 {
		r.setting.sizes = nil
	}
	return r.setting
}
