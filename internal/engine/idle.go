package engine

import (
	"reflect"
	"sync"
)

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
	return fill(r, &r.engine, &r.set, &r.plan, layer)
}

func fill(run any, engine *Engine, set *Settings, p *Plan, layer Layer) error {
	scratch, err := engine.Fill(set, p, layer)
	*set = Settings{}
	leave(run, scratch)
	return err
}

// Take is a run of a type that nobody uses: the latest that was left on this
// processor, whose memory is in its caches, or a new one. So integrating again
// allocates nothing, whatever the table, and calls at the same time never share a
// run.
func Take[R any]() *R {
	run := idle.Get()
	if r, ok := run.(*R); ok {
		return r
	}
	if r, ok := take(run, reflect.TypeFor[*R]()).(*R); ok {
		return r
	}
	return new(R)
}

// take is a run of a type, or nil, after the latest.
func take(latest any, kind reflect.Type) (found any) {
	var others [idleKinds]any // of other types
	n := 0
	for run := latest; run != nil; run = idle.Get() {
		if reflect.TypeOf(run) == kind {
			found = run
			break
		}
		others[n] = run
		if n++; n == len(others) {
			break
		}
	}
	for _, other := range others[:n] {
		idle.Put(other)
	}
	return found
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
