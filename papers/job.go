package papers

import (
	"errors"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Job is an algorithm prepared for an image, or for several. It is not safe for concurrent use.
type Job struct {
	algorithm *Algorithm
	opt       Options // with defaults filled in
	width     int
	height    int

	images [][]byte // on the host, without gaps
	tables [][]byte // on the host
	stride int      // bytes from one row of a table to the next
	sums   any      // the tables: []*boxsum.Table[E]
	verify func() error

	host   func()     // runs on the CPU; nil on a GPU
	device *deviceRun // nil on the CPU
	rig    *rig
}

// Algorithm returns the job's algorithm.
func (j *Job) Algorithm() *Algorithm { return j.algorithm }

// Precision returns the precision for which the job was prepared.
func (j *Job) Precision() Precision { return j.opt.Precision }

// Size returns the width and height of each image and the number of images.
func (j *Job) Size() (width, height, count int) { return j.width, j.height, len(j.images) }

// Run computes the table once. On a GPU, the images are already on the device, and Run returns
// when the kernels have been queued, for Device.Wait and Device.Time. Algorithms with
// [Algorithm.Many] also queue the copies of images and tables, which are part of the method.
func (j *Job) Run() error {
	if j.device != nil {
		return j.device.run()
	}
	j.host()
	return nil
}

// RunHost computes the table in host memory from an image in host memory, which on a GPU includes
// the copies. It returns when the table is complete.
func (j *Job) RunHost() error {
	switch {
	case j.device == nil:
		return j.Run()
	case j.device.many != nil:
		return inOrder(j.Run, j.opt.Device.Wait)
	}
	return inOrder(j.load, j.Run, func() error { return j.fetch(0) })
}

// inOrder calls steps in order and returns the first error.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Verify compares every entry of the tables computed by the last run with a reference: bit for bit
// if the sums are exact, and otherwise within rounding errors. The error describes the first
// difference.
func (j *Job) Verify() error { return j.verify() }

// A Step is one kernel that a run of an algorithm launches on a GPU.
type Step struct {
	Name  string       // name of the kernel
	Run   func() error // queues only this kernel
	Bytes int64        // number of bytes read and written
}

// Steps returns the kernels that a run launches, in order, so that they can be timed one by one.
// It returns nil on the CPU and for jobs with many images.
func (j *Job) Steps() []Step {
	if j.device == nil {
		return nil
	}
	return j.device.kernels
}

// Close frees the memory on the device. A job for a device cannot be used afterwards. Closing a job
// again has no effect.
func (j *Job) Close() error {
	if j.rig == nil {
		return nil
	}
	return j.rig.close()
}

// Table returns the table of image i, as computed by the last run. S must be the type of the job's
// precision: float32, float64 or uint32. Table returns an error if S is another type or i is out of
// range.
func Table[S boxsum.Sum](j *Job, i int) (*boxsum.Table[S], error) {
	if i < 0 || i >= len(j.images) {
		return nil, raster.Invalid("index of the table is %d, want 0 to %d", i, len(j.images)-1)
	}
	tables, ok := j.sums.([]*boxsum.Table[S])
	if !ok {
		return nil, raster.Unsupported("sums have type %T, want %s (the precision of the job)", *new(S), j.opt.Precision.Type)
	}
	if err := j.fetch(i); err != nil {
		return nil, err
	}
	return tables[i], nil
}

// fetch completes table i, after copying it from the device if necessary.
func (j *Job) fetch(i int) error {
	if j.device != nil {
		if err := j.download(i); err != nil {
			return err
		}
	}
	if j.algorithm.Kind == Tilted {
		// Column 0 equals the entry of the pixel to the right in the row above: its triangles have their
		// tips left of the image.
		table, n := j.tables[i], j.opt.Precision.Bytes()
		for y := 1; y <= j.height; y++ {
			copy(table[y*j.stride:][:n], table[(y-1)*j.stride+n:])
		}
	}
	return nil
}

// errClosed is returned for a job whose memory was freed.
var errClosed = errors.New("the job is closed (prepare it again)")
