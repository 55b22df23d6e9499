package histogram

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// MinBins and MaxBins are how many bins a histogram may have.
const (
	MinBins = 2
	MaxBins = kernel.MaxBins
)

// Bins cuts the values from Low to High into N bins of equal width. Low and
// High both zero stand for all values of 8- and 16-bit pixels, such as 0 to 256
// for uint8; other pixels need a range. [Over] fills in what pixels decide.
type Bins struct {
	N         int
	Low, High float64

	// Clamp counts what is below Low in the first bin and what is above High
	// in the last one, instead of in none.
	Clamp bool

	single bool // the edges are float32, as the pixels are
}

// Edge is the value at which bin i begins, and the end of the last one for i = N:
// bit for bit what NumPy's linspace(Low, High, N+1) gives, in float32 for float32
// pixels.
func (b Bins) Edge(i int) float64 {
	edge := b.High
	if i != b.N {
		// The conversion keeps processors that could from rounding once only.
		edge = b.Low + float64(float64(i)*((b.High-b.Low)/float64(b.N)))
	}
	if b.single {
		return float64(float32(edge))
	}
	return edge
}

// Center is the value in the middle of bin i.
func (b Bins) Center(i int) float64 { return b.Edge(i)/2 + b.Edge(i+1)/2 }

// Index is the bin of a value, and −1 if it counts in none, as all values do
// where the range is open or is none.
func (b Bins) Index(value float64) int {
	low, high := b.Edge(0), b.Edge(b.N)
	switch width := high - low; {
	case checkCount(b.N) != nil, !(width > 0), math.IsInf(width, 0):
		return -1
	case value >= low && value <= high:
		// What the division rounds to may be one off: the edges decide.
		i := min(int((value-low)/width*float64(b.N)), b.N-1)
		for i > 0 && value < b.Edge(i) {
			i--
		}
		for i < b.N-1 && value >= b.Edge(i+1) {
			i++
		}
		return i
	case b.Clamp && value < low:
		return 0
	case b.Clamp && value > high:
		return b.N - 1
	}
	return -1
}

func (b Bins) check() error {
	if err := checkCount(b.N); err != nil {
		return err
	}
	if b.Low == 0 && b.High == 0 {
		return nil
	}
	if width := b.High - b.Low; !(width > 0) || math.IsInf(width, 0) {
		return grid.Invalid("a range from %v to %v: both and their difference must be finite, and the second larger", b.Low, b.High)
	}
	b.single = false
	if !b.distinct() {
		return grid.Invalid("the range from %v to %v is too narrow for %d bins", b.Low, b.High, b.N)
	}
	return nil
}

// distinct reports whether the edges are finite, and each is above the one before.
func (b Bins) distinct() bool {
	for i := range b.N {
		if !(b.Edge(i) < b.Edge(i+1)) {
			return false
		}
	}
	return !math.IsInf(b.Edge(0), 0) && !math.IsInf(b.Edge(b.N), 0)
}

func checkCount(bins int) error {
	if bins < MinBins || bins > MaxBins {
		return grid.Invalid("%d bins: use %d to %d", bins, MinBins, MaxBins)
	}
	return nil
}

// Over is bins for pixels of type P: with the range that zeros stand for, and an
// error where that is missing or cannot be cut into this many bins. The edges for
// float32 pixels are float32 too, as far as those can be told apart, so that a
// pixel of 0.1 lies on the edge of that name.
func Over[P boxsum.Pixel](b Bins) (Bins, error) { return over(pairs.TypeOf[P](), b) }

func over(of pairs.Type, b Bins) (Bins, error) {
	if err := b.check(); err != nil {
		return b, err
	}
	b.single = of == pairs.F32
	if b.Low != 0 || b.High != 0 {
		b.single = b.single && b.distinct()
		return b, nil
	}
	switch of {
	case pairs.U8:
		b.High = 1 << 8
	case pairs.U16:
		b.High = 1 << 16
	case pairs.I16:
		b.Low, b.High = math.MinInt16, 1<<15
	default:
		return b, grid.Invalid("pixels of %v need a range: set Low and High", of)
	}
	return b, nil
}

// A numberer is Index as kernels take it, with the edges at hand.
type numberer struct {
	bins      Bins
	low, high float64 // the first edge and the last
	edges     [MaxBins + 1]float64
}

func newNumberer(b Bins) *numberer {
	n := &numberer{bins: b, low: b.Edge(0), high: b.Edge(b.N)}
	for i := range b.N + 1 {
		n.edges[i] = b.Edge(i)
	}
	return n
}

func (n *numberer) number(value float64) uint32 {
	if value >= n.low && value < n.high {
		i := min(int((value-n.low)/(n.high-n.low)*float64(n.bins.N)), n.bins.N-1)
		for value < n.edges[i] {
			i--
		}
		for value >= n.edges[i+1] {
			i++
		}
		return uint32(i)
	}
	if i := n.bins.Index(value); i >= 0 {
		return uint32(i)
	}
	return kernel.NoBin
}

// numbers is the bin of every value of 8- and 16-bit pixels, by their bits, and
// nil for others.
func numbers(of pairs.Type, n *numberer) []uint32 {
	var value func(bits int) float64
	size := 1 << 16
	switch of {
	case pairs.U8:
		size = 1 << 8
		value = func(bits int) float64 { return float64(bits) }
	case pairs.U16:
		value = func(bits int) float64 { return float64(bits) }
	case pairs.I16:
		value = func(bits int) float64 { return float64(int16(bits)) }
	default:
		return nil
	}
	all := make([]uint32, size)
	for bits := range all {
		all[bits] = n.number(value(bits))
	}
	return all
}
