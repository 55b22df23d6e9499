package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/boxsum/boxsum/lab/measure"
)

const (
	// PipelineSizes, PipelineTypes, PipelineImages and PipelineRepeat are the default sizes, types,
	// and numbers of images and runs of [Pipeline].
	PipelineSizes  = "2160p"
	PipelineTypes  = "u8:u32"
	PipelineImages = 200
	PipelineRepeat = 21

	// pipelineDistinct is the number of different images, which are sent in turn.
	pipelineDistinct = 8
)

// Pipeline measures the time that many images take from host memory to tables in host memory, next
// to the time of the copies alone, in both directions at once. Every table of one run is first
// compared with the reference. Sizes and types that are not supported are left out, as in [GPU].
func Pipeline(ctx context.Context, cfg Config) ([]Result, error) {
	if cfg.Batch < 0 {
		return nil, fmt.Errorf("pipeline is %d images, want 1 or more", cfg.Batch)
	}
	cfg.Batch, cfg.Repeat = cmp.Or(cfg.Batch, PipelineImages), cmp.Or(cfg.Repeat, PipelineRepeat)
	p, err := cfg.onDevice(PipelineSizes, PipelineTypes, Case.InPipeline, "pipelines of %s are not supported: use pairs of types, such as u8:u32")
	if err != nil {
		return nil, err
	}
	const lead = "%-12s%-14s%s" // types, size and way
	p.lead = 46
	p.text("pipeline", p)
	copies := runner{LimitCopies, 0}
	p.head(fmt.Sprintf(lead, "types", "size", "way"),
		property("ms", func(r Result) string { return ms(r.counted()) }),
		property("p95", func(r Result) string { return ms(r.P95) }),
		property("images/s", func(r Result) string { return number(float64(r.Batch)/r.counted()*1e3, "%.0f") }),
		property("GB/s", gbPerSecond),
		column{"of copies", func(row []Result) string {
			if row[0].is(LimitCopies) {
				return "–"
			}
			return percent(copies.find(row).counted() / row[0].counted())
		}})
	return p.end(p.each(Pipelined, func(c Case, size Size) (err error) {
		// The images twice, and as many tables: the caller's and those in flight.
		if err := c.FitMemory(size, 2*pipelineDistinct); err != nil {
			return err
		}
		pipe, err := measure.PreparePipeline(c, p.job(size, min(pipelineDistinct, p.Batch)))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, pipe.Close()) }()
		field, err := p.ways(ctx, c, size, pipe)
		if err != nil {
			return err
		}
		results, err := p.measure(ctx, field)
		if err != nil {
			return err
		}
		for i, r := range results {
			way := "copies alone"
			if i < len(pipelineWays) {
				way = pipelineWays[i].about
			}
			p.row(fmt.Sprintf(lead, c, size.Name, way), append([]Result{r}, results...))
		}
		return nil
	}))
}

// pipelineWays lists the ways through a pipeline.
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

// ways returns the ways through a pipeline, each already verified, and the copies.
func (p *plan) ways(ctx context.Context, c Case, size Size, pipe *measure.Pipeline) (field []entry, err error) {
	add := func(name string, verified bool, run measure.Timer) {
		r := newResult(name, p.Device, c, size, 0, p.Batch, verified)
		r.Batch = p.Batch
		field = append(field, entry{r, &measure.Contestant{Run: run}})
	}
	for _, way := range pipelineWays {
		send := func(compare bool) error { return pipe.Send(ctx, way.Way, p.Batch, compare) }
		if err := send(true); err != nil {
			return nil, fmt.Errorf("%s: %w", way.about, err)
		}
		add(way.name, true, measure.OnClock(func() error { return send(false) }))
	}
	read, written := c.Bytes(size)
	add(LimitCopies, false, func(int, int) ([]time.Duration, error) {
		took, err := transferTime(p.Device, read, written, p.Batch)
		return []time.Duration{took}, err
	})
	return field, nil
}
