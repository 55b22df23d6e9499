// Package bench implements boxsum bench: it measures, prints and plots how fast this library and
// others compute tables, on the same machine in the same run, compared with the limits of memory.
//
// The reported speed is that of the best of several runs. On a GPU it is that of the median time,
// measured by the device, next to a copy of as many bytes.
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
	// DefaultSizes and DefaultTypes are the default sizes and types of boxsum bench.
	DefaultSizes = "480p,720p,1080p,2160p,4096x4096"
	DefaultTypes = "u8:u32,f32:f64"
	// VolumeSizes are the default sizes of volumes.
	VolumeSizes = "128x128x128,256x256x256,512x512x512"
	// DefaultRepeat is the default number of runs.
	DefaultRepeat = 15
	// DefaultBudget is the default time budget of a comparison. It suffices for all runs of the
	// largest image that can be compared on a machine with 24 GB, and stops anything far slower.
	DefaultBudget = time.Minute
)

// Config specifies what [Run], [Peers], [GPU], [Pipeline] and [Algorithms] measure. Each of them
// has its own defaults. Every combination of a size and a case is measured in turn.
type Config struct {
	Sizes []Size
	Cases []Case // ignored by [Algorithms]

	// Workers are the worker counts to compare; nil means one, and one per core. [Peers] always
	// compares these two, and devices ignore it.
	Workers []int

	// Repeat is the number of timed runs. A combination that has used up its Budget stops earlier, but
	// not before three runs. A zero Budget means DefaultBudget.
	Repeat int
	Budget time.Duration

	// Level is the instruction set to use on the CPU.
	Level boxsum.Level

	// Device is the device to measure, or nil for the CPU. Kernels selects its kernels.
	Device  *gpu.Device
	Kernels gpu.Kernels

	// Batch is the number of images in one launch, in one run of a pipeline, or for an algorithm that
	// processes many; zero means 1, PipelineImages or AlgorithmBatch.
	Batch int

	// Python, if not empty, is a Python interpreter. The libraries that it finds take turns with
	// boxsum. [Peers] requires an interpreter with NumPy.
	Python string

	// Algorithms lists what [Algorithms] measures.
	Algorithms []AlgorithmCase

	// Out, if not nil, receives the report, one row after each comparison. The results of [Run] are
	// written by [WriteTable].
	Out io.Writer

	// Progress, if not nil, is called when runs finish.
	Progress func(Progress)

	// lacks simulates a device without some types in tests.
	lacks func(Case) error
}

// Types of package measure.
type (
	Case     = measure.Case
	Size     = measure.Size
	Progress = measure.Progress
)

// Run measures tables and the limits of memory. Its results are ordered by case, size and worker
// count, with tables before limits. If an error occurs or the context is canceled, Run also returns
// the results obtained until then. If a size does not fit in memory, its result says so.
func Run(ctx context.Context, cfg Config) ([]Result, error) {
	cfg.Out = nil
	p, err := cfg.plan(DefaultSizes, DefaultTypes)
	if err != nil {
		return nil, err
	}
	return p.end(p.cpu(ctx))
}

// cpu measures on the CPU, with peers if there are any.
func (p *plan) cpu(ctx context.Context) error {
	return p.each(Boxsum, func(c Case, size Size) error {
		copies := int64(1)
		switch {
		case p.Peers != nil && c.Tilted():
			copies = 6 // an upright one, and OpenCV's with float64 squares
		case p.Peers != nil:
			copies = 2
		case c.Tilted() || c.Rotated():
			copies = 3 // an upright one, and the memory that the limits write
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

// onCPU returns the contestants at one size: the table, the upright one to compare it with, and the
// limits, each with every worker count. They need several times the table's memory.
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
