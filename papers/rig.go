package papers

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
)

type buffer = launch.Buffer

// A rig provides the memory and kernels that an algorithm uses on a device, for values of one type.
type rig struct {
	launch.Device
	stream        launch.Stream // for kernels
	opt           Options
	width, height int
	count         int    // of images
	element       string // in the kernels' names
	bytes         int    // of a value, including all channels, which are processed together
	closed        *bool  // the memory must not be used any more
	buffers       []buffer
	streams       []launch.Stream
	locked        [][]byte
	err           error // first error of an allocation
}

// A deviceRun is an algorithm on a device, ready to run.
type deviceRun struct {
	in, out buffer
	whole   bool   // out is the whole table, without gaps; otherwise it has an entry for each pixel
	kernels []Step // in order

	// layout describes the layout of images in the buffers if it is not row by row without gaps.
	layout func(b buffer) []part

	finish func() error // called before the table is fetched, if not nil
	many   *manyImages  // instead of all of the above
}

// A part is a set of rows of the image on the device: every step-th row, starting at first.
type part struct {
	launch.Rows
	first, step int
}

// buffer allocates memory for some values. It records errors in err.
func (r *rig) buffer(values int) buffer {
	b, err := r.Alloc(int64(values) * int64(r.bytes))
	if err != nil {
		r.err = cmp.Or(r.err, err)
		return b
	}
	r.buffers = append(r.buffers, b)
	return b
}

// step returns a launch of one kernel with blocks of the usual size. values is the number of values
// that it moves.
func (r *rig) step(name string, groups int, values int64, args ...any) Step {
	return r.stepOf(name, groups, launch.Group, values, args...)
}

func (r *rig) stepOf(name string, groups, items int, values int64, args ...any) Step {
	kernel, device, stream, closed := launch.Kernel(name, r.element), r.Device, r.stream, r.closed
	return Step{kernel, func() error {
		if *closed {
			return errClosed
		}
		return device.Launch(stream, kernel, groups, items, args...)
	}, values * int64(r.bytes)}
}

// close frees everything after work in progress has finished.
func (r *rig) close() error {
	*r.closed = true
	var errs []error
	for _, s := range r.streams {
		errs = append(errs, r.FreeStream(s))
	}
	for _, b := range r.buffers {
		errs = append(errs, r.Free(b))
	}
	for _, m := range r.locked {
		errs = append(errs, r.FreeHost(m))
	}
	r.streams, r.buffers, r.locked = nil, nil, nil
	return errors.Join(errs...)
}

// run queues the kernels.
func (d *deviceRun) run() error {
	if d.many != nil {
		return d.many.run()
	}
	return runSteps(d.kernels)
}

func runSteps(steps []Step) error {
	for _, s := range steps {
		if err := s.Run(); err != nil {
			return err
		}
	}
	return nil
}

// prepareDevice allocates memory on the device and copies the images to it.
func (j *Job) prepareDevice() error {
	open := j.opt.open
	if open == nil {
		open = launch.Open
	}
	device, err := open(j.opt.Device)
	if err != nil {
		return err
	}
	p := j.opt.Precision
	// A grid has at most 2^31-1 blocks, fewer than there may be pixels.
	if int64(j.width+1)*int64(j.height+1) > math.MaxInt32 {
		return raster.Invalid("table has %d×%d entries, want at most %d in all", j.width+1, j.height+1, math.MaxInt32)
	}
	j.rig = &rig{
		Device: device, stream: device.Main(), closed: new(bool), opt: j.opt, width: j.width, height: j.height, count: len(j.images), element: p.String(), bytes: p.Bytes() * p.Channels,
	}
	j.device = j.algorithm.gpu(j.rig)
	if err := j.rig.err; err != nil {
		return fmt.Errorf("%s: %w", j.algorithm.Name, err)
	}
	return j.load()
}

// load copies the images to where the device reads them.
func (j *Job) load() error {
	if *j.rig.closed {
		return errClosed
	}
	if many := j.device.many; many != nil {
		for i, pixels := range j.images {
			copy(many.images[i], pixels)
		}
		return nil
	}
	row := int64(j.width * j.rig.bytes)
	for _, p := range j.parts(j.device.in) {
		if err := j.rig.CopyIn(j.rig.stream, p.Rows, j.images[0][int64(p.first)*row:], int64(p.step)*row); err != nil {
			return err
		}
	}
	return nil
}

// parts returns the layout of an image in a buffer.
func (j *Job) parts(b buffer) []part {
	if j.device.layout != nil {
		return j.device.layout(b)
	}
	return []part{{j.rig.rowsOf(b), 0, 1}}
}

// rowsOf returns a buffer as the rows of an image without gaps.
func (r *rig) rowsOf(b buffer) launch.Rows {
	row := int64(r.width * r.bytes)
	return launch.Rows{Buffer: b, Stride: row, Bytes: row, Count: int64(r.height)}
}

// download copies table i from the device.
func (j *Job) download(i int) error {
	d, r, table := j.device, j.rig, j.tables[i]
	if *r.closed {
		return errClosed
	}
	if d.many != nil {
		if err := j.opt.Device.Wait(); err != nil {
			return err
		}
		row := j.width * r.bytes
		for y := range j.height {
			copy(table[(y+1)*j.stride+r.bytes:][:row], d.many.tables[i][y*row:])
		}
		return nil
	}
	if d.finish != nil {
		if err := d.finish(); err != nil {
			return err
		}
	}
	stride := int64(j.stride)
	if d.whole {
		row := int64((j.width + 1) * r.bytes)
		return r.CopyOut(r.stream, table, stride, launch.Rows{Buffer: d.out, Stride: row, Bytes: row, Count: int64(j.height) + 1})
	}
	for _, p := range j.parts(d.out) {
		at := int64(p.first+1)*stride + int64(r.bytes)
		if err := r.CopyOut(r.stream, table[at:], int64(p.step)*stride, p.Rows); err != nil {
			return err
		}
	}
	return nil
}
