package threshold

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options controls how the work is done. Nil and the zero value choose the best for the
// machine.
type Options struct {
	// On is the device to use, see [boxsum.Options]; nil selects the processor. Images stay
	// in host memory. Devices support everything but Map by the methods Sauvola, of uint8
	// and uint16, and MeanC, of uint8, with the decisions of the processor; anything else is
	// an error, and so are windows of more than 65535 pixels a side or 16843009 in total, or,
	// for uint16, 65535 in total. For Sauvola, OpenCL devices must support float64. Large
	// images are divided as by [filter.Options].
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level is the best available
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // called with the fraction done, see [boxsum.Options]
}

// set sets the options of a job.
func (o *Options) set(to *engine.Options) {
	to.On, to.Workers, to.Level, to.Context, to.Progress = o.On, o.Workers, o.Level.String(), o.Context, o.Progress
}
