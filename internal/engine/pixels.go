package engine

import (
	"iter"
	"math"

	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// sourceOf returns an array as a Source with pixels of its type.
func sourceOf[P kernel.Pixel](r *raster.Array) Source[P] {
	return Source[P]{Pix: raster.Elems[P](r.Data), Extent: r.Extent}
}

// A Source holds the pixels of an image or of a volume.
type Source[P any] struct {
	Pix []P
	raster.Extent
}

// Image makes s the source of an image.
func (s *Source[P]) Image(pix []P, width, height, channels, stride int) {
	s.Pix = pix
	s.SetPlane(width, height, channels, stride)
}

// Shifted returns rows of n float pixels minus an offset, without gaps, reusing the
// memory of have if it suffices. The difference is exact for pixels from half to twice
// the offset.
func Shifted(have, pix []byte, pixel raster.Type, stride, n, rows int, offset float32) []byte {
	have = AtLeast(have, rows*n*pixel.Bytes())
	if pixel == raster.F32 {
		shift(raster.Elems[float32](have), raster.Elems[float32](pix), stride, n, rows, offset)
	} else {
		shift(raster.Elems[float64](have), raster.Elems[float64](pix), stride, n, rows, float64(offset))
	}
	return have
}

func shift[P float32 | float64](to, pix []P, stride, n, rows int, offset P) {
	for r := range rows {
		to, row := to[r*n:][:n], pix[r*stride:][:n]
		for i, p := range row {
			to[i] = p - offset
		}
	}
}

const (
	// samples is the number of pixels along each axis that determine a center.
	samples = 8
	// farAway is the minimum distance of an image from zero, in units of its range of
	// values, for which a center is subtracted. Nearer images lose little to
	// cancellation, and keep tables of plain sums.
	farAway = 2
)

// Center returns a number in the middle of the range of float pixels if a sample of them
// shows that all lie far from zero, and 0 otherwise. Subtracting a number from all pixels
// does not change a variance, but it changes how the variance is rounded.
func Center(src *raster.Array) float32 { return center(src, nil) }

// center is [Center] for the float pixels that a mask selects; nil selects all.
func center(r, mask *raster.Array) float32 {
	var m *Source[uint8]
	if mask != nil {
		m = &Source[uint8]{Pix: mask.Data, Extent: mask.Extent}
	}
	if r.Type == raster.F32 {
		s := sourceOf[float32](r)
		return centerOf(&s, m)
	}
	s := sourceOf[float64](r)
	return centerOf(&s, m)
}

// centerOf is [Center] for the pixels that a mask selects; nil selects all. A sample
// that is not selected is replaced by the next pixel to its right, up to the next
// sample.
func centerOf[P kernel.Pixel](src *Source[P], mask *Source[uint8]) float32 {
	if len(src.Pix) == 0 {
		return 0
	}
	some := NoValues()
	n := src.Width * src.Channels
	for z := range min(samples, src.Depth) {
		for y := range min(samples, src.Height) {
			row := src.Pix[spread(z, src.Depth)*src.SliceStride+spread(y, src.Height)*src.Stride:]
			for x := range min(samples, n) {
				at := spread(x, n)
				if mask != nil {
					for end := min(n, spread(x+1, n)); at < end && !has(mask, at, spread(y, src.Height), src.Channels); at++ {
					}
					if at == min(n, spread(x+1, n)) {
						continue
					}
				}
				some.Add(float64(row[at]))
			}
		}
	}
	return some.Center()
}

// Samples returns an iterator over the indices of the pixels that determine a center.
func Samples(e *raster.Extent) iter.Seq[int] {
	return func(yield func(int) bool) {
		n := e.Width * e.Channels
		for z := range min(samples, e.Depth) {
			for y := range min(samples, e.Height) {
				for x := range min(samples, n) {
					if !yield(spread(z, e.Depth)*e.SliceStride + spread(y, e.Height)*e.Stride + spread(x, n)) {
						return
					}
				}
			}
		}
	}
}

// Values is a range of values.
type Values struct{ least, most float64 }

// NoValues returns the empty range.
func NoValues() Values { return Values{math.Inf(1), math.Inf(-1)} }

// Add extends the range to p if p is finite.
func (v *Values) Add(p float64) {
	if p-p == 0 {
		v.least, v.most = min(v.least, p), max(v.most, p)
	}
}

// Near reports whether the values are near enough to a center to use it.
func (v Values) Near(center float32) bool {
	return math.Abs(v.least+(v.most-v.least)/2-float64(center)) <= farAway*(v.most-v.least)
}

// Same reports whether there is at most one value.
func (v Values) Same() bool { return v.least >= v.most }

// Center returns a number in the middle of the range if it lies far from zero, and 0
// otherwise.
func (v Values) Center() float32 {
	middle, size := v.least+(v.most-v.least)/2, v.most-v.least
	if !(math.Abs(middle) > farAway*size) || math.Abs(middle) > math.MaxFloat32 {
		return 0
	}
	if size > 0 { // a center with few digits rounds fewer differences
		grain := math.Exp2(math.Floor(math.Log2(size)) - 3)
		middle = math.Round(middle/grain) * grain
	}
	return float32(middle)
}

// spread returns position i of samples evenly spread over a length.
func spread(i, length int) int {
	if length <= samples {
		return i
	}
	return (2*i + 1) * length / (2 * samples)
}
