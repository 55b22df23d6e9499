package tables

import (
	"errors"
	"fmt"
	"image"
	"iter"
	"math"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/sketch"
)

// histogramWork holds a histogram table of any type, the edges of its bins, and how it was made.
type histogramWork struct {
	tableSet
	bins  bins.Range
	bytes int64 // size of the table
	whole bool  // every bin holds a single integer value
	took  time.Duration
	img   raster.Array
	of    func(box image.Rectangle, channel int) channelHistogram
	boxes []boxHistogram // the requested boxes
}

// A channelHistogram is the histogram of one channel of a box.
type channelHistogram struct {
	counts       any // in the table's type
	sizes        []float64
	texts        []string // counts with all digits
	median, mode int
	entropy      float64
}

// newHistogram makes the table of an image.
func newHistogram(c *Histogram, img, weights raster.Array, device *gpu.Device, opt *boxsum.Options) (*histogramWork, error) {
	e := imagefile.ExtentOf(img)
	bytes, err := histogram.Bytes[uint32](e.Width, e.Height, e.Channels, c.Bins)
	if err != nil {
		return nil, err
	}
	if weights.Type == 0 {
		c.announce(bytes)
		return madeHistogram(raster.U32, img, weights, c, onDevice(device, opt))
	}
	c.announce(2 * bytes)
	if !imagefile.IsImage(weights.Type) {
		return nil, fmt.Errorf("weights have type %v, want integers of at most 32 bits or floats", weights.Type)
	}
	if err := c.checkWeights(imagefile.ExtentOf(weights), e); err != nil {
		return nil, err
	}
	sum := raster.U64 // 64-bit sums of integer weights are exact
	switch kind := weights.Type; {
	case kind.Float():
		sum = raster.F64
	case kind.Signed():
		sum = raster.I64
	}
	return madeHistogram(sum, img, weights, c, opt)
}

func (c *Histogram) checkWeights(weights, img imagefile.Extent) error {
	if weights.Width != img.Width || weights.Height != img.Height || weights.Channels != 1 {
		return fmt.Errorf("--weights %s is %d×%d with %s, want %d×%d with 1 channel",
			c.Weights, weights.Width, weights.Height, display.Count(weights.Channels, "channel"), img.Width, img.Height)
	}
	return nil
}

// checkFinite refuses weights that are not finite, because they would affect the sums of boxes that
// do not contain them.
func checkFinite(src raster.Array, c *Histogram) error {
	if !src.Type.Float() {
		return nil // integers are finite, and there may be no weights
	}
	var row []float64
	for y := range src.Height {
		row = src.Floats(row[:0], y, 0, src.Width, 1)
		for x, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("--weights %s: the weight at (%d,%d) is %g, want finite numbers", c.Weights, x, y, v)
			}
		}
	}
	return nil
}

// madeHistogram makes and times a table. It allocates memory first, so that an error appears before
// any long work.
func madeHistogram(sum raster.Type, src, weights raster.Array, c *Histogram, opt *boxsum.Options) (*histogramWork, error) {
	e := imagefile.ExtentOf(src)
	t, err := bins.New(sum, e.Width, e.Height, e.Channels, bins.Range{N: c.Bins})
	if err != nil {
		return nil, err
	}
	if t.Range, err = c.rangeFor(src); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := checkFinite(weights, c); err != nil {
		return nil, err
	}
	job, err := bins.Check(sum, src, weights, engineOptions(opt))
	if err != nil {
		return nil, err
	}
	if err := job.Fill(&t); err != nil {
		return nil, err
	}
	took := max(time.Since(start), 1)
	row := (e.Width + 1) * e.Channels * t.Range.N
	rows := raster.Array{Data: t.Counts.Data, Type: sum, Extent: raster.PlaneExtent(row, e.Height+1, 1, row)}
	return &histogramWork{
		tableSet: tableSet{Extent: e, layers: histogramLayers(e, t.Range, rows)},
		bins:     t.Range, bytes: int64(len(t.Counts.Data)), took: took,
		whole: !src.Type.Float() && t.Range.High-t.Range.Low == float64(t.Range.N) && t.Range.Low == math.Trunc(t.Range.Low),
		img:   src,
		of: func(box image.Rectangle, channel int) channelHistogram {
			counts := raster.Aligned(t.Range.N * sum.Bytes())
			t.Histogram(counts, box, channel)
			return countForms[sum](counts)
		},
	}, nil
}

// countForms holds functions that describe a histogram, by the type of its counts.
var countForms = [raster.NumTypes]func(counts []byte) channelHistogram{
	raster.U32: histogramOf[uint32],
	raster.U64: histogramOf[uint64],
	raster.I64: histogramOf[int64],
	raster.F64: histogramOf[float64],
}

func histogramOf[S boxsum.Sum](memory []byte) channelHistogram {
	counts := raster.Elems[S](memory)
	h := channelHistogram{counts: counts, median: histogram.Median(counts), mode: histogram.Mode(counts), entropy: histogram.Entropy(counts)}
	for _, n := range counts {
		h.sizes, h.texts = append(h.sizes, float64(n)), append(h.texts, digits(n))
	}
	if raster.TypeOf[S]() == raster.F64 {
		h.counts = display.Finites(h.sizes)
	}
	return h
}

// histogramLayers returns the counts and the edges of their bins as layers.
func histogramLayers(e imagefile.Extent, bins bins.Range, counts raster.Array) []outputTable {
	edges := make([]float64, bins.N+1)
	for i := range edges {
		edges[i] = bins.Edge(i)
	}
	return []outputTable{
		{name: "histogram", sum: counts.Type, shape: append(e.Shape(), bins.N), entries: func() iter.Seq[raster.Array] { return singlePart(counts) }},
		{name: "edges", sum: raster.F64, shape: []int{len(edges)}, entries: func() iter.Seq[raster.Array] { return singlePart(oneRow(raster.F64, raster.Bytes(edges))) }},
	}
}

// show renders the image, with the range of the bins mapped from black to white. NaN is black.
func (w *histogramWork) show() image.Image {
	return sketch.Paint(w.img, func(p float64) uint8 {
		return uint8(min(max((p-w.bins.Low)/(w.bins.High-w.bins.Low), 0), 1) * 255)
	})
}

func (w *histogramWork) written() int64 { return w.bytes }

func (w *histogramWork) picture() image.Image { return drawHistograms(w.show(), w, w.boxes) }

// rangeFor returns the requested bins. Without --range they span the pixels of the image.
func (c *Histogram) rangeFor(img raster.Array) (bins.Range, error) {
	pixel := img.Type
	r := bins.Range{N: c.Bins, Low: c.Range.Low, High: c.Range.High, Clamp: c.Clamp}
	if pixel.Bytes() <= 2 || c.Range.Given {
		return r.Over(pixel)
	}
	low, high := sketch.Range(img)
	switch {
	case low > high:
		return r, errors.New("the image has no finite pixels: give the values to count with --range LOW,HIGH")
	case math.IsInf(high-low, 0):
		return r, fmt.Errorf("pixels range from %g to %g, too far apart for bins: give the values to count with --range LOW,HIGH", low, high)
	}
	// If all pixels are nearly equal, center them in a wider range: of width 1, as NumPy does, or
	// more if that is too narrow to divide.
	for _, apart := range []float64{0, 0.5, max(math.Abs(low), math.Abs(high)) / 1e6} {
		r.Low, r.High = max(low-apart, -math.MaxFloat64), min(high+apart, math.MaxFloat64)
		if wider, err := r.Over(pixel); err == nil && r.Low < r.High {
			return wider, nil
		}
	}
	return r.Over(pixel)
}
