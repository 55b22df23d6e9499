package devmem

import (
	"errors"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/internal/driver"
)

// A SpaceState is the information that one launch passes to the next one with the same
// workspace, which is not cleared in between.
type SpaceState struct {
	Epoch uint32 // of the last launch
	Base  uint32 // tickets drawn so far

	Mapped cuda.Tensor    // the pixels of the last launch that needed a tensor map
	Map    cuda.TensorMap // of these
}

// A spaceKey is a stream and the purpose of a workspace.
type spaceKey struct {
	stream driver.Stream
	use    string
}

type space struct {
	memory driver.Memory
	bytes  int64
	state  *SpaceState
	call   uint64 // number of the last call of Use that used it
}

// Workspace returns memory for one purpose on one stream, kept from call to call, and its state.
// Both are zero the first time, and after the workspace grew or was freed because memory was short.
// On the device's own stream, callers must be inside Use.
func (d *Device) Workspace(s driver.Stream, use string, bytes int64) (at driver.Memory, state *SpaceState, err error) {
	key := spaceKey{s, use}
	if d.graph != nil {
		return d.graphSpace(key, bytes)
	}
	d.Mu.Lock()
	old, ok := d.spaces[key]
	enough := ok && old.bytes >= bytes
	if enough {
		old.call = d.calls
		d.spaces[key] = old
	} else {
		delete(d.spaces, key)
	}
	d.Mu.Unlock()
	if enough {
		return old.memory, old.state, nil
	}
	if ok { // free first, so that both need not fit at once
		if err := driver.FirstError(d.Backend.Wait(s), d.Backend.Free(old.memory)); err != nil {
			return 0, nil, err
		}
	}
	bytes = RoundUp(bytes, 1<<16)
	m, err := d.allocate(bytes)
	if errors.Is(err, boxsum.ErrMemory) && s == d.Stream && d.dropOthers() {
		m, err = d.Backend.Alloc(bytes)
	}
	if err != nil {
		return 0, nil, d.addFreeMemory(err)
	}
	if err := d.Backend.Fill(s, driver.Plane{Memory: m}, 0, bytes); err != nil {
		return 0, nil, driver.FirstError(err, d.Backend.Free(m))
	}
	state = &SpaceState{}
	d.Mu.Lock()
	defer d.Mu.Unlock()
	d.spaces[key] = space{m, bytes, state, d.calls}
	return m, state, nil
}

// graphSpace returns the workspace of a call that is being captured: memory of the graph, which is
// cleared whenever the graph runs.
func (d *Device) graphSpace(key spaceKey, bytes int64) (driver.Memory, *SpaceState, error) {
	old, ok := d.graph[key]
	if ok && old.bytes >= bytes {
		return old.memory, old.state, nil
	}
	if ok {
		delete(d.graph, key)
		if err := d.Backend.FreeInGraph(key.stream, old.memory); err != nil {
			return 0, nil, err
		}
	}
	m, err := d.Backend.AllocInGraph(key.stream, bytes)
	if err != nil {
		return 0, nil, err
	}
	state := &SpaceState{}
	d.graph[key] = space{memory: m, bytes: bytes, state: state}
	return m, state, d.Backend.Fill(key.stream, driver.Plane{Memory: m}, 0, bytes)
}

// ClearSpace clears a workspace and its state.
func (d *Device) ClearSpace(s driver.Stream, use string) error {
	d.Mu.Lock()
	space, ok := d.graph[spaceKey{s, use}]
	if !ok {
		space = d.spaces[spaceKey{s, use}]
	}
	d.Mu.Unlock()
	if err := d.Backend.Fill(s, driver.Plane{Memory: space.memory}, 0, space.bytes); err != nil {
		return err
	}
	*space.state = SpaceState{}
	return nil
}

// DropSpace frees a workspace after the work that uses it, so that a smaller one can take its
// place.
func (d *Device) DropSpace(s driver.Stream, use string) error {
	key := spaceKey{s, use}
	d.Mu.Lock()
	old, ok := d.spaces[key]
	delete(d.spaces, key)
	d.Mu.Unlock()
	if !ok {
		return nil
	}
	return driver.FirstError(d.Backend.Wait(s), d.Backend.Free(old.memory))
}

// FreeStream frees a stream other than the device's own, and its workspaces.
func (d *Device) FreeStream(s driver.Stream) error {
	errs := []error{d.Backend.Wait(s)}
	d.Mu.Lock()
	for key, space := range d.spaces {
		if key.stream == s {
			errs = append(errs, d.Backend.Free(space.memory))
			delete(d.spaces, key)
		}
	}
	d.Mu.Unlock()
	return driver.FirstError(append(errs, d.Backend.FreeStream(s))...)
}
