package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/lab/measure"
	"github.com/boxsum/boxsum/papers"
)

const (
	// AlgorithmSizes are the default sizes for algorithms.
	AlgorithmSizes = "1024x1024,2048x2048"
	// AlgorithmBatch is the default number of images for algorithms that process many.
	AlgorithmBatch = 16
)

// Algorithms measures published algorithms. Each alternates with boxsum's own engine on the same
// pixels and the same processor or device. Every table is verified first.
func Algorithms(ctx context.Context, cfg Config) ([]Result, error) {
	cfg.Batch = cmp.Or(cfg.Batch, AlgorithmBatch)
	cfg.Cases = nil
	p, err := cfg.plan(AlgorithmSizes, "u8:u32")
	if err != nil {
		return nil, err
	}
	p.total = 0
	for _, a := range p.Algorithms {
		p.total += len(p.Sizes) * len(p.workersOf(a)) * p.Repeat
	}
	const lead = "%-32s%-14s" // algorithm and size
	p.lead = 46
	p.text("algorithms", p)
	ours := runner{Boxsum, 0}
	p.head(fmt.Sprintf(lead, "algorithm", "size"),
		property("on", func(r Result) string { return r.On }),
		property("workers", func(r Result) string { return cmp.Or(strings.TrimLeft(fmt.Sprint(r.Workers), "0"), "–") }),
		property("ms", func(r Result) string { return ms(r.counted()) }), property("mean", func(r Result) string { return ms(r.Mean) }),
		property("median", func(r Result) string { return ms(r.Median) }), property("p95", func(r Result) string { return ms(r.P95) }),
		property("GB/s", gbPerSecond), took("boxsum", ms, ours), median("its median", ms, ours), p95("its p95", ms, ours),
		column{"× boxsum", func(row []Result) string { return number(row[0].counted()/ours.find(row).counted(), "%.2f") }})
	many := false
	for _, a := range p.Algorithms {
		for _, size := range p.Sizes {
			for _, workers := range p.workersOf(a) {
				left := newResult(a.Name, p.device(a), a.table(), size, workers, p.images(a), false)
				err := p.try(left, func(r Result) string { return fmt.Sprintf("%-32s%-13s left out: %s", a, size, r.LeftOut) }, func() error {
					pair, err := p.duel(ctx, a, size, workers)
					if err != nil {
						return err
					}
					name := size.String()
					if n := pair[0].Batch; n > 1 {
						many, name = true, fmt.Sprintf("%d of %s", n, size)
					}
					p.row(fmt.Sprintf(lead, a, name), pair)
					return nil
				})
				if err != nil {
					return p.end(fmt.Errorf("%v %v: %w", a, size, err))
				}
			}
		}
	}
	if many {
		p.text("many", nil)
	}
	return p.end(nil)
}

// OnGPU reports whether an algorithm runs on the device.
func (p *plan) OnGPU() bool {
	return slices.ContainsFunc(p.Algorithms, func(a AlgorithmCase) bool { return a.Place == papers.GPU })
}

// workersOf returns the numbers of workers to measure an algorithm with.
func (p *plan) workersOf(a AlgorithmCase) []int {
	switch {
	case a.Place == papers.GPU:
		return []int{0}
	case a.Threads:
		return p.Workers
	}
	return []int{1}
}

// duel verifies and times one algorithm and boxsum.
func (p *plan) duel(ctx context.Context, a AlgorithmCase, size Size, workers int) (results []Result, err error) {
	c := a.table()
	if err := c.FitMemory(size, 4*int64(p.images(a))); err != nil {
		return nil, err
	}
	var both []*measure.Contestant
	opt := measure.Options{Workers: workers, Level: p.Level, Context: ctx}
	switch a.Precision.Type {
	case "f32":
		both, err = duelists[float32](p, a, size, opt)
	case "f64":
		both, err = duelists[float64](p, a, size, opt)
	default:
		both, err = duelists[uint32](p, a, size, opt)
	}
	defer func() {
		for _, contestant := range both {
			if contestant.Close != nil {
				err = errors.Join(err, contestant.Close())
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	var field []entry
	for i, name := range []string{a.Name, Boxsum} {
		if err := both[i].Verify(ctx); err != nil {
			return nil, err
		}
		field = append(field, entry{newResult(name, p.device(a), c, size, workers, p.images(a), true), both[i]})
	}
	return p.measure(ctx, field)
}

// duelists returns a published algorithm and boxsum's own for the same pixels and the same place.
// The caller must close those it returns, even with an error.
func duelists[E uint32 | float32 | float64](p *plan, a AlgorithmCase, size Size, opt measure.Options) ([]*measure.Contestant, error) {
	img, err := papers.ExactImage[E](size.Width, size.Height, a.Precision)
	if err != nil {
		return nil, err
	}
	job, err := papers.Prepare(a.Algorithm, &papers.Options{
		Precision: a.Precision, Threads: opt.Workers, Device: p.Device, Rotation: a.Rotation,
	}, slices.Repeat([]boxsum.Image[E]{img}, p.images(a))...)
	if err != nil {
		return nil, err
	}
	both := []*measure.Contestant{measure.Published(job, p.device(a), a.Many)}
	own := measure.Own{Sum: raster.TypeOf[E](), Kind: a.Kind, Rotation: a.Rotation, Device: p.device(a), Options: opt}
	if a.Many {
		own.Images = p.images(a)
	}
	ours, err := own.Contestant(pixels.Of(img))
	if err != nil {
		return both, err
	}
	return append(both, ours), nil
}

// device returns the device on which an algorithm runs, or nil for the CPU.
func (p *plan) device(a AlgorithmCase) *gpu.Device {
	if a.Place == papers.GPU {
		return p.Device
	}
	return nil
}

// images returns the number of images for an algorithm.
func (p *plan) images(a AlgorithmCase) int {
	if a.Many {
		return p.Batch
	}
	return 1
}
