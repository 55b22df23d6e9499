package engine

import "sync/atomic"

// progress counts tiles to report the progress of a run.
type progress struct {
	done     atomic.Int64
	all      int64
	reported int64 // only used by the caller's goroutine
}

// reports is the approximate number of reports of a run with many tiles.
const reports = 200

func (p *progress) start(plan *Plan) {
	p.done.Store(0)
	p.reported, p.all = 0, 1
	if plan.Rows > 0 && plan.N > 0 {
		p.all = int64(plan.bands()) * int64(plan.tiles()) * int64(max(1, plan.Slices))
	}
}

// tileDone counts a tile, and reports progress if the worker is the caller.
func (e *Engine) tileDone(worker int) {
	if e.set.progress == nil {
		return
	}
	e.progress.done.Add(1)
	if worker == 0 {
		e.report()
	}
}

// report reports progress to the caller if it has advanced enough. Run reports the end.
func (e *Engine) report() {
	if e.set.progress == nil {
		return
	}
	p := &e.progress
	if done := p.done.Load(); done < p.all && done-p.reported > p.all/reports {
		p.reported = done
		e.set.progress(float64(done) / float64(p.all))
	}
}
