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
	// Squares returns the method for the table of squares, or nil if one launch makes both tables.
	Squares() Method
	// Empty returns the job that clears the tables of a job without pixels.
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
	// Band returns the job of some rows of an image, if rows can be computed one band after the
	// other.
	Band(job Job, first, rows int) (band Job, ok bool)
}

// A Plan describes how a job is launched.
type Plan struct {
	Most   int                  // images or slices that are launched together
	Launch func(part Job) error // queues the launches for some of them
}

// A Way selects the kernels for a job.
type Way int

// The ways: whichever is faster for the job, kernels that run everywhere, and kernels that read
// pixels once.
const (
	Auto Way = iota
	Portable
	OnePass
)

// errTooManyTiles makes a job use the portable kernels, whatever was requested.
var errTooManyTiles = errors.New("image has too many tiles for one kernel launch")

// Run queues a job with the requested kernels: as many images at a time as their plan allows, and half
// as many if memory is short. A single image that is still too large is cut into bands of rows.
func Run(m Method, job Job, way Way) error {
	if s := m.Squares(); s != nil && job.Square != 0 {
		if err := Run(m, job.sumsOnly(), way); err != nil {
			return err
		}
		return Run(s, job.squaresOnly(), way)
	}
	if job.Width == 0 || job.Height == 0 || job.Count == 0 {
		return m.Empty(job).clear()
	}
	used, err := choose(m, job, way)
	if err != nil {
		return err
	}
	plan, err := planOf(m, job, used)
	for first, most := 0, plan.Most; first < job.Count && err == nil; {
		if err := job.ended(); err != nil {
			return err
		}
		part := m.Part(job, first, min(most, job.Count-first))
		err = plan.Launch(part)
		if errors.Is(err, boxsum.ErrMemory) && part.Count > 1 {
			most, err = (part.Count+1)/2, nil
			continue // work that was already queued for these images is repeated
		}
		if errors.Is(err, boxsum.ErrMemory) {
			err = inBands(m, part, used, err)
		}
		first += part.Count
	}
	if used == OnePass && (errors.Is(err, errTooManyTiles) || way == Auto && driver.IsRefused(err)) {
		return Run(m, job, Portable)
	}
	return err
}

// choose returns the kernels to use for a job: [Portable] or [OnePass].
func choose(m Method, job Job, way Way) (Way, error) {
	if way == Portable {
		return Portable, nil
	}
	obstacle := m.Obstacle(job)
	switch {
	case obstacle != "" && way == OnePass:
		return way, raster.Unsupported("one-pass kernels %s (leave the algorithm unset)", obstacle)
	case obstacle != "" || way == Auto && !m.Suits(job):
		return Portable, nil
	}
	return OnePass, nil
}

// planOf plans a job with kernels of one kind.
func planOf(m Method, job Job, used Way) (plan Plan, err error) {
	if used == OnePass {
		plan, err = m.OnePass(job)
	} else {
		plan, err = m.Portable(job)
	}
	if err == nil && plan.Most < 1 {
		err = raster.Invalid("%d images of %d×%d pixels with %d channels exceed the device's limit for one kernel launch (use fewer or smaller images)", job.Count, job.Width, job.Height, job.Channels)
	}
	return plan, err
}

// inBands launches the job of one image, for which memory was short, in bands of rows. Each
// continues from the last table row of the band above.
func inBands(m Method, job Job, used Way, short error) error {
	for first, rows := 0, (job.Height+1)/2; first < job.Height; {
		if err := job.ended(); err != nil {
			return err
		}
		band, ok := m.Band(job, first, min(rows, job.Height-first))
		if !ok || job.Height < 2 {
			return short
		}
		plan, err := planOf(m, band, used)
		if err == nil {
			err = plan.Launch(band)
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

func (images) Squares() Method     { return nil }
func (images) Empty(job Job) Job   { return job }
func (images) Suits(Job) bool      { return true }
func (images) Obstacle(Job) string { return "" }

func (images) Part(job Job, first, count int) Job {
	job.In.Plane, job.Out.Plane, job.Squares.Plane = job.In.Image(first), job.Out.Image(first), job.Squares.Image(first)
	job.Count = count
	return job
}

func (images) Band(Job, int, int) (Job, bool) { return Job{}, false }

// cudaObstacle returns why the one-pass kernels cannot run on a device, or "".
func cudaObstacle(d *devmem.Device) string {
	b := d.Backend.CUDA()
	switch {
	case b == nil:
		return "need CUDA"
	case b.Major < 8:
		return fmt.Sprintf("need compute capability 8.0, not %d.%d", b.Major, b.Minor)
	}
	return ""
}
