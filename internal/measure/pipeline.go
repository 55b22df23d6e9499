package measure

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
)

// pipelineTables is how many tables take turns, where they are the caller's.
const pipelineTables = 4

// A Pipeline sends images through a device.
type Pipeline struct {
	// Send sends n images one way. It compares every table that comes
	// out, or drops it unseen.
	Send  func(ctx context.Context, way Way, n int, compare bool) error
	Close func() error
}

// A Way goes through a pipeline from memory to memory.
type Way struct{ Images, Tables Memory }

// A Memory is where images or tables lie.
type Memory int

const (
	Plain  Memory = iota // the caller's own
	Locked               // the caller's own, page-locked
	Reused               // the pipeline's
	Fresh                // new for each
)

// PreparePipeline draws the images of a case that take turns.
func PreparePipeline(c Case, job DeviceJob) (*Pipeline, error) {
	kind, err := c.kind()
	if err != nil {
		return nil, err
	}
	job.Channels = c.Channels
	return kind.pipeline(job, pipelineTables)
}

// newPipeline is a pipeline of random images, and of tables of the caller's.
func newPipeline[P boxsum.Pixel, S boxsum.Sum](job DeviceJob, tables int) (*Pipeline, error) {
	images, err := randomBatch[P, S](job)
	if err != nil {
		return nil, err
	}
	return NewPipeline[S](job, tables, images...)
}

// NewPipeline copies images to page-locked memory too, and takes tables there and in
// plain memory.
func NewPipeline[S boxsum.Sum, P boxsum.Pixel](job DeviceJob, count int, images ...boxsum.Image[P]) (*Pipeline, error) {
	var frees []func() error
	closeAll := func() (err error) {
		for _, free := range frees {
			err = errors.Join(err, free())
		}
		return err
	}
	var locked []boxsum.Image[P]
	for _, im := range images {
		to, free, err := gpu.NewHostImage[P](job.Device, im.Width, im.Height, im.Channels)
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
		for y := range im.Height {
			copy(to.Row(y), im.Row(y))
		}
		locked, frees = append(locked, to), append(frees, free)
	}
	tables := map[Memory][]*boxsum.Table[S]{}
	first := images[0]
	for range count {
		plain, err := boxsum.NewTable[S](first.Width, first.Height, first.Channels)
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
		there, free, err := gpu.NewHostTable[S](job.Device, first.Width, first.Height, first.Channels)
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
		frees = append(frees, free)
		tables[Plain], tables[Locked] = append(tables[Plain], plain), append(tables[Locked], there)
	}
	send := func(ctx context.Context, way Way, n int, compare bool) error {
		from, pool := images, slices.Clone(tables[way.Tables])
		own := pool != nil
		if way.Images == Locked {
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
		opt := &gpu.PipelineOptions{Reuse: way.Tables == Reused}
		if job.Opt != nil {
			opt.Options = *job.Opt
		}
		var out iter.Seq2[*boxsum.Table[S], error]
		if own {
			opt.InFlight = count
			out = gpu.PipelineInto(ctx, job.Device, in, opt)
		} else {
			out = gpu.Pipeline[S](ctx, job.Device, imagesOf(in), opt)
		}
		i := 0
		for table, err := range out {
			if err == nil && compare {
				err = verify(table, images[i%len(images)], false)
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
	return &Pipeline{send, closeAll}, nil
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

// Many is boxsum's way for many images, as published ones go: from page-locked memory
// to page-locked memory.
func Many[S boxsum.Sum, P boxsum.Pixel](d *gpu.Device, img boxsum.Image[P], n int) (*Contestant, error) {
	p, err := NewPipeline[S](DeviceJob{Device: d}, 0, slices.Repeat([]boxsum.Image[P]{img}, n)...)
	if err != nil {
		return nil, err
	}
	send := func(compare bool) error { return p.Send(context.Background(), Way{Locked, Reused}, n, compare) }
	return &Contestant{
		Run:   OnClock(func() error { return send(false) }),
		Check: func() error { return send(true) },
		Close: p.Close,
	}, nil
}
