package console

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	progressAfter = time.Second            // shorter work shows no bar
	progressEvery = 100 * time.Millisecond // interval between redraws
	leftAfter     = 3 * time.Second        // minimum time before the remaining time is estimated
)

// Progress is a progress bar on a terminal for long work. A nil *Progress never shows anything.
// Workers only update an atomic counter; a separate goroutine draws the bar.
type Progress struct {
	now      atomic.Pointer[step]
	stop     chan struct{}
	closing  sync.Once
	finished sync.WaitGroup
	prefix   string // prepended to the names of all steps
}

// A step is a part of a command's work, such as reading its input.
type step struct {
	name  string
	total int64 // 0 if unknown
	bytes bool  // total counts bytes rather than rounds
	start time.Time
	done  atomic.Int64
}

// newProgress returns a bar on stderr, or nil if that is not a terminal.
func newProgress(stderr io.Writer) *Progress {
	if !IsTerminal(stderr) {
		return nil
	}
	p := &Progress{stop: make(chan struct{})}
	p.now.Store(&step{name: "working", start: time.Now()}) // until a step begins
	p.finished.Go(func() {
		select {
		case <-time.After(progressAfter):
			p.draw(stderr)
		case <-p.stop:
		}
	})
	return p
}

// Begin starts a step of total bytes.
func (p *Progress) Begin(name string, total int64) {
	if p != nil {
		p.now.Store(&step{name: p.prefix + name, total: total, bytes: true, start: time.Now()})
	}
}

// Of sets a prefix for the names of the steps that follow, such as the number of the file.
func (p *Progress) Of(prefix string) {
	if p != nil {
		p.prefix = prefix
	}
}

// Reach reports that done of total rounds of a step are done. It starts the step unless
// it is the current one.
func (p *Progress) Reach(name string, done, total int) {
	if p == nil {
		return
	}
	name = p.prefix + name
	s := p.now.Load()
	if s == nil || s.name != name || s.total != int64(total) || s.bytes {
		s = &step{name: name, total: int64(total), start: time.Now()}
		p.now.Store(s)
	}
	s.done.Store(int64(done))
}

// Share starts a step and returns a function that reports the fraction of it that is
// done, or nil if there is no bar.
func (p *Progress) Share(name string) func(done float64) {
	const steps = 1000
	if p == nil {
		return nil
	}
	p.Reach(name, 0, steps)
	return func(done float64) { p.Reach(name, int(done*steps), steps) }
}

// Add counts n bytes towards the total of the step.
func (p *Progress) Add(n int64) {
	if p == nil {
		return
	}
	if s := p.now.Load(); s != nil {
		s.done.Add(n)
	}
}

// Close removes the bar from the terminal. It may be called again.
func (p *Progress) Close() {
	if p == nil {
		return
	}
	p.closing.Do(func() { close(p.stop) })
	p.finished.Wait()
}

// draw shows the current step until the work is over.
func (p *Progress) draw(w io.Writer) {
	bar, spinner := mpb.BarStyle().Build(), mpb.SpinnerStyle("|", "/", "-", `\`).PositionLeft().Build()
	fill := func(w io.Writer, stat decor.Statistics) error {
		s := p.now.Load()
		if s.total <= 0 {
			return spinner.Fill(w, stat)
		}
		stat.Current, stat.Total = s.reached(), s.total
		return bar.Fill(w, stat)
	}
	name := func(stat decor.Statistics) string {
		const rest = 45 // columns reserved for a short bar and the text after it
		return runewidth.Truncate(p.now.Load().name, max(stat.AvailableWidth-rest, rest/2), "…")
	}
	state := func(decor.Statistics) string { return p.now.Load().state(time.Now()) }
	container := mpb.New(mpb.WithOutput(w), mpb.WithRefreshRate(progressEvery), mpb.WithAutoRefresh())
	line := container.MustAdd(0, mpb.BarFillerFunc(fill), mpb.BarWidth(40),
		mpb.PrependDecorators(decor.Any(name)), mpb.AppendDecorators(decor.Any(state)))
	<-p.stop
	line.Abort(true)
	container.Wait()
}

// reached returns the completed amount. It stays below the total until the next step begins.
func (s *step) reached() int64 { return min(s.done.Load(), s.total-1) }

// state returns the completed percentage of a step and the estimated remaining time.
func (s *step) state(now time.Time) string {
	if s.total <= 0 {
		return ""
	}
	done := s.reached()
	share := float64(done) / float64(s.total)
	text := fmt.Sprintf("%d %%", int(share*100))
	if s.bytes {
		text += "  " + bytesText(done) + " / " + bytesText(s.total)
	}
	if spent := now.Sub(s.start); spent > leftAfter && done > 0 {
		left := time.Duration(float64(spent) * (1 - share) / share)
		text += fmt.Sprintf("  %v left", left.Round(time.Second))
	}
	return text
}

func bytesText(n int64) string {
	size, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for size >= 1024 && len(units) > 1 {
		size, units = size/1024, units[1:]
	}
	return fmt.Sprintf("%.1f %s", size, units[0])
}
