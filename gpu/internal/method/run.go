// Package method computes tables on a device, with a [Method] for each kind of table. [Run] is the
// one place that chooses kernels, cuts a batch into launches, and retries with smaller ones if
// memory is short.
package method

import (
	"errors"
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Method computes tables of one kind.
type Method interface {
	// Empty returns the tables of a job without pixels, which are cleared.
	Empty(Job) Job
	// Obstacle returns why a job cannot use the one-pass kernels, or "".
	Obstacle(Job) string
	// Suits reports whether the one-pass kernels are faster for the job.
	Suits(Job) bool
	// OnePass and Portable plan the launches of a job.
	OnePass(Job) (Plan, error)
	Portable(Job) (Plan, error)
	// Part returns the job of some images.
	Part(job Job, first, count int) Job
}

// A Plan describes how a job is launched.
type Plan struct {
	Most   int                  // images or slices that are launched together
	Launch func(part Job) error // queues the launches for some of them
}

// A Way selects kernels.
type Way int

// The ways: whichever is faster for the job, kernels that run everywhere, and kernels that read
// pixels once.
const (
	Auto Way = iota
	Portable
	OnePass
)

// errTooManyTiles makes a job use the portable kernels, whatever was requested.
var errTooManyTiles = errors.New("too many tiles for one launch")

// Run queues a job with the requested kernels.
func Run(m Method, job Job, way Way) error {
	if s, ok := m.(interface{ Squares() Method }); ok && job.Square != 0 {
		if err := Run(m, job.sumsOnly(), way); err != nil {
			return err
		}
		return Run(s.Squares(), job.squaresOnly(), way)
	}
	if job.Width == 0 || job.Height == 0 || job.Count == 0 {
		return m.Empty(job).clear()
	}
	if way != Portable {
		obstacle := m.Obstacle(job)
		if obstacle != "" && way == OnePass {
			return raster.Unsupported("one-pass kernels %s (leave the algorithm unset)", obstacle)
		}
		if obstacle == "" && (way == OnePass || m.Suits(job)) {
			err := inParts(m, job, m.OnePass)
			if refused := way == Auto && driver.IsRefused(err); !refused && !errors.Is(err, errTooManyTiles) {
				return err
			}
		}
	}
	return inParts(m, job, m.Portable)
}

// inParts launches a job for as many images at a time as its plan allows, and for half as many if
// memory is short. Work that was already queued for those is repeated. A single image that is still
// too large is cut into bands if possible.
func inParts(m Method, job Job, plan func(Job) (Plan, error)) error {
	p, err := plan(job)
	if err != nil {
		return err
	}
	if p.Most < 1 {
		return raster.Invalid("%d images of %d×%d pixels with %d channels are too many for one launch", job.Count, job.Width, job.Height, job.Channels)
	}
	for first, most := 0, p.Most; first < job.Count; {
		if job.Context != nil && job.Context.Err() != nil {
			return job.Context.Err()
		}
		part := m.Part(job, first, min(most, job.Count-first))
		err := p.Launch(part)
		if errors.Is(err, boxsum.ErrMemory) && part.Count > 1 {
			most = (part.Count + 1) / 2
			continue
		}
		if errors.Is(err, boxsum.ErrMemory) {
			err = inBands(m, part, plan, err)
		}
		if err != nil {
			return err
		}
		first += part.Count
	}
	return nil
}

// inBands launches the job of one image, for which memory was short, in bands of rows. Each
// continues from the last table row of the band above.
func inBands(m Method, job Job, plan func(Job) (Plan, error), short error) error {
	cuts, ok := m.(interface {
		Band(job Job, first, rows int) Job
	})
	if !ok || job.tileCount > 0 || job.Height < 2 {
		return short
	}
	for first, rows := 0, (job.Height+1)/2; first < job.Height; {
		if job.Context != nil && job.Context.Err() != nil {
			return job.Context.Err()
		}
		band := cuts.Band(job, first, min(rows, job.Height-first))
		p, err := plan(band)
		if err == nil {
			err = p.Launch(band)
		}
		if errors.Is(err, boxsum.ErrMemory) && band.Height > 1 {
			rows = (band.Height + 1) / 2
			continue
		}
		if err != nil {
			return err
		}
		first += band.Height
	}
	return nil
}

// band returns the job of some rows of an image.
func band(job Job, first, rows int) Job {
	job.Carry = job.Carry || first > 0
	job.Height = rows
	for _, b := range []*devmem.Batch{&job.In, &job.Out, &job.Squares} {
		b.Offset += int64(first) * b.Stride
	}
	return job
}

// images is embedded in methods whose jobs are images and their tables.
type images struct{}

func (images) Empty(job Job) Job   { return job }
func (images) Suits(Job) bool      { return true }
func (images) Obstacle(Job) string { return "" }

func (images) Part(job Job, first, count int) Job {
	job.In.Plane, job.Out.Plane, job.Squares.Plane = job.In.Image(first), job.Out.Image(first), job.Squares.Image(first)
	job.Count = count
	return job
}

// cudaObstacle returns why the one-pass kernels cannot run on a device, or "".
func cudaObstacle(d *devmem.Device) string {
	b, ok := d.Backend.(*driver.CUDABackend)
	switch {
	case !ok:
		return "need CUDA"
	case b.Major < 8:
		return fmt.Sprintf("need compute capability 8.0, not %d.%d", b.Major, b.Minor)
	}
	return ""
}
