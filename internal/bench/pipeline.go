package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/measure"
)

const (
	// PipelineSizes, PipelineTypes and PipelineImages are what [Pipeline]
	// measures by default, and PipelineRepeat how often.
	PipelineSizes  = "2160p"
	PipelineTypes  = "u8:u32"
	PipelineImages = 200
	PipelineRepeat = 21

	// pipelineDistinct is how many images take turns to go in.
	pipelineDistinct = 8
)

// PipelineConfig says which pipeline to measure.
type PipelineConfig struct {
	// Config says what to measure, with the defaults above. Workers and
	// Level are not used.
	Config

	// Device is where.
	Device *gpu.Device

	// Kernels is which way the device makes tables.
	Kernels gpu.Kernels

	// Images is how many go through in one run; zero means PipelineImages.
	Images int

	// Out, if not nil, gets the report.
	Out io.Writer
}

// Pipeline measures how long many images take from host memory to tables in
// host memory, beside what their copies alone take, both ways at once. First
// every table of a run is compared with the reference. What there is too little memory
// for, and types that the device lacks, are left out, as by [GPU].
func Pipeline(ctx context.Context, cfg PipelineConfig) ([]Result, error) {
	if err := cfg.defaults(); err != nil {
		return nil, err
	}
	p, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	report := newPipelineReport(cfg, p)
	var all []Result
	err = p.each(func(c Case, size Size) (err error) {
		// The images twice, and as many tables: the caller's and in flight.
		if err := c.FitMemory(size, 2*pipelineDistinct); err != nil {
			return err
		}
		pipe, err := measure.PreparePipeline(c, measure.DeviceJob{
			Device: cfg.Device, Opt: &gpu.Options{Kernels: cfg.Kernels}, Size: size, Batch: min(pipelineDistinct, cfg.Images),
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, pipe.Close()) }()
		field, err := cfg.field(ctx, c, size, pipe)
		if err != nil {
			return err
		}
		results, err := p.measure(ctx, field)
		if err != nil {
			return err
		}
		all = append(all, results...)
		report.rows(c, size, results)
		return nil
	}, func(c Case, size Size, why error) {
		all = append(all, leftOut(Pipelined, cfg.Device, c, size, cfg.Images, why))
		report.line(all[len(all)-1].line())
	})
	return all, errors.Join(cmp.Or(err, measured(all)), report.err)
}

func (cfg *PipelineConfig) defaults() error {
	if cfg.Images < 0 {
		return fmt.Errorf("bench: a pipeline of %d images: at least 1 is needed", cfg.Images)
	}
	cfg.Images = cmp.Or(cfg.Images, PipelineImages)
	cfg.Repeat = cmp.Or(cfg.Repeat, PipelineRepeat)
	cfg.Workers = []int{1}
	if err := cfg.fill(PipelineSizes, PipelineTypes); err != nil {
		return err
	}
	return cfg.allHave(Case.InPipeline, "pipelines of %s are not measured: take pairs of types, such as u8:u32")
}

// pipelineWays are the ways through a pipeline.
var pipelineWays = []struct {
	name, about string
	measure.Way
}{
	{Pipelined, "tables reused", measure.Way{Images: measure.Plain, Tables: measure.Reused}},
	{PipelinedLocked, "images page-locked", measure.Way{Images: measure.Locked, Tables: measure.Reused}},
	{PipelinedInto, "into page-locked", measure.Way{Images: measure.Plain, Tables: measure.Locked}},
	{PipelinedOwn, "into plain tables", measure.Way{Images: measure.Plain, Tables: measure.Plain}},
	{PipelinedNew, "new tables", measure.Way{Images: measure.Plain, Tables: measure.Fresh}},
}

// field is the ways through a pipeline, each already checked, and the copies.
func (cfg *PipelineConfig) field(ctx context.Context, c Case, size Size, pipe *measure.Pipeline) ([]entry, error) {
	result := func(name string, verified bool) Result {
		r := newResult(name, cfg.Device, c, size, 0, cfg.Images, verified)
		r.Batch = cfg.Images
		return r
	}
	var field []entry
	for _, way := range pipelineWays {
		send := func(compare bool) error { return pipe.Send(ctx, way.Way, cfg.Images, compare) }
		if err := send(true); err != nil {
			return nil, fmt.Errorf("%s: %w", way.about, err)
		}
		field = append(field, entry{result(way.name, true), &measure.Contestant{Run: measure.OnClock(func() error { return send(false) })}})
	}
	read, written := c.Bytes(size)
	copies := func(int, int) ([]time.Duration, error) {
		took, err := cfg.Device.TransferTime(read, written, cfg.Images)
		return []time.Duration{took}, err
	}
	return append(field, entry{result(LimitCopies, false), &measure.Contestant{Run: copies}}), nil
}

// A pipelineReport is the text of [Pipeline].
type pipelineReport struct{ textTable }

func newPipelineReport(cfg PipelineConfig, p *plan) *pipelineReport {
	r := &pipelineReport{textTable{w: cfg.Out, lead: 46}}
	r.line(aboutDevice(cfg.Device))
	r.line("")
	r.line(fmt.Sprintf("%d images from memory to tables in memory. Times are in ms, median of %d, by the clock on the wall, all tables dropped", cfg.Images, p.Repeat))
	r.line("unseen; before that, all were compared with a plain reference. Memory is that of the run before. copies alone sends as many")
	r.line("bytes in and out from and to page-locked memory, both ways at once, and nothing else. Tables are the pipeline's until the next")
	r.line("one (reused), the caller's (into) or new.")
	r.line("")
	r.head(fmt.Sprintf("%-12s%-14s%s", "types", "size", "way"), "ms", "images/s", "GB/s", "of copies")
	return r
}

func (r *pipelineReport) rows(c Case, size Size, results []Result) {
	copies := results[len(results)-1]
	for i, result := range results {
		about, share := "copies alone", "–"
		if i < len(pipelineWays) {
			about, share = pipelineWays[i].about, percent(copies.Median, result.Median)
		}
		r.row(fmt.Sprintf("%-12s%-14s%s", c, size.Name, about), ms(result.Median),
			number(float64(result.Batch)/result.Median*1e3, "%.0f"), number(result.GBPerSecond(), "%.1f"), share)
	}
}
