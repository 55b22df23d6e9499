// Code generated from options.tmpl. DO NOT EDIT.

package haar

import (
	"context"

	"github.com/boxsum/boxsum/internal/engine"
)

// Options says how to evaluate many features; nil and the zero value mean the
// best for the machine. Little work uses fewer workers.
type Options struct {
	Workers  int                // goroutines at once, at most; 0 stands for GOMAXPROCS
	Context  context.Context    // stops the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // is told how much is done, see [boxsum.Options]
}

func engineOptions(o *Options) *engine.Options {
	if o == nil {
		return nil
	}
	return &engine.Options{Workers: o.Workers, Context: o.Context, Progress: o.Progress}
}
