// Package bench is what boxsum bench measures, prints and plots: how fast tables are
// made by this library, and by others on the same machine in the same run, beside
// what the memory allows.
//
// A speed is the best of several runs, and on a GPU the median of the device's
// own times, beside a copy of as many bytes there.
package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/lab/measure"
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

// Config says what to measure, for [Run], [Peers], [GPU], [Pipeline] and [Algorithms],
// each of which has defaults of its own. Every combination of a size and a case is
// measured, one after another.
type Config struct {
	Sizes []Size
	Cases []Case // [Algorithms] come in their own

	// Workers are the worker counts to compare; nil means one, and one for
	// every core. [Peers] compares these two always, and a device has none.
	Workers []int

	// Repeat is how many runs are timed. A combination that has spent its Budget
	// stops earlier, though not before three; zero means DefaultBudget.
	Repeat int
	Budget time.Duration

	// Level is the instruction set to use on the CPU.
	Level boxsum.Level

	// Device is where, if not on the CPU, and Kernels which way it makes tables.
	Device  *gpu.Device
	Kernels gpu.Kernels

	// Batch is how many images go into one launch, through a pipeline in one run, or to
	// an algorithm that takes many; zero means 1, PipelineImages or AlgorithmBatch.
	Batch int

	// Python, if not empty, is an interpreter: other libraries take turns with us as
	// far as it finds them. [Peers] needs one that has NumPy.
	Python string

	// Algorithms are what [Algorithms] measures.
	Algorithms []AlgorithmCase

	// Out, if not nil, gets the report, one row as each comparison ends. The results
	// of [Run] are written by [WriteTable].
	Out io.Writer

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
	cfg.Out = nil
	p, err := cfg.plan(DefaultSizes, DefaultTypes)
	if err != nil {
		return nil, err
	}
	return p.end(p.cpu(ctx))
}

// cpu measures on the CPU, beside peers where there are any.
func (p *plan) cpu(ctx context.Context) error {
	return p.each(Boxsum, func(c Case, size Size) error {
		copies := int64(1)
		switch {
		case p.Peers != nil && c.Tilted():
			copies = 6 // an upright one, and OpenCV's with squares in float64
		case p.Peers != nil:
			copies = 2
		case c.Tilted() || c.Rotated():
			copies = 3 // an upright one, and what the limits write
		}
		field, w, err := p.onCPU(ctx, c, size, copies)
		if err != nil {
			return err
		}
		if p.Peers != nil {
			right, err := p.right(ctx, peersOf(c, size), c, size, w)
			if err != nil {
				return err
			}
			field = append(field, p.peers(right, c, size)...)
		}
		results, err := p.measure(ctx, field)
		if err != nil {
			return err
		}
		p.headOf(c, func() []column { return peerColumns(c, slices.Max(p.Workers)) })
		p.row(size.Name, results)
		return nil
	})
}

// onCPU is who takes turns at one size: the table, the upright one beside it, then the
// limits, each with every worker count. They need several copies of the table's memory.
func (p *plan) onCPU(ctx context.Context, c Case, size Size, copies int64) ([]entry, *measure.Work, error) {
	if err := c.FitMemory(size, copies); err != nil {
		return nil, nil, err
	}
	opt := measure.Options{Level: p.Level, Context: ctx}
	w, err := measure.Prepare(c, size, p.Workers, opt)
	if err != nil {
		return nil, nil, err
	}
	name := Boxsum
	if p.Level != (Config{}).Level {
		name = fmt.Sprint(Boxsum, " ", p.Level)
	}
	var field []entry
	add := func(name string, w *measure.Work) {
		for _, opt.Workers = range p.Workers {
			field = append(field, entry{newResult(name, nil, c, size, opt.Workers, 1, true), w.Contestant(opt)})
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
