package hog

import "math"

// Constants of OpenCV's arctangent in degrees, a polynomial in min/max of |dx| and |dy|.
const (
	degrees = float32(180 / math.Pi)
	radians = float32(math.Pi / 180)
)

var (
	atan1 = float32(0.9997878412794807) * degrees
	atan3 = float32(-0.3258083974640975) * degrees
	atan5 = float32(0.1555786518463281) * degrees
	atan7 = float32(-0.04432655554792128) * degrees
)

const (
	// OpenCV computes rows in chunks of this many pixels. In chunks shorter than atanShort, it
	// rounds angles above 45° differently.
	atanChunk = 1024
	atanShort = 16
	// colorLanes is the number of pixels whose strongest channel OpenCV selects together. Those
	// left over prefer another channel if two are equal.
	colorLanes = 4
)

// A gradientRow receives gradients: their magnitude is divided between a bin and the next one.
type gradientRow struct {
	first, second []float32
	bins          []uint8
}

// gradients computes the gradients of pixels in columns x0 and further of an image of the given
// width, with its border. Each row of up, middle and down holds one channel of brightness,
// blue first, from column x0-1 on.
func (d *Descriptor) gradients(to gradientRow, up, middle, down [][]float32, x0, width int) {
	single := atanFrom(width)
	bins := d.config.Bins
	for i := range to.bins {
		x := x0 + i
		dx, dy := middle[0][i+2]-middle[0][i], down[0][i+1]-up[0][i+1]
		if len(middle) == 3 {
			dx, dy = strongest(up, middle, down, i, x >= width&^(colorLanes-1))
		}
		magnitude := float32(math.Sqrt(float64(fma32(dx, dx, float32(dy*dy)))))
		theta := float32(float32(angleOf(dx, dy, x >= single)*radians)*d.angle) - 0.5
		low := float32(math.Floor(float64(theta)))
		part := theta - low
		bin := int(low)
		if bin < 0 {
			bin += bins
		} else if bin >= bins {
			bin -= bins
		}
		to.first[i], to.second[i], to.bins[i] = magnitude*(1-part), magnitude*part, uint8(bin)
	}
}

// atanFrom returns the first column of a row that is in a short chunk.
func atanFrom(width int) int {
	if rest := width % atanChunk; rest < atanShort {
		return width - rest
	}
	return width
}

// strongest returns the largest gradient of three channels. If two are equal, it is the first
// or, with last set, the last.
func strongest(up, middle, down [][]float32, i int, last bool) (dx, dy float32) {
	best := float32(-1)
	for c := range middle {
		x, y := middle[c][i+2]-middle[c][i], down[c][i+1]-up[c][i+1]
		size := float32(x*x) + float32(y*y)
		if size > best || last && size == best {
			best, dx, dy = size, x, y
		}
	}
	return dx, dy
}

// angleOf returns the angle of a gradient in degrees, from 0 to 360.
func angleOf(dx, dy float32, short bool) float32 {
	x, y := abs32(dx), abs32(dy)
	c := min(x, y) / (max(x, y) + 0x1p-52)
	s := float32(c * c)
	q := fma32(fma32(fma32(s, atan7, atan5), s, atan3), s, atan1)
	a := float32(q * c)
	if x < y {
		if a = 90 - a; short {
			a = fma32(-q, c, 90)
		}
	}
	if dx < 0 {
		a = 180 - a
	}
	if dy < 0 {
		a = 360 - a
	}
	return a
}

func abs32(v float32) float32 { return float32(math.Abs(float64(v))) }
