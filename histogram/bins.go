package histogram

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/raster"
)

// MinBins and MaxBins are the smallest and the largest number of bins in a histogram.
const (
	MinBins = bins.Min
	MaxBins = bins.Max
)

// Bins divides the values from Low to High into N bins of equal width. If Low and High
// are both zero, the range is that of the pixel type, such as 0 to 256 for uint8. Only
// 8- and 16-bit pixels have such a default. [Over] fills it in.
type Bins struct {
	N         int
	Low, High float64

	// Clamp counts values below Low in the first bin and values above High in the last
	// bin. Otherwise they count in no bin.
	Clamp bool

	single bool // the edges are float32, like the pixels
}

func (b Bins) core() bins.Range {
	return bins.Range{N: b.N, Low: b.Low, High: b.High, Clamp: b.Clamp, Single: b.single}
}

func binsOf(r bins.Range) Bins {
	return Bins{N: r.N, Low: r.Low, High: r.High, Clamp: r.Clamp, single: r.Single}
}

// Edge returns the value at which bin i begins; for i = N it returns the end of the
// last bin. The result is bit-identical to that of NumPy's linspace(Low, High, N+1), in
// float32 for float32 pixels.
func (b Bins) Edge(i int) float64 { return b.core().Edge(i) }

// Center returns the value in the middle of bin i.
func (b Bins) Center(i int) float64 { return b.Edge(i)/2 + b.Edge(i+1)/2 }

// Index returns the bin of a value, or −1 if the value counts in no bin or the range is
// invalid.
func (b Bins) Index(value float64) int { return b.core().Index(value) }

// Over returns b completed for pixels of type P: if Low and High are both zero, it sets
// them to the range of the type. It returns an error if the range is missing or cannot
// be divided into N bins. For float32 pixels, it rounds the edges to float32 unless
// that would make two of them equal, so that a pixel of 0.1 lies on the edge 0.1.
func Over[P boxsum.Pixel](b Bins) (Bins, error) {
	r, err := b.core().Over(raster.TypeOf[P]())
	return binsOf(r), err
}
