package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Options is [boxsum.Options]; all fields have the same meaning for volumes.
type Options = boxsum.Options

// start sets up the job of making the table of a volume, and that of its squares unless
// squares is 0.
func start[P boxsum.Pixel](j *engine.Job, src *Volume[P], sums, squares raster.Type, o *Options) {
	j.Kind, j.Src = engine.Volume, raster.ArrayOf(src.Pix, src.extent())
	j.Sums.Type, j.Squares.Type = sums, squares
	if o != nil {
		j.Options = engine.Options{
			On: o.On, BandRows: o.BandRows, Workers: o.Workers, Level: o.Level.String(), Batch: o.Batch, Context: o.Context, Progress: o.Progress,
		}
		j.Offset, j.Plain = o.Offset, o.Plain
	}
}
