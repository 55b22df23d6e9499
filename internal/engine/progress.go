package engine

import "sync/atomic"

// progress counts tiles for those who want to know how far the work is.
type progress struct {
	done     atomic.Int64
	all      int64
	reported int64 // on the caller's goroutine
}

// reports is about how many reports there are of a run with many tiles.
const reports = 200

func (p *progress) start(plan *Plan) {
	p.done.Store(0)
	p.reported, p.all = 0, 1
	if plan.Rows > 0 && plan.N > 0 {
		p.all = int64(plan.bands()) * int64(plan.tiles()) * int64(max(1, plan.Slices))
	}
}

// tileDone counts a tile, and reports if it is the caller who made it.
func (e *Engine) tileDone(worker int) {
	if e.set.progress == nil {
		return
	}
	e.progress.done.Add(1)
	if worker == 0 {
		e.report()
	}
}

// report tells the caller how far the work is, if that is worth a report. The end
// is reported by run.
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
