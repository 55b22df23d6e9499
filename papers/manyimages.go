package papers

import "github.com/boxsum/boxsum/internal/launch"

// manyImages is what section 6 of Bertazzini and Guiducci supposes to be better:
// each stream copies an image to the device, runs the kernels of section 3.2.2 on it
// and copies the table back, one image after another, while other streams do the
// same. The copies are asynchronous, which takes page-locked memory on the host.
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

func bertazziniMany(r *rig) (*deviceRun, error) {
	m := &manyImages{rig: r}
	for range r.count {
		for _, list := range []*[][]byte{&m.images, &m.tables} {
			host, err := r.AllocHost(r.values() * int64(r.bytes))
			if err != nil {
				return nil, err
			}
			r.locked = append(r.locked, host)
			*list = append(*list, host)
		}
	}
	for range min(r.opt.Streams, r.count) {
		stream, err := r.NewStream()
		if err != nil {
			return nil, err
		}
		r.streams = append(r.streams, stream)
		on := *r
		on.stream = stream
		run, err := bertazziniCUDA(&on)
		r.buffers = on.buffers
		if err != nil {
			return nil, err
		}
		l := lane{stream: stream, in: r.image(run.in), out: r.image(run.out), kernels: run.kernels}
		m.lanes = append(m.lanes, l)
	}
	return &deviceRun{many: m}, nil
}

// run queues all images. Their streams begin after what is on the device's own one,
// and what comes there next waits for them.
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
	for _, s := range l.kernels {
		if err := s.Run(); err != nil {
			return err
		}
	}
	return m.rig.CopyOut(l.stream, table, l.out.Stride, l.out)
}
