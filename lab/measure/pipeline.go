package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
)

// pipelineTables is the number of tables per device that are used in turn, if they are the caller's.
const pipelineTables = 4

// A Pipeline sends images through a device.
type Pipeline struct {
	// Send sends n images one way. If compare is set it verifies every resulting table; otherwise it
	// discards them.
	Send  func(ctx context.Context, way Way, n int, compare bool) error
	Close func() error
}

// A Way specifies the memory of the images and tables of a pipeline.
type Way struct{ Images, Tables Memory }

// A Memory is the kind of memory of images or tables.
type Memory int

const (
	Plain  Memory = iota // the caller's
	Locked               // the caller's, page-locked
	Reused               // the pipeline's
	Fresh                // newly allocated for each
)

// PreparePipeline draws the images of a case, which are sent in turn.
func PreparePipeline(c Case, job DeviceJob) (*Pipeline, error) {
	kind, err := c.kind()
	if err != nil {
		return nil, err
	}
	job.Channels = c.Channels
	return kind.pipeline(job, pipelineTables*len(job.Device.Members()))
}

// newPipeline also copies images to page-locked memory, and allocates tables both there and in plain
// memory.
func newPipeline[S boxsum.Sum, P boxsum.Pixel](job DeviceJob, count int, all ...any) (*Pipeline, error) {
	images := imagesAs[P](all)
	var frees []func() error
	var wrong error
	closeAll := func() (err error) {
		for _, free := range frees {
			err = errors.Join(err, free())
		}
		return err
	}
	keep := func(free func() error, err error) {
		if wrong = cmp.Or(wrong, err); err == nil {
			frees = append(frees, free)
		}
	}
	var locked []boxsum.Image[P]
	for _, im := range images {
		to, free, err := gpu.NewHostImage[P](job.Device, im.Width, im.Height, im.Channels)
		keep(free, err)
		for y := range to.Height {
			copy(to.Row(y), im.Row(y))
		}
		locked = append(locked, to)
	}
	tables := map[Memory][]*boxsum.Table[S]{}
	first := images[0]
	for range count {
		plain, err := boxsum.NewTable[S](first.Width, first.Height, first.Channels)
		there, free, noTable := gpu.NewHostTable[S](job.Device, first.Width, first.Height, first.Channels)
		keep(free, noTable)
		wrong = cmp.Or(wrong, err)
		tables[Plain], tables[Locked] = append(tables[Plain], plain), append(tables[Locked], there)
	}
	if wrong != nil {
		return nil, errors.Join(wrong, closeAll())
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
			opt.Offset, opt.Kernels = job.Opt.Offset, job.Opt.Kernels
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
				err = verifyImage(table.Exclusive(), all[i%len(all)], false)
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

// imagesOf returns the images of a sequence without the tables.
func imagesOf[T any, P boxsum.Pixel](all iter.Seq2[T, boxsum.Image[P]]) iter.Seq[boxsum.Image[P]] {
	return func(yield func(boxsum.Image[P]) bool) {
		for _, im := range all {
			if !yield(im) {
				return
			}
		}
	}
}
