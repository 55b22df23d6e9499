package tilted

import (
	"context"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Options configures how a table is made. Nil and the zero value select the best
// settings for the machine. Tilted tables have no offset; sum float32 pixels in float64
// instead. A device needs memory for the image and a whole table.
type Options struct {
	On       boxsum.Device      // device to use, see [boxsum.Options]; nil selects the processor
	Workers  int                // maximum number of goroutines; 0 means GOMAXPROCS
	Level    boxsum.Level       // instruction set; the zero Level selects the best
	Context  context.Context    // cancels the work, see [boxsum.Options]; nil never cancels
	Progress func(done float64) // receives the fraction done, see [boxsum.Options]
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
