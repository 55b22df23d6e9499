package engine

import "sync"

// A Run is an engine with the layers of one or two tables, which keep their
// scratch memory. It comes from [Take] and goes back with Fill.
type Run[A, B any] struct {
	engine Engine
	First  A
	Second B
}

// None stands for the second layer of runs that have one.
type None struct{}

// Fill is [Engine.Fill]. Afterwards the run may be another's.
func (r *Run[A, B]) Fill(set Settings, p Plan, layers ...Layer) error {
	scratch, err := r.engine.Fill(set, p, layers...)
	idle.put(r, scratch)
	return err
}

// Take is a run of these layers that nobody uses: the latest that was left, whose
// memory is in the caches, or a new one. So integrating again allocates nothing,
// whatever the table, and calls at the same time never share a run.
func Take[A, B any]() *Run[A, B] {
	idle.Lock()
	defer idle.Unlock()
	for i := idle.count - 1; i >= 0; i-- {
		if r, ok := idle.runs[i].run.(*Run[A, B]); ok {
			idle.remove(i)
			return r
		}
	}
	return new(Run[A, B])
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
	defer l.Unlock()
	for l.count == idleRuns || l.bytes+bytes > idleBytes {
		l.remove(0)
	}
	l.runs[l.count] = idleRun{run, bytes}
	l.count++
	l.bytes += bytes
}

func (l *idleList) remove(i int) {
	l.bytes -= l.runs[i].bytes
	copy(l.runs[i:], l.runs[i+1:l.count])
	l.count--
	l.runs[l.count] = idleRun{}
}
