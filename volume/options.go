package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Options is [boxsum.Options]. All fields have the same meaning for volumes.
type Options = boxsum.Options

// start sets up the job of making the table of a volume, and that of its squares unless
// squares is 0.
func start[P boxsum.Pixel](j *engine.Job, src *Volume[P], sums, squares raster.Type, o *Options) {
	raster.SetVolume(&j.Src, src.Pix, src.Width, src.Height, src.Depth, src.Channels, src.Stride, src.SliceStride)
	j.Kind, j.Sums.Type, j.Squares.Type = engine.Volume, sums, squares
	if o != nil {
		j.Options = engine.Options{
			On: o.On, BandRows: o.BandRows, Workers: o.Workers, Level: o.Level.String(), Batch: o.Batch, Context: o.Context, Progress: o.Progress,
		}
		j.Offset, j.Plain = o.Offset, o.Plain
	}
}
