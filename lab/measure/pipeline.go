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
	"github.com/boxsum/boxsum/internal/pixels"
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

// lockedImages copies images to page-locked memory, and returns the functions that free it.
func lockedImages[P boxsum.Pixel](d *gpu.Device, images []any) (locked []any, frees []func() error, err error) {
	for _, im := range imagesAs[P](images) {
		to, free, err := gpu.NewHostImage[P](d, im.Width, im.Height, im.Channels)
		if err != nil {
			return locked, frees, err
		}
		for y := range to.Height {
			copy(to.Row(y), im.Row(y))
		}
		locked, frees = append(locked, to), append(frees, free)
	}
	return locked, frees, nil
}

// pipelined sends images, each with the table to use for it, through a pipeline. The tables are nil
// unless given is set.
func pipelined[S boxsum.Sum, P boxsum.Pixel](ctx context.Context, d *gpu.Device, in iter.Seq2[any, any], given bool, opt *gpu.PipelineOptions) iter.Seq2[any, error] {
	var out iter.Seq2[*boxsum.Table[S], error]
	if given {
		out = gpu.PipelineInto(ctx, d, func(yield func(*boxsum.Table[S], boxsum.Image[P]) bool) {
			in(func(t, im any) bool { return yield(t.(*boxsum.Table[S]), im.(boxsum.Image[P])) })
		}, opt)
	} else {
		out = gpu.Pipeline[S](ctx, d, func(yield func(boxsum.Image[P]) bool) {
			in(func(_, im any) bool { return yield(im.(boxsum.Image[P])) })
		}, opt)
	}
	return func(yield func(any, error) bool) {
		out(func(t *boxsum.Table[S], err error) bool { return yield(t, err) })
	}
}

// newPipeline also copies images to page-locked memory, and allocates tables both there and in plain
// memory.
func newPipeline[S boxsum.Sum](pair *deviceCalls, job DeviceJob, count int, images []any) (*Pipeline, error) {
	locked, frees, wrong := pair.lock(job.Device, images)
	closeAll := func() (err error) {
		for _, free := range frees {
			err = errors.Join(err, free())
		}
		return err
	}
	tables := map[Memory][]any{}
	first := pixels.Of(images[0])
	for range count {
		plain, err := boxsum.NewTable[S](first.Width, first.Height, first.Channels)
		there, free, noTable := gpu.NewHostTable[S](job.Device, first.Width, first.Height, first.Channels)
		if noTable == nil {
			frees = append(frees, free)
		}
		wrong = cmp.Or(wrong, noTable, err)
		tables[Plain], tables[Locked] = append(tables[Plain], plain), append(tables[Locked], there)
	}
	if wrong != nil {
		return nil, errors.Join(wrong, closeAll())
	}
	verify := func(table any, i int) error {
		return verifyImage(table.(*boxsum.Table[S]).Exclusive(), images[i], false)
	}
	send := func(ctx context.Context, way Way, n int, compare bool) error {
		from, pool := images, slices.Clone(tables[way.Tables])
		own := pool != nil
		if way.Images == Locked {
			from = locked
		}
		in := func(yield func(table, im any) bool) {
			for i := range n {
				var table any
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
		if own {
			opt.InFlight = count
		}
		i := 0
		for table, err := range pair.pipeline(ctx, job.Device, in, own, opt) {
			if err == nil && compare {
				err = verify(table, i%len(images))
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
			return fmt.Errorf("the pipeline returned %d tables for %d images", i, n)
		}
		return nil
	}
	return &Pipeline{send, closeAll}, nil
}
