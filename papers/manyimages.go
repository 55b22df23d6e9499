package papers

import (
	"cmp"

	"github.com/boxsum/boxsum/internal/launch"
)

// manyImages is the method that section 6 of Bertazzini and Guiducci expects to be better: each
// stream copies an image to the device, runs the kernels of section 3.2.2 and copies the table
// back, one image after another, while other streams do the same. The copies are asynchronous,
// which requires page-locked memory on the host.
type manyImages struct {
	rig            *rig
	images, tables [][]byte // page-locked
	lanes          []lane
}

// A lane is a stream and its memory on the device.
type lane struct {
	stream  launch.Stream
	in, out launch.Rows
	kernels []Step
}

func bertazziniMany(r *rig) *deviceRun {
	m := &manyImages{rig: r}
	for range r.count {
		m.images, m.tables = append(m.images, r.lockedImage()), append(m.tables, r.lockedImage())
	}
	for range min(r.opt.Streams, r.count) {
		stream, err := r.NewStream()
		if err != nil {
			r.err = cmp.Or(r.err, err)
			break
		}
		r.streams = append(r.streams, stream)
		main := r.stream
		r.stream = stream // kernels of this lane go to it
		run := bertazziniCUDA(r)
		r.stream = main
		m.lanes = append(m.lanes, lane{stream: stream, in: r.rowsOf(run.in), out: r.rowsOf(run.out), kernels: run.kernels})
	}
	return &deviceRun{many: m}
}

// lockedImage allocates page-locked memory for an image. It records errors in err.
func (r *rig) lockedImage() []byte {
	host, err := r.AllocHost(r.values() * int64(r.bytes))
	if err != nil {
		r.err = cmp.Or(r.err, err)
		return nil
	}
	r.locked = append(r.locked, host)
	return host
}

// run queues all images. Their streams start after the work on the device's main stream, and later
// work on that waits for them.
func (m *manyImages) run() error {
	r := m.rig
	if *r.closed {
		return errClosed
	}
	for _, l := range m.lanes {
		if err := r.Join(l.stream, r.Main()); err != nil {
			return err
		}
	}
	for i := range m.images {
		if err := m.queue(m.lanes[i%len(m.lanes)], m.images[i], m.tables[i]); err != nil {
			return err
		}
	}
	for _, l := range m.lanes {
		if err := r.Join(r.Main(), l.stream); err != nil {
			return err
		}
	}
	return nil
}

func (m *manyImages) queue(l lane, image, table []byte) error {
	if err := m.rig.CopyIn(l.stream, l.in, image, l.in.Stride); err != nil {
		return err
	}
	if err := runSteps(l.kernels); err != nil {
		return err
	}
	return m.rig.CopyOut(l.stream, table, l.out.Stride, l.out)
}
