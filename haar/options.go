package haar

import (
	"context"

	"github.com/boxsum/boxsum/internal/engine"
)

// Options configures the evaluation of many features. Nil and the zero value select the
// best settings for the machine. Small jobs use fewer workers.
type Options struct {
	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never cancels
	Progress func(done float64) // receives the fraction done, see [boxsum.Options]
}

func (o *Options) engine() engine.Options {
	if o == nil {
		return engine.Options{}
	}
	return engine.Options{Workers: o.Workers, Context: o.Context, Progress: o.Progress}
}
