package explore

import (
	"image"

	"github.com/boxsum/boxsum/internal/raster"
)

// The loops over the entries of upright tables, by the type of the sums. Differences of entries are those of the box only
// in that type, because integers wrap.

// sumsAlong holds the loops that store the sums of the parts of a box, each n pixels wide.
var sumsAlong = [raster.NumTypes]func(to []float64, t *raster.Array, box image.Rectangle, n, channel int){
	raster.U32: sumParts[uint32],
	raster.U64: sumParts[uint64],
	raster.F64: sumParts[float64],
}

func sumParts[S raster.Number](to []float64, t *raster.Array, box image.Rectangle, n, channel int) {
	c, sums := t.Channels, raster.Elems[S](t.Data)
	top, bottom := sums[box.Min.Y*t.Stride+channel:], sums[box.Max.Y*t.Stride+channel:]
	for x := range to {
		x0, x1 := box.Min.X+x*n, min(box.Min.X+(x+1)*n, box.Max.X)
		to[x] = float64(bottom[x1*c] - bottom[x0*c] - top[x1*c] + top[x0*c])
	}
}

// windowSums holds the loops that sum the windows of a row of the screen.
var windowSums = [raster.NumTypes]func(to []float64, t *raster.Array, c *windows, rows []span, channel int){
	raster.U32: sumWindows[uint32],
	raster.U64: sumWindows[uint64],
	raster.F64: sumWindows[float64],
}

func sumWindows[S raster.Number](to []float64, t *raster.Array, c *windows, rows []span, channel int) {
	sums := raster.Elems[S](t.Data)
	for i := range to {
		var sum S
		for _, r := range rows {
			top, bottom := sums[r.from*t.Stride+channel:], sums[r.to*t.Stride+channel:]
			for _, p := range c.spans[c.starts[i]:c.starts[i+1]] {
				sum += S(r.times*p.times) * (bottom[p.to] - bottom[p.from] - top[p.to] + top[p.from])
			}
		}
		to[i] = float64(sum)
	}
}
