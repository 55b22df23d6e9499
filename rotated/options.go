package rotated

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options configures the computation of a table. Nil and the zero value select
// the best settings for the machine. Unlike [boxsum.Options], there is no
// offset; sum float32 pixels in float64 instead. A device needs enough memory
// for the image and a whole table.
type Options struct {
	On       boxsum.Device      // device to use, as in [boxsum.Options]; nil selects the processor
	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

func (o *Options) engine() engine.Options {
	if o == nil {
		return engine.Options{}
	}
	return engine.Options{On: o.On, Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}
