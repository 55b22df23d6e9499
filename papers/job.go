package papers

import (
	"errors"
	"fmt"

	"github.com/boxsum/boxsum"
)

// A Job is an algorithm that was prepared for an image, or for several. It is for
// one goroutine at a time.
type Job struct {
	algorithm *Algorithm
	opt       Options // with its zeros filled in
	width     int
	height    int

	images [][]byte // on the host, without gaps
	tables [][]byte // on the host
	stride int      // bytes from a row of a table to the next
	sums   any      // the tables: []*boxsum.Table[E]
	verify func() error

	host   func()     // runs on the CPU; nil on a GPU
	device *deviceRun // nil on the CPU
	rig    *rig
}

// Algorithm is what was prepared.
func (j *Job) Algorithm() *Algorithm { return j.algorithm }

// Precision is the one that it was prepared in.
func (j *Job) Precision() Precision { return j.opt.Precision }

// Size is that of the image, and how many images there are.
func (j *Job) Size() (width, height, count int) { return j.width, j.height, len(j.images) }

// Run makes the table once. On a GPU it returns when the kernels are queued on the
// device, whose Wait and Time go with it; the images are there already. Only what
// takes [Algorithm.Many] also queues the copies of its images and tables, which are
// part of its idea.
func (j *Job) Run() error {
	if j.device != nil {
		return j.device.run()
	}
	j.host()
	return nil
}

// RunHost makes the table from an image in host memory in host memory: on a GPU
// with the copies there and back. It returns when the table is there.
func (j *Job) RunHost() error {
	switch {
	case j.device == nil:
		return j.Run()
	case j.device.many != nil:
		return inOrder(j.Run, j.opt.Device.Wait)
	}
	return inOrder(j.load, j.Run, func() error { return j.fetch(0) })
}

// inOrder is the first error of some steps, and ends there.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Verify compares every entry of the tables that the last run made with a reference:
// to the bit where the sums are whole numbers that fit, and elsewhere to within
// rounding. The error says where the first difference is.
func (j *Job) Verify() error { return j.verify() }

// A Step is one kernel of an algorithm on a GPU.
type Step struct {
	Name  string       // of the kernel
	Run   func() error // queues it alone
	Bytes int64        // that it reads and writes
}

// Steps lists the kernels that a run launches, in order, to be timed one by one. It
// is nil on the CPU and for many images.
func (j *Job) Steps() []Step {
	if j.device == nil {
		return nil
	}
	return j.device.kernels
}

// Close frees the memory on the device; the job of one cannot be used afterwards.
// Closing again does nothing.
func (j *Job) Close() error {
	if j.rig == nil {
		return nil
	}
	return j.rig.close()
}

// Table is the table of image i that the last run of a job made. Its entries have
// the type of the job's precision: float32, float64 or uint32.
func Table[S boxsum.Sum](j *Job, i int) (*boxsum.Table[S], error) {
	if i < 0 || i >= len(j.images) {
		return nil, fmt.Errorf("papers: %w: no table %d among %d", boxsum.ErrInvalid, i, len(j.images))
	}
	tables, ok := j.sums.([]*boxsum.Table[S])
	if !ok {
		return nil, fmt.Errorf("papers: %w: the sums of this job are %s, not %T", boxsum.ErrTypes, j.opt.Precision.Type, *new(S))
	}
	if err := j.fetch(i); err != nil {
		return nil, err
	}
	return tables[i], nil
}

// fetch makes table i whole, from the device where it is there.
func (j *Job) fetch(i int) error {
	if j.device != nil {
		if err := j.download(i); err != nil {
			return err
		}
	}
	if j.algorithm.Kind == Tilted {
		// Column 0 is that of the pixel right of it in the row above: what the triangles
		// of tips left of the image hold.
		table, n := j.tables[i], j.opt.Precision.Bytes()
		for y := 1; y <= j.height; y++ {
			copy(table[y*j.stride:][:n], table[(y-1)*j.stride+n:])
		}
	}
	return nil
}

// errClosed is for a job whose memory was given back.
var errClosed = errors.New("papers: the job was already closed: prepare it again")
