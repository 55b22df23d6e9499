package engine

import (
	"iter"
	"math"

	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Pixels is what a table of sums S, or of squares, is to know of the pixels of an
// image or volume that was found good. Where only few of their type are sure to fit,
// it looks at all of them if asked to.
func Pixels[S kernel.Sum](src *Raw, squares, look bool) exact.Pixels {
	most := exact.MostOf[S](exact.Magnitude(src.Type), squares)
	if look && most <= 4 && len(src.Pix) > 0 {
		if src.bound == 0 {
			src.bound = max(1, src.largest())
		}
		most = exact.MostOf[S](src.bound, squares)
	}
	return exact.Pixels{Most: most}
}

// largest is [exact.Bound] of all pixels, which is for those of 32 bits.
func (r *Raw) largest() uint64 {
	if r.Type == pairs.I32 {
		s := sourceOf[int32](r)
		return Bound(&s)
	}
	s := sourceOf[uint32](r)
	return Bound(&s)
}

// sourceOf is a raw as the source that it is.
func sourceOf[P kernel.Pixel](r *Raw) Source[P] {
	return Source[P]{Pix: kernel.Of[P](r.Pix), Extent: r.Extent}
}

// Bound is [exact.Bound] of all pixels.
func Bound[P kernel.Pixel](src *Source[P]) uint64 { return exact.Bound(src.rows()) }

// rows is all rows of pixels.
func (s *Source[P]) rows() iter.Seq[[]P] {
	return func(yield func([]P) bool) {
		for z := range s.Depth {
			for y := range s.Height {
				if !yield(s.Pix[z*s.SliceStride+y*s.Stride:][:s.Width*s.Channels]) {
					return
				}
			}
		}
	}
}

// Shifts reports whether an offset is taken away before the kernel gets the pixels:
// those of float32 sums do it themselves.
func (t *Target[S]) Shifts() bool { return t.Offset != 0 && t.KernelOffset() == 0 }

// shift is what is taken away before the kernel gets the pixels.
func (t *Target[S]) shift() float32 {
	if t.Shifts() {
		return t.Offset
	}
	return 0
}

// KernelOffset is what is left of the offset for the kernel.
func (t *Target[S]) KernelOffset() float32 {
	if _, ok := any(*new(S)).(float32); ok {
		return t.Offset
	}
	return 0
}

// Shifted is rows of n float pixels less an offset, without gaps, in the memory of
// have where it is enough. The difference is exact for pixels from half to twice the
// offset.
func Shifted(have, pix []byte, pixel pairs.Type, stride, n, rows int, offset float32) []byte {
	have = AtLeast(have, rows*n*pixel.Bytes())
	if pixel == pairs.F32 {
		shift(kernel.Of[float32](have), kernel.Of[float32](pix), stride, n, rows, offset)
	} else {
		shift(kernel.Of[float64](have), kernel.Of[float64](pix), stride, n, rows, float64(offset))
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
	// samples is how many pixels along each axis a center is taken from.
	samples = 8
	// farAway is how many times its range of values an image must lie away from
	// zero for a center: nearer ones lose little to cancellation, and keep tables
	// that are the plain sums.
	farAway = 2
)

// Center is a number in the middle of pixels that all lie far from zero, as a few
// of them tell, and 0 of others. Variances do not depend on what is taken away from
// all pixels, but their rounding does.
func Center[P kernel.Pixel](src *Source[P]) float32 { return centerOf(src, nil) }

// center is [Center] of float pixels that a mask has; nil has all.
func (r *Raw) center(mask *Source[uint8]) float32 {
	if r.Type == pairs.F32 {
		s := sourceOf[float32](r)
		return centerOf(&s, mask)
	}
	s := sourceOf[float64](r)
	return centerOf(&s, mask)
}

// centerOf is [Center] of the pixels that a mask has; nil has all. A sample that it has
// not is taken from the next on the right, as far as there is no other.
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

// Samples is where in an image or a volume the pixels are that a center is taken from.
func Samples(e *grid.Extent) iter.Seq[int] {
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

// Values is the range of some values.
type Values struct{ least, most float64 }

// NoValues is the range of none.
func NoValues() Values { return Values{math.Inf(1), math.Inf(-1)} }

// Add adds a value, if it is a finite number.
func (v *Values) Add(p float64) {
	if p-p == 0 {
		v.least, v.most = min(v.least, p), max(v.most, p)
	}
}

// Near reports whether values do not lie far from a center, so that it will do for
// them.
func (v Values) Near(center float32) bool {
	return math.Abs(v.least+(v.most-v.least)/2-float64(center)) <= farAway*(v.most-v.least)
}

// Same reports whether there is one value at most.
func (v Values) Same() bool { return v.least >= v.most }

// Center is a number in the middle of values that all lie far from zero, and 0 of
// others.
func (v Values) Center() float32 {
	middle, size := v.least+(v.most-v.least)/2, v.most-v.least
	if !(math.Abs(middle) > farAway*size) || math.Abs(middle) > math.MaxFloat32 {
		return 0
	}
	if size > 0 { // few digits, so that fewer differences are rounded
		grain := math.Exp2(math.Floor(math.Log2(size)) - 3)
		middle = math.Round(middle/grain) * grain
	}
	return float32(middle)
}

// spread is place i of samples in a length, evenly spread.
func spread(i, length int) int {
	if length <= samples {
		return i
	}
	return (2*i + 1) * length / (2 * samples)
}
