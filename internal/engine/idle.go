package engine

import "sync"

// A Pool keeps idle values until the garbage collector frees them.
type Pool[T any] struct {
	New  func() *T // makes a value if none is idle
	idle sync.Pool
}

// Take returns the value that was last left on this processor, whose memory is in its
// caches, or a new one.
func (p *Pool[T]) Take() *T {
	if v, ok := p.idle.Get().(*T); ok {
		return v
	}
	return p.New()
}

// Leave keeps a value for later unless its scratch memory is large.
func (p *Pool[T]) Leave(v *T, scratch int) {
	if scratch <= IdleBytes {
		p.idle.Put(v)
	}
}

// Runs keeps idle runs of layers of one type until the garbage collector frees them, so
// integrating again does not allocate and concurrent calls never share a run. The zero
// Runs is empty and ready to use.
type Runs[L any] struct{ idle sync.Pool }

// A Run is an engine with a layer, and keeps the layer's scratch memory.
type Run[L any] struct {
	engine Engine
	plan   Plan
	set    Settings
	idle   *sync.Pool
	Layer  L
}

// Take returns the run that was last left on this processor, whose memory is in its
// caches, or a new one.
func (r *Runs[L]) Take() *Run[L] {
	if run, ok := r.idle.Get().(*Run[L]); ok {
		return run
	}
	return &Run[L]{idle: &r.idle}
}

// Fill calls [Engine.Fill] for the layer of r. The caller must not use r afterwards.
func (r *Run[L]) Fill(set Settings, p Plan, layer Layer) error {
	r.set, r.plan = set, p
	scratch, err := r.engine.Fill(&r.set, &r.plan, layer)
	r.set = Settings{}
	r.leave(scratch)
	return err
}

// leave keeps the run for later unless its scratch memory is large.
func (r *Run[L]) leave(bytes int) {
	if bytes <= IdleBytes {
		r.idle.Put(r)
	}
}

// IdleBytes is the maximum size of scratch memory that is kept for the next call.
const IdleBytes = 32 << 20
