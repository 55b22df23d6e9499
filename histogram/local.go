package histogram

import (
	"fmt"
	"image"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/boxsum/boxsum"
)

// Local makes an image of what f says of the histogram round every pixel: of
// one channel, over the box of 2·radius+1 pixels a side with the pixel in its
// middle, clipped to the image. It takes as many steps a pixel as there are
// bins, whatever the radius. A median filter is
//
//	median, err := histogram.Local(table, 7, 0, func(h []uint32) uint8 { return uint8(histogram.Median(h)) }, nil)
//
// for 8-bit pixels in 256 bins. Several goroutines call f at once, as many as
// opt allows; it must not keep h.
func Local[P boxsum.Pixel, S boxsum.Sum](t *Table[S], radius, channel int, f func(h []S) P, opt *boxsum.Options) (boxsum.Image[P], error) {
	if _, err := levelOf(opt); err != nil {
		return boxsum.Image[P]{}, err
	}
	if radius < 0 {
		return boxsum.Image[P]{}, fmt.Errorf("histogram: %w: a radius of %d", boxsum.ErrInvalid, radius)
	}
	if t == nil || uint(channel) >= uint(t.Channels) {
		return boxsum.Image[P]{}, fmt.Errorf("histogram: %w: the table has no channel %d", boxsum.ErrInvalid, channel)
	}
	out, err := boxsum.NewImage[P](t.Width, t.Height, 1)
	if err != nil {
		return out, fmt.Errorf("histogram: %w", err)
	}
	radius = min(radius, max(t.Width, t.Height)) // which covers all, and does not overflow
	workers := runtime.GOMAXPROCS(0)
	if opt != nil && opt.Workers > 0 {
		workers = opt.Workers
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(workers, t.Height) {
		all.Go(func() {
			h := make([]S, t.Bins.N)
			for y := int(next.Add(1)) - 1; y < t.Height; y = int(next.Add(1)) - 1 {
				row := out.Row(y)
				for x := range row {
					t.write(h, image.Rect(x-radius, y-radius, x+radius+1, y+radius+1), channel)
					row[x] = f(h)
				}
			}
		})
	}
	all.Wait()
	return out, nil
}
