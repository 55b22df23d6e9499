package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

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

// draw shows the current step until the work is over. It writes one line over and over,
// with spaces where the line before was longer: that works on every terminal.
func (p *progress) draw(w io.Writer) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	shown := 0
	show := func(line string) {
		n := width(line)
		fmt.Fprint(w, "\r", line, strings.Repeat(" ", max(shown-n, 0)), "\r")
		shown = n
	}
	for turn := 0; ; turn++ {
		if s := p.now.Load(); s != nil {
			show(s.line(turn, columnsOf(w)))
		}
		select {
		case <-tick.C:
		case <-p.stop:
			show("")
			return
		}
	}
}

// line is a step in less than so many columns, so that none wraps: its name, how much is
// done, and a bar where there is room. Where nobody can tell, something turns.
func (s *step) line(turn, columns int) string {
	const shortest, longest = 8, 38
	if s.total <= 0 {
		return cut(s.name, columns-3) + " " + `|/-\`[turn%4:turn%4+1]
	}
	done := min(s.done.Load(), s.total-1) // all of it is done when the next step begins
	share := float64(done) / float64(s.total)
	ending := fmt.Sprintf(" %d %%", int(share*100))
	if s.bytes {
		ending += "  " + bytesText(done) + " / " + bytesText(s.total)
	}
	columns -= 1 + len(ending)
	if long := min(columns-width(s.name)-len(" []"), longest); long >= shortest {
		full := int(share * float64(long))
		return s.name + " [" + strings.Repeat("=", full) + ">" + strings.Repeat("-", long-1-full) + "]" + ending
	}
	return cut(s.name, columns) + ending
}

// width is how many columns a text takes, if each letter that may be wide takes two.
func width(text string) (columns int) {
	const wide = 0x1100
	for _, r := range text {
		if columns++; r >= wide {
			columns++
		}
	}
	return columns
}

// cut is as much of a text as goes into so many columns.
func cut(text string, columns int) string {
	for text != "" && width(text) > columns {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
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

// terminalOf is the terminal that w writes to.
func terminalOf(w io.Writer) (fd int, ok bool) {
	if c, ok := w.(*checkedWriter); ok {
		w = c.Writer
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	return int(f.Fd()), term.IsTerminal(int(f.Fd()))
}

func isTerminal(w io.Writer) bool {
	_, ok := terminalOf(w)
	return ok
}

func columnsOf(w io.Writer) int {
	const usual = 80
	if fd, ok := terminalOf(w); ok {
		if columns, _, err := term.GetSize(fd); err == nil && columns > 0 {
			return columns
		}
	}
	return usual
}
