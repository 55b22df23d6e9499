package devmem

import (
	"maps"
	"slices"

	"github.com/boxsum/boxsum/gpu/internal/driver"
)

// OnStream is a view of the device with its work on a stream of another library. The same
// handle gives the same view again, until that is closed. The views of a device share its
// backend and its memory; wrap makes what package gpu has around a new one.
func (d *Device) OnStream(handle uintptr, wrap func(*Device) any) (*Device, error) {
	if d != nil && d.owner != nil {
		return d.owner.OnStream(handle, wrap)
	}
	if err := d.Enter(); err != nil { // Close waits, and closes what this makes
		return nil, err
	}
	defer d.Leave()
	d.Mu.Lock()
	g := d.views[driver.Stream(handle)]
	d.Mu.Unlock()
	if g != nil {
		return g, nil
	}
	if err := d.Backend.CheckStream(driver.Stream(handle)); err != nil {
		return nil, err
	}
	if err := d.Hold(); err != nil {
		return nil, err
	}
	g = &Device{
		Backend: d.Backend, About: d.About, Stream: driver.Stream(handle), owner: d, holds: 1,
		Held: map[driver.Memory]struct{}{}, spaces: map[spaceKey]space{},
	}
	g.idle.L = &g.life
	g.Outer = wrap(g)
	d.Mu.Lock()
	other := d.views[g.Stream]
	if other == nil {
		if d.views == nil {
			d.views = map[driver.Stream]*Device{}
		}
		d.views[g.Stream] = g
	}
	d.Mu.Unlock()
	if other != nil { // it was faster
		return other, d.Release()
	}
	return g, nil
}

// Borrowed reports whether the work goes to a stream of another library, on which nobody
// waits unasked.
func (d *Device) Borrowed() bool { return d.owner != nil }

// fenced queues the work of a view after its work before, also where that was
// on another stream: handles come back when streams are destroyed, and 2 is one
// for every thread.
func (d *Device) fenced(f func() error) error {
	if d.lasting() {
		return f()
	}
	graph, err := d.Backend.Follow(d.Stream, d.fence)
	if err != nil {
		return err
	}
	if graph {
		return d.captured(f)
	}
	return driver.FirstError(f(), d.mark())
}

// captured queues work of a view that becomes part of a graph. It is done whenever the graph is run, on any stream and
// beside any other work: so it has workspaces of its own, which are cleared at its beginning, and no fence.
func (d *Device) captured(f func() error) error {
	d.graph = map[spaceKey]space{}
	err := f()
	for _, s := range d.graph {
		err = driver.FirstError(err, d.Backend.FreeInGraph(d.Stream, s.memory))
	}
	d.graph = nil
	return err
}

// InGraph reports whether the work of the call under way becomes part of a graph.
func (d *Device) InGraph() bool { return d.graph != nil }

// lasting reports whether the stream of a view is the legacy default stream, which
// nobody can destroy.
func (d *Device) lasting() bool { return d.About.Kind == driver.CUDA && d.Stream <= 1 }

// mark puts the fence behind all work of a view.
func (d *Device) mark() (err error) {
	d.fence, err = d.Backend.Move(d.fence, d.Stream)
	return err
}

// drain waits for the work of a device that is about to close. The stream of a
// guest may be gone by then.
func (d *Device) drain() error {
	switch {
	case d.owner == nil || d.lasting():
		return d.Backend.Wait(d.Stream)
	case d.fence != 0:
		return d.Backend.WaitEvent(d.fence)
	}
	return nil
}

// family is the devices that share their memory with d: its owner, and what OnStream
// made.
func (d *Device) family() []*Device {
	first := d
	if d.owner != nil {
		first = d.owner
	}
	first.Mu.Lock()
	defer first.Mu.Unlock()
	return slices.AppendSeq([]*Device{first}, maps.Values(first.views))
}

// closeViews closes what OnStream made.
func (d *Device) closeViews() error {
	d.Mu.Lock()
	views := d.views
	d.views = nil
	d.Mu.Unlock()
	return driver.EachError(maps.Values(views), (*Device).Close)
}

// forgetView makes OnStream forget a view that is closing: the next one with its
// stream shares nothing with it.
func (d *Device) forgetView() {
	d.owner.Mu.Lock()
	defer d.owner.Mu.Unlock()
	if d.owner.views[d.Stream] == d {
		delete(d.owner.views, d.Stream)
	}
}

// endView is the end of a view, whose memory is free.
func (d *Device) endView() error {
	var err error
	if d.fence != 0 {
		err = d.Backend.FreeEvent(d.fence)
	}
	return driver.FirstError(err, d.owner.Release())
}
