package cli

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

const (
	progressAfter = time.Second            // work that ends sooner shows nothing
	progressEvery = 100 * time.Millisecond // how often the bar is drawn
)

// progress is a bar on a terminal for work that takes long. Nil is a bar that
// never shows. The work only counts atomically; drawing has its own goroutine.
type progress struct {
	now      atomic.Pointer[step]
	stop     chan struct{}
	closing  sync.Once
	finished sync.WaitGroup
	prefix   string // of the names of all steps
}

// A step is one thing that a command does, such as reading its input.
type step struct {
	name  string
	total int64 // 0 where nobody can tell
	bytes bool  // what total counts, or else rounds of something
	done  atomic.Int64
}

// newProgress is a bar on stderr, or nil where that is no terminal.
func newProgress(stderr io.Writer) *progress {
	if !isTerminal(stderr) {
		return nil
	}
	p := &progress{stop: make(chan struct{})}
	p.finished.Go(func() {
		select {
		case <-time.After(progressAfter):
			p.draw(stderr)
		case <-p.stop:
		}
	})
	return p
}

// begin names what the command does from now on, and how many bytes that is.
func (p *progress) begin(name string, total int64) {
	if p != nil {
		p.now.Store(&step{name: p.prefix + name, total: total, bytes: true})
	}
}

// of says which part of all that there is to do the steps from now on belong to.
func (p *progress) of(prefix string) {
	if p != nil {
		p.prefix = prefix
	}
}

// reach says how many of all the rounds are done.
func (p *progress) reach(name string, done, total int) {
	if p != nil {
		s := &step{name: p.prefix + name, total: int64(total)}
		s.done.Store(int64(done))
		p.now.Store(s)
	}
}

// share is told which part of something is done, from 0 to 1. It is nil where nobody
// sees it.
func (p *progress) share(name string) func(done float64) {
	const steps = 1000
	if p == nil {
		return nil
	}
	p.reach(name, 0, steps)
	return func(done float64) { p.reach(name, int(done*steps), steps) }
}

// add counts bytes towards the total of the step.
func (p *progress) add(n int64) {
	if p == nil {
		return
	}
	if s := p.now.Load(); s != nil {
		s.done.Add(n)
	}
}

// close takes the bar off the terminal, for good.
func (p *progress) close() {
	if p == nil {
		return
	}
	p.closing.Do(func() { close(p.stop) })
	p.finished.Wait()
}

// draw shows the current step until the work is over.
func (p *progress) draw(w io.Writer) {
	bars := mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(progressEvery))
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	var shown *step
	var bar *mpb.Bar
	for {
		s := p.now.Load()
		if s != nil && (shown == nil || s.total != shown.total || s.bytes != shown.bytes) {
			if bar != nil {
				bar.Abort(true)
			}
			bar = p.bar(bars, s)
		}
		if shown = s; s != nil && s.total > 0 {
			// A full bar would be complete, and the step may yet go on.
			bar.SetCurrent(min(s.done.Load(), s.total-1))
		}
		select {
		case <-tick.C:
		case <-p.stop:
			if bar != nil {
				bar.Abort(true)
			}
			bars.Wait()
			return
		}
	}
}

// bar draws steps that count the same as s does.
func (p *progress) bar(bars *mpb.Progress, s *step) *mpb.Bar {
	name := mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return p.now.Load().name + " " }))
	if s.total <= 0 {
		return bars.AddSpinner(0, name)
	}
	ending := []decor.Decorator{decor.Percentage()}
	if s.bytes {
		ending = append(ending, decor.CountersKibiByte("  % .1f / % .1f"))
	}
	return bars.AddBar(s.total, name, mpb.AppendDecorators(ending...))
}

func isTerminal(w io.Writer) bool {
	if c, ok := w.(*checkedWriter); ok {
		w = c.Writer
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
