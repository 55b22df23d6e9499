package bins

import (
	"math"

	"github.com/boxsum/boxsum/internal/kernel/histograms"
	"github.com/boxsum/boxsum/internal/raster"
)

// Min and Max limit the number of bins of a histogram.
const (
	Min = 2
	Max = histograms.MaxBins
)

// A Range divides the values from Low to High into N bins of equal width. If Low and High are both zero,
// the range is all values of 8- and 16-bit pixels.
type Range struct {
	N         int
	Low, High float64
	Clamp     bool // values outside count in the first and the last bin
	Single    bool // the edges are float32, like the pixels
}

// Edge returns the value at which bin i begins; for i = N it returns the end of the last bin. The result
// is bit-identical to that of NumPy's linspace(Low, High, N+1), in float32 for float32 pixels.
func (r Range) Edge(i int) float64 {
	edge := r.High
	if i != r.N {
		// The conversion prevents a fused multiply-add, which would round only once.
		edge = r.Low + float64(float64(i)*((r.High-r.Low)/float64(r.N)))
	}
	if r.Single {
		return float64(float32(edge))
	}
	return edge
}

// Index returns the bin of a value, or −1 if it counts in none or the range is invalid.
func (r Range) Index(value float64) int {
	low, high := r.Edge(0), r.Edge(r.N)
	switch width := high - low; {
	case checkCount(r.N) != nil, !(width > 0), math.IsInf(width, 0):
		return -1
	case value >= low && value <= high:
		// The rounded quotient may be off by one, so the exact edges decide.
		i := min(int((value-low)/width*float64(r.N)), r.N-1)
		for i > 0 && value < r.Edge(i) {
			i--
		}
		for i < r.N-1 && value >= r.Edge(i+1) {
			i++
		}
		return i
	case r.Clamp && value < low:
		return 0
	case r.Clamp && value > high:
		return r.N - 1
	}
	return -1
}

// Check returns an error if a range is invalid for any type of pixels.
func (r Range) Check() error {
	if err := checkCount(r.N); err != nil {
		return err
	}
	if r.Low == 0 && r.High == 0 {
		return nil
	}
	if width := r.High - r.Low; !(width > 0) || math.IsInf(width, 0) {
		return raster.Invalid("range is %v to %v, want finite limits, the second one larger", r.Low, r.High)
	}
	r.Single = false
	if !r.distinct() {
		return raster.Invalid("range is %v to %v, too narrow for %d bins", r.Low, r.High, r.N)
	}
	return nil
}

// distinct reports whether the edges are finite and increasing.
func (r Range) distinct() bool {
	for i := range r.N {
		if !(r.Edge(i) < r.Edge(i+1)) {
			return false
		}
	}
	return !math.IsInf(r.Edge(0), 0) && !math.IsInf(r.Edge(r.N), 0)
}

func checkCount(n int) error {
	if n < Min || n > Max {
		return raster.Invalid("bins is %d, want %d to %d", n, Min, Max)
	}
	return nil
}

// Over returns the range for pixels of a type, with the defaults of that type. For
// float32 pixels, the edges are float32 too if they remain distinct, so that a pixel of
// 0.1 lies on the edge 0.1.
func (r Range) Over(pixel raster.Type) (Range, error) {
	if err := r.Check(); err != nil {
		return r, err
	}
	r.Single = pixel == raster.F32
	if r.Low != 0 || r.High != 0 {
		r.Single = r.Single && r.distinct()
		return r, nil
	}
	switch pixel {
	case raster.U8:
		r.High = 1 << 8
	case raster.U16:
		r.High = 1 << 16
	case raster.I16:
		r.Low, r.High = math.MinInt16, 1<<15
	default:
		return r, raster.Invalid("pixels of %v need a range (set Low and High)", pixel)
	}
	return r, nil
}

// A numberer finds the bins of pixels, like Index, with precomputed edges.
type numberer struct {
	of    Range
	pixel raster.Type
	edges [Max + 1]float64
	// values holds the bins of all values of 8- and 16-bit pixels, by the bits of the value.
	values []uint32
}

func newNumberer(r Range, pixel raster.Type) *numberer {
	n := &numberer{of: r, pixel: pixel}
	for i := range r.N + 1 {
		n.edges[i] = r.Edge(i)
	}
	switch pixel {
	case raster.U8:
		n.values = make([]uint32, 1<<8)
	case raster.U16, raster.I16:
		n.values = make([]uint32, 1<<16)
	}
	for bits := range n.values {
		value := float64(bits)
		if pixel == raster.I16 {
			value = float64(int16(bits))
		}
		n.values[bits] = n.number(value)
	}
	return n
}

func (n *numberer) number(value float64) uint32 {
	if low, high := n.edges[0], n.edges[n.of.N]; value >= low && value < high {
		i := min(int((value-low)/(high-low)*float64(n.of.N)), n.of.N-1)
		for value < n.edges[i] {
			i--
		}
		for value >= n.edges[i+1] {
			i++
		}
		return uint32(i)
	}
	if i := n.of.Index(value); i >= 0 {
		return uint32(i)
	}
	return histograms.NoBin
}

// numberRows holds functions that write the bins of a row of pixels, by pixel type.
var numberRows = [raster.NumTypes]func(dst []uint32, src []byte, n *numberer){
	raster.U8: func(dst []uint32, src []byte, n *numberer) {
		values := (*[1 << 8]uint32)(n.values)
		for i, v := range src[:len(dst)] {
			dst[i] = values[v]
		}
	},
	raster.U16: numberWords,
	raster.I16: numberWords, // indexed by the bits of the pixel
	raster.U32: numberRow[uint32],
	raster.U64: numberRow[uint64],
	raster.I32: numberRow[int32],
	raster.I64: numberRow[int64],
	raster.F32: numberRow[float32],
	raster.F64: numberRow[float64],
}

func numberWords(dst []uint32, src []byte, n *numberer) {
	values := (*[1 << 16]uint32)(n.values)
	for i, v := range raster.Elems[uint16](src)[:len(dst)] {
		dst[i] = values[v]
	}
}

func numberRow[P raster.Number](dst []uint32, src []byte, n *numberer) {
	for i, v := range raster.Elems[P](src)[:len(dst)] {
		dst[i] = n.number(float64(v))
	}
}
