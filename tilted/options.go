package tilted

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Options configures the computation of a table. Nil and the zero value select the best
// settings for the machine. Unlike [boxsum.Options], there is no offset; sum float32
// pixels in float64 instead. A device needs enough memory for the image and a whole
// table.
type Options struct {
	On       boxsum.Device      // device to use, as in [boxsum.Options]; nil selects the processor
	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // canceling it stops the work; may be nil
	Progress func(done float64) // called with the fraction of the work that is done; may be nil
}

// start sets up the job of making the table of an image, and that of its squares unless
// squares is 0.
func start[P boxsum.Pixel](j *engine.Job, src *boxsum.Image[P], sums, squares raster.Type, o *Options) {
	raster.SetPlane(&j.Src, src.Pix, src.Width, src.Height, src.Channels, src.Stride)
	j.Kind, j.Sums.Type, j.Squares.Type = engine.Tilted, sums, squares
	if o != nil {
		j.Options = engine.Options{On: o.On, Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
	}
}
