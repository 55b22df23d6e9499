package moments

import (
	"context"

	"github.com/boxsum/boxsum/internal/engine"
)

// Options configures the computation of a table. Nil and the zero value select
// the best settings for the machine.
type Options struct {
	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

func (o *Options) engine() engine.Options {
	if o == nil {
		return engine.Options{}
	}
	return engine.Options{Workers: o.Workers, Context: o.Context, Progress: o.Progress}
}
