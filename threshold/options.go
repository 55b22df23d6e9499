package threshold

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options configures the computation. Nil and the zero value select the best settings for
// the machine.
type Options struct {
	// On is the device to use; nil selects the processor. See [boxsum.Options.On]. Images stay
	// in host memory. Devices support the method Sauvola for uint8 and uint16 images and MeanC
	// for uint8 images, with the same decisions as the processor, but not [Map]. Everything
	// else returns an error, and so do windows of more than 65535 pixels a side, of more than
	// 16843009 pixels for uint8, and of more than 65535 pixels for uint16. For Sauvola, OpenCL
	// devices must support float64. Large images are divided as described in
	// [filter.Options.On].
	On boxsum.Device

	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// set sets the options of a job.
func (o *Options) set(to *engine.Options) {
	to.On, to.Workers, to.Level, to.Context, to.Progress = o.On, o.Workers, o.Level.String(), o.Context, o.Progress
}
