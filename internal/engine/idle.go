package engine

import "sync"

// Runs keeps idle runs of layers of one type until the garbage collector frees them, so
// integrating again does not allocate and concurrent calls never share a run. The zero
// Runs is empty and ready to use.
type Runs[L any] struct{ idle sync.Pool }

// A Run is an engine with a layer, and keeps the layer's scratch memory. After
// [Engine.Fill], it belongs to the next caller.
type Run[L any] struct {
	Engine
	Layer L
}

// Take returns the run that was last left on this processor, whose memory is in its
// caches, or a new one.
func (r *Runs[L]) Take() *Run[L] {
	if run, ok := r.idle.Get().(*Run[L]); ok {
		return run
	}
	run := new(Run[L])
	run.keep = func() { r.idle.Put(run) }
	return run
}

// IdleBytes is the maximum size of scratch memory that is kept for the next call.
const IdleBytes = 32 << 20
