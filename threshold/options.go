package threshold

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options controls how the work is done. Nil and the zero value choose the best for the
// machine.
type Options struct {
	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level is the best available
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // called with the fraction done, see [boxsum.Options]
}

func engineOptions(o *Options) *engine.Options {
	if o == nil {
		return nil
	}
	return &engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}
