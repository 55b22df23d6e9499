package threshold

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options says how to work; nil and the zero value mean the best for the machine.
type Options struct {
	Workers  int                // goroutines at once, at most; 0 stands for GOMAXPROCS
	Level    boxsum.Level       // the instruction set; the zero Level is the best
	Context  context.Context    // stops the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // is told how much is done, see [boxsum.Options]
}

func engineOptions(o *Options) *engine.Options {
	if o == nil {
		return nil
	}
	return &engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}
