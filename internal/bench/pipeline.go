package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
)

const (
	// PipelineSizes, PipelineTypes and PipelineImages are what [Pipeline]
	// measures by default, and PipelineRepeat how often.
	PipelineSizes  = "2160p"
	PipelineTypes  = "u8:u32"
	PipelineImages = 200
	PipelineRepeat = 21

	// pipelineDistinct is how many images take turns to go in, and
	// pipelineTables how many tables, where they are the caller's.
	pipelineDistinct = 8
	pipelineTables   = 4
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
		if err := fitsMemory(c, size, 2*pipelineDistinct); err != nil {
			return err
		}
		w, err := cfg.work(c, size)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		field, err := cfg.field(ctx, c, size, w)
		if err != nil {
			return err
		}
		results, err := p.measure(ctx, c, size, field)
		if err != nil {
			return err
		}
		all = append(all, results...)
		report.rows(c, size, results)
		return nil
	}, func(c Case, size Size, why error) {
		all = append(all, leftOut(Pipelined, cfg.Device.Info().Kind.String(), c, size, cfg.Images, why))
		report.line(all[len(all)-1].line())
	})
	return all, errors.Join(cmp.Or(err, measured(all)), report.err)
}

// work draws the images of a case.
func (cfg *PipelineConfig) work(c Case, size Size) (*pipelineWork, error) {
	kind, err := c.kind()
	if err != nil {
		return nil, err
	}
	return kind.pipeline(deviceJob{
		device: cfg.Device, opt: &gpu.Options{Kernels: cfg.Kernels}, size: size, channels: c.Channels, batch: min(pipelineDistinct, cfg.Images),
	})
}

func (cfg *PipelineConfig) defaults() (err error) {
	if cfg.Images < 0 {
		return fmt.Errorf("bench: a pipeline of %d images: at least 1 is needed", cfg.Images)
	}
	cfg.Images = cmp.Or(cfg.Images, PipelineImages)
	cfg.Repeat = cmp.Or(cfg.Repeat, PipelineRepeat)
	cfg.Workers = []int{1}
	if cfg.Sizes == nil {
		if cfg.Sizes, err = ParseSizes(PipelineSizes); err != nil {
			return err
		}
	}
	if cfg.Cases == nil {
		if cfg.Cases, err = ParseTypes(PipelineTypes); err != nil {
			return err
		}
	}
	for _, c := range cfg.Cases {
		switch kind, err := c.kind(); {
		case err != nil:
			return fmt.Errorf("bench: %w", err)
		case kind.pipeline == nil:
			return fmt.Errorf("bench: pipelines of %s are not measured: take pairs of types, such as u8:u32", c)
		}
	}
	return nil
}

// A pipelineWay is one of several ways through a pipeline.
type pipelineWay struct {
	name, about string
	images      pipelineMemory
	tables      pipelineMemory
}

// A pipelineMemory is where images or tables lie.
type pipelineMemory int

const (
	plainMemory  pipelineMemory = iota // the caller's own
	lockedMemory                       // the caller's own, page-locked
	reusedMemory                       // the pipeline's
	newMemory                          // fresh for each
)

var pipelineWays = []pipelineWay{
	{Pipelined, "tables reused", plainMemory, reusedMemory},
	{PipelinedLocked, "images page-locked", lockedMemory, reusedMemory},
	{PipelinedInto, "into page-locked", plainMemory, lockedMemory},
	{PipelinedOwn, "into plain tables", plainMemory, plainMemory},
	{PipelinedNew, "new tables", plainMemory, newMemory},
}

// field is the ways through a pipeline, each already checked, and the copies.
func (cfg *PipelineConfig) field(ctx context.Context, c Case, size Size, w *pipelineWork) ([]contestant, error) {
	read, written := c.bytes(size)
	result := func(name string, verified bool) Result {
		r := newResult(name, c, size, 0, int64(cfg.Images)*(read+written), verified)
		r.On, r.Batch = cfg.Device.Info().Kind.String(), cfg.Images
		return r
	}
	var field []contestant
	for _, way := range pipelineWays {
		if err := w.run(ctx, way, cfg.Images, true); err != nil {
			return nil, fmt.Errorf("%s: %w", way.about, err)
		}
		field = append(field, contestant{result(way.name, true), timed(func() error { return w.run(ctx, way, cfg.Images, false) })})
	}
	return append(field, contestant{
		result(LimitCopies, false),
		func(int) (time.Duration, error) { return launch.TransferTime(cfg.Device, read, written, cfg.Images) },
	}), nil
}

// A pipelineWork is images that go through a pipeline.
type pipelineWork struct {
	// run sends so many images one way. It compares every table that comes
	// out, or drops it unseen.
	run   func(ctx context.Context, way pipelineWay, n int, compare bool) error
	close func() error
}

// newPipeline draws images that take turns, in plain and in page-locked memory, and
// takes tables of both kinds.
func newPipeline[P boxsum.Pixel, S boxsum.Sum, A accumulator](job deviceJob) (_ *pipelineWork, err error) {
	images, err := randomBatch[P, S](job)
	if err != nil {
		return nil, err
	}
	locked, closeLocked, err := lockedImages(job.device, images)
	if err != nil {
		return nil, err
	}
	frees := []func() error{closeLocked}
	closeAll := func() (err error) {
		for _, free := range frees {
			err = errors.Join(err, free())
		}
		return err
	}
	tables := map[pipelineMemory][]*boxsum.Table[S]{}
	for range pipelineTables {
		plain, err := boxsum.NewTable[S](job.size.Width, job.size.Height, job.channels)
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
		lockedTable, free, err := gpu.NewHostTable[S](job.device, job.size.Width, job.size.Height, job.channels)
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
		frees = append(frees, free)
		tables[plainMemory], tables[lockedMemory] = append(tables[plainMemory], plain), append(tables[lockedMemory], lockedTable)
	}
	run := func(ctx context.Context, way pipelineWay, n int, compare bool) error {
		from, pool := images, slices.Clone(tables[way.tables])
		own := pool != nil
		if way.images == lockedMemory {
			from = locked
		}
		in := func(yield func(*boxsum.Table[S], boxsum.Image[P]) bool) {
			for i := range n {
				var table *boxsum.Table[S]
				if own {
					table, pool = pool[0], pool[1:]
				}
				if !yield(table, from[i%len(from)]) {
					return
				}
			}
		}
		opt := &gpu.PipelineOptions{Offset: job.opt.Offset, Kernels: job.opt.Kernels, BandRows: job.opt.BandRows, Reuse: way.tables == reusedMemory}
		var out iter.Seq2[*boxsum.Table[S], error]
		if own {
			opt.InFlight = pipelineTables
			out = gpu.PipelineInto(ctx, job.device, in, opt)
		} else {
			out = gpu.Pipeline[S](ctx, job.device, imagesOf(in), opt)
		}
		i := 0
		for table, err := range out {
			if err == nil && compare {
				err = verify[A](table, images[i%len(images)], false)
			}
			if err != nil {
				return fmt.Errorf("image %d of %d: %w", i, n, err)
			}
			if own {
				pool = append(pool, table)
			}
			i++
		}
		if i != n {
			return fmt.Errorf("%d images went in, and %d tables came out", n, i)
		}
		return nil
	}
	return &pipelineWork{run, closeAll}, nil
}

// imagesOf is the images without the tables.
func imagesOf[T any, P boxsum.Pixel](all iter.Seq2[T, boxsum.Image[P]]) iter.Seq[boxsum.Image[P]] {
	return func(yield func(boxsum.Image[P]) bool) {
		for _, im := range all {
			if !yield(im) {
				return
			}
		}
	}
}

// lockedImages copies images to page-locked memory, until release.
func lockedImages[P boxsum.Pixel](d *gpu.Device, images []boxsum.Image[P]) (locked []boxsum.Image[P], release func() error, err error) {
	var frees []func() error
	release = func() (err error) {
		for _, free := range frees {
			err = errors.Join(err, free())
		}
		return err
	}
	for _, im := range images {
		to, free, err := gpu.NewHostImage[P](d, im.Width, im.Height, im.Channels)
		if err != nil {
			return nil, nil, errors.Join(err, release())
		}
		for y := range im.Height {
			copy(to.Row(y), im.Row(y))
		}
		locked, frees = append(locked, to), append(frees, free)
	}
	return locked, release, nil
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
