package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/raster"
)

// pipelineTables is the number of tables per device that are used in turn, if they are the caller's.
const pipelineTables = 4

// A Pipeline sends images through a device.
type Pipeline struct {
	// Send sends n images in the given way. If compare is set, it verifies every resulting table;
	// otherwise it discards them.
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

// PreparePipeline prepares a pipeline and random images of a case, which are sent in turn.
func PreparePipeline(c Case, job DeviceSetup) (*Pipeline, error) {
	kind, err := c.kind()
	if err != nil {
		return nil, err
	}
	job.Channels = c.Channels
	return kind.pipeline(job, pipelineTables*len(job.Device.Members()))
}

// A sender sends images through a device, with tables of one type of sums.
type sender struct {
	device.Stager
	opt            *gpu.Options
	sum            raster.Type
	images, locked []raster.Array
	tables         map[Memory][]raster.Array
	frees          []func() error
}

// newPipeline also copies images to page-locked memory, and allocates count tables both there and in
// plain memory.
func newPipeline(job DeviceSetup, sum raster.Type, count int, images []raster.Array) (*Pipeline, error) {
	d, err := device.Open(job.Device)
	if err != nil {
		return nil, err
	}
	s := &sender{Stager: d.Stager(), opt: job.Opt, sum: sum, images: images, tables: map[Memory][]raster.Array{}}
	if err := s.allocate(count); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return &Pipeline{s.send, s.close}, nil
}

func (s *sender) allocate(count int) error {
	e := s.images[0].Extent
	for i := range s.images {
		to, err := s.lockedArray(s.images[i].Type, false)
		if err != nil {
			return err
		}
		for y := range e.Height {
			copy(to.Row(y), s.images[i].Row(y))
		}
		s.locked = append(s.locked, to)
	}
	for range count {
		plain, err := raster.NewTable(s.sum, raster.PlaneExtent(e.Width, e.Height, e.Channels, 0))
		if err != nil {
			return err
		}
		there, err := s.lockedArray(s.sum, true)
		if err != nil {
			return err
		}
		s.tables[Plain], s.tables[Locked] = append(s.tables[Plain], plain), append(s.tables[Locked], there)
	}
	return nil
}

func (s *sender) lockedArray(t raster.Type, table bool) (raster.Array, error) {
	a, free, err := s.LockedArray(t, s.images[0].Extent, table)
	if err == nil {
		s.frees = append(s.frees, free)
	}
	return a, err
}

func (s *sender) close() (err error) {
	for _, free := range s.frees {
		err = errors.Join(err, free())
	}
	return err
}

// send implements [Pipeline].
func (s *sender) send(ctx context.Context, way Way, n int, compare bool) error {
	from, pool := s.images, slices.Clone(s.tables[way.Tables])
	if way.Images == Locked {
		from = s.locked
	}
	job := &device.PipelineJob{Pixel: from[0].Type, Sum: s.sum, Given: pool != nil, Reuse: way.Tables == Reused}
	if s.opt != nil {
		job.Offset, job.Kernels = s.opt.Offset, int(s.opt.Kernels)
	}
	if job.Given {
		job.InFlight = len(pool)
	}
	job.Images = func(yield func(table, img raster.Array) bool) {
		for i := range n {
			var table raster.Array
			if job.Given {
				table, pool = pool[0], pool[1:]
			}
			if !yield(table, from[i%len(from)]) {
				return
			}
		}
	}
	i := 0
	for table, err := range s.Pipeline(ctx, job) {
		if err == nil && compare {
			err = comparisons[s.sum].upright(&table, &s.images[i%len(s.images)])
		}
		if err != nil {
			return fmt.Errorf("image %d of %d: %w", i, n, err)
		}
		if job.Given {
			pool = append(pool, table)
		}
		i++
	}
	if i != n {
		return fmt.Errorf("the pipeline returned %d tables for %d images", i, n)
	}
	return nil
}
