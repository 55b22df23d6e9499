package rotated

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options configures how a table is made. Nil and the zero value select the best
// settings for the machine. Rotated tables have no offset; sum float32 pixels in
// float64 instead. A device needs memory for the image and a whole table.
type Options struct {
	On       boxsum.Device      // device to use, see [boxsum.Options]; nil selects the processor
	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never cancels
	Progress func(done float64) // receives the fraction done, see [boxsum.Options]
}

func (o *Options) engine() engine.Options {
	if o == nil {
		return engine.Options{}
	}
	return engine.Options{On: o.On, Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}
