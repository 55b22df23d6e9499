package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/measure"
	"github.com/boxsum/boxsum/papers"
)

const (
	// AlgorithmSizes is what algorithms are measured at unless told.
	AlgorithmSizes = "1024x1024,2048x2048"
	// AlgorithmBatch is how many images one that takes many gets.
	AlgorithmBatch = 16
)

// AlgorithmsConfig says which published algorithms to measure, at the sizes and with
// the numbers of workers of Config; its Cases do not count.
type AlgorithmsConfig struct {
	Config
	Algorithms []AlgorithmCase
	Device     *gpu.Device // for those that run on a GPU
	Batch      int         // images for those that take many; zero means AlgorithmBatch
	Out        io.Writer   // for rows as they come; nil for none
}

// Algorithms measures published algorithms, each in turn with boxsum's own engine on
// the same pixels and in the same place. Every table is checked first.
func Algorithms(ctx context.Context, cfg AlgorithmsConfig) (results []Result, err error) {
	if cfg.Sizes == nil {
		if cfg.Sizes, err = measure.ParseSizes(AlgorithmSizes); err != nil {
			return nil, err
		}
	}
	cfg.Batch = cmp.Or(cfg.Batch, AlgorithmBatch)
	cfg.Cases = []Case{{Types: "u8:u32", Channels: 1}}
	p, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	p.total = 0
	for _, a := range cfg.Algorithms {
		p.total += len(cfg.Sizes) * len(cfg.workersOf(a, p)) * p.Repeat
	}
	for _, size := range cfg.Sizes { // before there is a head of a table without rows
		if size.Depth > 0 {
			return nil, fmt.Errorf("bench: %v: the works have no tables of volumes", size)
		}
	}
	report := newAlgorithmsReport(cfg, p)
	for _, a := range cfg.Algorithms {
		for _, size := range cfg.Sizes {
			for _, workers := range cfg.workersOf(a, p) {
				end := p.done + p.Repeat
				pair, err := cfg.measure(ctx, p, a, size, workers)
				if leavesOut(err) {
					r := leftOut(a.Name, cfg.device(a), a.table(), size, cfg.images(a), err)
					r.Workers, p.done = workers, end
					results = append(results, r)
					report.line(fmt.Sprintf("%-32s%-13s left out: %s", a, size, r.LeftOut))
					continue
				}
				if err != nil {
					return results, fmt.Errorf("bench: %v %v: %w", a, size, err)
				}
				results = append(results, pair...)
				report.row(a, pair)
			}
		}
	}
	return results, errors.Join(measured(results), report.end())
}

// workersOf is the numbers of workers that make a difference to an algorithm.
func (cfg *AlgorithmsConfig) workersOf(a AlgorithmCase, p *plan) []int {
	switch {
	case a.Place == papers.GPU:
		return []int{0}
	case a.Threads:
		return p.Workers
	}
	return []int{1}
}

// measure checks and times one algorithm and boxsum beside it.
func (cfg *AlgorithmsConfig) measure(ctx context.Context, p *plan, a AlgorithmCase, size Size, workers int) (results []Result, err error) {
	c := a.table()
	if err := c.FitMemory(size, 4*int64(cfg.images(a))); err != nil {
		return nil, err
	}
	var both []*measure.Contestant
	switch a.Precision.Type {
	case "f32":
		both, err = duel[float32](cfg, a, size, workers)
	case "f64":
		both, err = duel[float64](cfg, a, size, workers)
	default:
		both, err = duel[uint32](cfg, a, size, workers)
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
		field = append(field, entry{newResult(name, cfg.device(a), c, size, workers, cfg.images(a), true), both[i]})
	}
	return p.measure(ctx, field)
}

// duel is a published algorithm and boxsum's own on the same pixels, in the same place.
// Those that are there are to be closed, also with an error.
func duel[E uint32 | float32 | float64](cfg *AlgorithmsConfig, a AlgorithmCase, size Size, workers int) ([]*measure.Contestant, error) {
	img, err := papers.ExactImage[E](size.Width, size.Height, a.Precision)
	if err != nil {
		return nil, err
	}
	images := slices.Repeat([]boxsum.Image[E]{img}, cfg.images(a))
	job, err := papers.Prepare(a.Algorithm, &papers.Options{
		Precision: a.Precision, Threads: workers, Device: cfg.Device, Rotation: a.Rotation,
	}, images...)
	if err != nil {
		return nil, err
	}
	both := []*measure.Contestant{measure.Published(job, cfg.device(a), a.Many)}
	var ours *measure.Contestant
	switch {
	case a.Many:
		ours, err = measure.Many[E](cfg.Device, img, len(images))
	case a.Place == papers.GPU:
		ours, err = onDevice(cfg.Device, a, img)
	default:
		ours, err = onCPU(a, img, measure.Options{Workers: workers, Level: cfg.Level})
	}
	if err != nil {
		return both, err
	}
	return append(both, ours), nil
}

// onDevice and onCPU are boxsum's table of the same kind.
func onDevice[E uint32 | float32 | float64](d *gpu.Device, a AlgorithmCase, img boxsum.Image[E]) (*measure.Contestant, error) {
	job := measure.DeviceJob{Device: d}
	var w *measure.DeviceWork
	var err error
	if a.Kind == papers.Tilted {
		w, err = measure.DeviceTilted[E](job, img)
	} else {
		w, err = measure.DeviceUpright[E](job, img)
	}
	if err != nil {
		return nil, err
	}
	return w.Contestant(false), nil
}

func onCPU[E uint32 | float32 | float64](a AlgorithmCase, img boxsum.Image[E], opt measure.Options) (*measure.Contestant, error) {
	var w *measure.Work
	var err error
	switch a.Kind {
	case papers.Tilted:
		w, err = measure.Tilted[E](img)
	case papers.Rotated:
		w, err = measure.Rotated[E](img, a.Rotation)
	default:
		w, err = measure.Upright[E](img)
	}
	if err != nil {
		return nil, err
	}
	return w.Contestant(opt), nil
}

// device is where an algorithm runs; nil is the CPU.
func (cfg *AlgorithmsConfig) device(a AlgorithmCase) *gpu.Device {
	if a.Place == papers.GPU {
		return cfg.Device
	}
	return nil
}

// images is how many there are for an algorithm.
func (cfg *AlgorithmsConfig) images(a AlgorithmCase) int {
	if a.Many {
		return cfg.Batch
	}
	return 1
}
