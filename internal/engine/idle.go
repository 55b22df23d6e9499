package engine

import "sync"

// A Run is an engine with a layer, which keeps its scratch memory. It comes from
// [Take].
type Run[L any] struct {
	engine Engine
	plan   Plan
	set    Settings
	Layer  L
}

// Fill is [Engine.Fill] for the run's layer. Afterwards the run may be another's.
func (r *Run[L]) Fill(set Settings, p Plan, layer Layer) error {
	r.set, r.plan = set, p
	scratch, err := r.engine.Fill(&r.set, &r.plan, layer)
	r.set = Settings{}
	leave(r, scratch)
	return err
}

// Take is a run of a type that nobody uses: the latest that was left on this
// processor, whose memory is in its caches, or a new one. So integrating again
// allocates nothing, whatever the table, and calls at the same time never share a
// run.
func Take[R any]() (r *R) {
	var others [idleKinds]any // of other types
	n := 0
	for r == nil && n < len(others) {
		run := idle.Get()
		if run == nil {
			break
		}
		if r, _ = run.(*R); r == nil {
			others[n] = run
			n++
		}
	}
	for _, other := range others[:n] {
		idle.Put(other)
	}
	if r == nil {
		r = new(R)
	}
	return r
}

const (
	// idleKinds is how many kinds of tables a program may make by turns without
	// allocating.
	idleKinds = 8
	// idleBytes bounds what a run keeps for later.
	idleBytes = 32 << 20
)

// idle holds the runs that nobody uses, until the garbage collector takes them.
var idle sync.Pool

// leave keeps a run for later, unless its scratch memory is large.
func leave(run any, bytes int) {
	if bytes <= idleBytes {
		idle.Put(run)
	}
}
