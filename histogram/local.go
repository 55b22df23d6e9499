package histogram

import (
	"image"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// Local calls f with the histogram around every pixel and returns an image of the
// results. The histogram is that of one channel over the box of 2·radius+1 pixels a
// side that is centered on the pixel, clipped to the image. The time per pixel is
// proportional to the number of bins and does not depend on the radius. For 8-bit
// pixels in 256 bins, this is a median filter:
//
//	median, err := histogram.Local(table, 7, 0, func(h []uint32) uint8 { return uint8(histogram.Median(h)) }, nil)
//
// Local calls f from several goroutines at once, as many as opt allows; f must not
// retain h.
func Local[P boxsum.Pixel, S boxsum.Sum](t *Table[S], radius, channel int, f func(h []S) P, opt *Options) (boxsum.Image[P], error) {
	options := opt.engine()
	set, err := options.Check()
	if err != nil {
		return boxsum.Image[P]{}, err
	}
	if radius < 0 {
		return boxsum.Image[P]{}, raster.Invalid("radius is %d, want 0 or more", radius)
	}
	if t == nil {
		return boxsum.Image[P]{}, raster.NoTable()
	}
	if uint(channel) >= uint(t.Channels) {
		return boxsum.Image[P]{}, raster.Invalid("channel is %d, want 0 to %d", channel, t.Channels-1)
	}
	out, err := boxsum.NewImage[P](t.Width, t.Height, 1)
	if err != nil {
		return out, err
	}
	radius = min(radius, max(t.Width, t.Height)) // covers the whole image, and does not overflow
	workers := set.Workers()
	around := make([][]S, workers)
	err = set.Each(t.Height, workers, func(worker, y int) {
		if around[worker] == nil {
			around[worker] = make([]S, t.Bins.N)
		}
		h, row := around[worker], out.Row(y)
		for x := range row {
			t.write(h, image.Rect(x-radius, y-radius, x+radius+1, y+radius+1), channel)
			row[x] = f(h)
		}
	})
	return out, err
}
