package engine

import (
	"context"
	"fmt"
	"runtime"

	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Options are what all kinds of tables can be told; each package has those of
// its own that make sense there.
type Options struct {
	Workers  int    // at most; 0 stands for GOMAXPROCS
	Batch    int    // of how many images this is one; 0 and 1 stand for it alone
	Level    string // of [Levels]; "auto" and nothing stand for the last
	Context  context.Context
	Progress func(done float64)
}

// Settings are options that are known to be good.
type Settings struct {
	Level kernel.Level

	workers  int // 0 stands for GOMAXPROCS
	batch    int
	context  context.Context // nil if it is never done
	progress func(done float64)
}

// Auto is the name that stands for the best level.
const Auto = "auto"

// Levels are the names of the levels of this machine, slowest first.
func Levels() []string {
	var names []string
	for _, l := range kernel.Levels() {
		names = append(names, l.String())
	}
	return names
}

// Check fills in what zero values and nil stand for, and reports what is wrong. A
// context that is done is an error too.
func (o *Options) Check() (s Settings, err error) {
	err = o.check(&s)
	return s, err
}

func (o *Options) check(s *Settings) error {
	s.Level = kernel.Best()
	if o == nil {
		return nil
	}
	if o.Workers < 0 {
		return grid.Invalid("%d workers: use 1 or more, or 0 for as many as there are processors", o.Workers)
	}
	if o.Batch < 0 {
		return grid.Invalid("a batch of %d images: use 1 or more, or 0 where there is none", o.Batch)
	}
	s.workers, s.batch, s.progress = o.Workers, o.Batch, o.Progress
	if o.Level != "" && o.Level != Auto {
		for s.Level.String() != o.Level {
			if s.Level == kernel.Portable {
				return grid.Invalid("this machine has no level %q: use %s or one of %v", o.Level, Auto, Levels())
			}
			s.Level--
		}
	}
	if o.Context != nil && o.Context.Done() != nil {
		s.context = o.Context
	}
	return s.Stopped()
}

// Workers is how many goroutines may work at once.
func (s *Settings) Workers() int { return atOnce(s.workers) }

// atOnce is a number of workers, 0 standing for GOMAXPROCS, and never more than that:
// a worker whom others wait for should not itself wait for a processor. Asking
// takes a lock of the scheduler, so whoever has work for one does not.
func atOnce(workers int) int {
	all := runtime.GOMAXPROCS(0)
	if workers == 0 {
		return all
	}
	return min(workers, all)
}

// Stopped is the error of work whose context is done, and nil while it is not.
func (s *Settings) Stopped() error {
	if s.context == nil {
		return nil
	}
	if err := s.context.Err(); err != nil {
		return fmt.Errorf("boxsum: stopped before it was done: %w", err)
	}
	return nil
}

// Quiet are the same settings without reports: a stream has no end to be near to.
func (s Settings) Quiet() Settings {
	s.progress = nil
	return s
}

// Report tells how far the work is, from 0 to 1. It is for the caller's goroutine.
func (s *Settings) Report(done float64) {
	if s.progress != nil {
		s.progress(done)
	}
}

// CheckOffset reports whether sums of type S take an offset from pixels.
func CheckOffset[S any](pixel pairs.Type, offset float32) error {
	if offset-offset != 0 {
		return grid.Invalid("an offset of %v", offset)
	}
	if _, small := any(*new(S)).(float32); offset != 0 && !small && !(pairs.Of[S]().Float() && pixel.Float()) {
		return grid.Types("an offset is for float pixels and for float32 sums, not for %v in %T", pixel, *new(S))
	}
	return nil
}
