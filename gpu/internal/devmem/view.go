package devmem

import (
	"maps"
	"slices"

	"github.com/boxsum/boxsum/gpu/internal/driver"
)

// OnStream returns a view of the device that queues its work on a stream of another library. The
// same handle returns the same view, until that is closed. The views of a device share its backend
// and its memory. wrap creates the value that package gpu wraps around a new view.
func (d *Device) OnStream(handle uintptr, wrap func(*Device) any) (*Device, error) {
	if d != nil && d.owner != nil {
		return d.owner.OnStream(handle, wrap)
	}
	if err := d.Enter(); err != nil { // Close waits, and closes the new view
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
	if err := d.Retain(); err != nil {
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
	if other != nil { // another goroutine was faster
		return other, d.Release()
	}
	return g, nil
}

// Borrowed reports whether work goes to a stream of another library. Calls then do not wait for it
// unless asked to.
func (d *Device) Borrowed() bool { return d.owner != nil }

// fenced queues the work of a view after its earlier work, even if that was on another stream:
// handles are reused when streams are destroyed, and handle 2 is a different stream for every
// thread.
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

// captured queues work of a view that becomes part of a graph. The graph may run at any time, on
// any stream and concurrently with other work, so the work gets workspaces of its own, which are
// cleared at its start, and no fence.
func (d *Device) captured(f func() error) error {
	d.graph = map[spaceKey]space{}
	err := f()
	for _, s := range d.graph {
		err = driver.FirstError(err, d.Backend.FreeInGraph(d.Stream, s.memory))
	}
	d.graph = nil
	return err
}

// InGraph reports whether the work of the current call becomes part of a graph.
func (d *Device) InGraph() bool { return d.graph != nil }

// lasting reports whether the stream of a view is the legacy default stream, which cannot be
// destroyed.
func (d *Device) lasting() bool { return d.About.Kind == driver.CUDA && d.Stream <= 1 }

// mark moves the fence after all work of a view so far.
func (d *Device) mark() (err error) {
	d.fence, err = d.Backend.MoveEvent(d.fence, d.Stream)
	return err
}

// drain waits for the work of a device that is being closed. A borrowed stream may have been
// destroyed by then.
func (d *Device) drain() error {
	switch {
	case d.owner == nil || d.lasting():
		return d.Backend.Wait(d.Stream)
	case d.fence != 0:
		return d.Backend.WaitEvent(d.fence)
	}
	return nil
}

// family returns the devices that share their memory with d: its owner and all views.
func (d *Device) family() []*Device {
	first := d
	if d.owner != nil {
		first = d.owner
	}
	first.Mu.Lock()
	defer first.Mu.Unlock()
	return slices.AppendSeq([]*Device{first}, maps.Values(first.views))
}

// closeViews closes all views.
func (d *Device) closeViews() error {
	d.Mu.Lock()
	views := d.views
	d.views = nil
	d.Mu.Unlock()
	return driver.EachError(maps.Values(views), (*Device).Close)
}

// forgetView removes a closing view from its owner, so that OnStream creates a new one for the same
// stream.
func (d *Device) forgetView() {
	d.owner.Mu.Lock()
	defer d.owner.Mu.Unlock()
	if d.owner.views[d.Stream] == d {
		delete(d.owner.views, d.Stream)
	}
}

// endView frees the rest of a view after its memory.
func (d *Device) endView() error {
	var err error
	if d.fence != 0 {
		err = d.Backend.FreeEvent(d.fence)
	}
	return driver.FirstError(err, d.owner.Release())
}
