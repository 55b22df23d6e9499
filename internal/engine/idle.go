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
	idle.put(r, scratch)
	return err
}

// Take is a run of a type that nobody uses: the latest that was left, whose
// memory is in the caches, or a new one. So integrating again allocates nothing,
// whatever the table, and calls at the same time never share a run.
func Take[R any]() *R {
	idle.Lock()
	for i := idle.count - 1; i >= 0; i-- {
		if r, ok := idle.runs[i].run.(*R); ok {
			idle.remove(i)
			idle.Unlock()
			return r
		}
	}
	idle.Unlock()
	return new(R)
}

const (
	// idleRuns and idleBytes bound what is kept for later: enough for the kinds of
	// tables that a program makes by turns, and little beside the tables.
	idleRuns  = 16
	idleBytes = 32 << 20
)

// idle holds the runs that nobody uses, the latest last.
var idle idleList

type idleList struct {
	sync.Mutex
	runs  [idleRuns]idleRun
	count int
	bytes int
}

type idleRun struct {
	run   any
	bytes int
}

// put keeps a run for later, in the place of those that were left longest ago.
func (l *idleList) put(run any, bytes int) {
	if bytes > idleBytes {
		return
	}
	l.Lock()
	for l.count == idleRuns || l.bytes+bytes > idleBytes {
		l.remove(0)
	}
	l.runs[l.count] = idleRun{run, bytes}
	l.count++
	l.bytes += bytes
	l.Unlock()
}

func (l *idleList) remove(i int) {
	l.bytes -= l.runs[i].bytes
	copy(l.runs[i:], l.runs[i+1:l.count])
	l.count--
	l.runs[l.count] = idleRun{}
}
