package cli

import (
	"errors"
	"fmt"
	"image"
	"iter"
	"math"
	"time"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/anytable"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/sketch"
)

// histogramWork is a table, whatever its type, with the edges of its bins, and how it came about.
type histogramWork struct {
	tableSet
	bins  histogram.Bins
	bytes int64 // of the table
	whole bool  // every bin is one whole number
	took  time.Duration
	img   any // the pixels
	of    func(box image.Rectangle, channel int) channelHistogram
	boxes []boxHistogram // that were asked for
}

// A channelHistogram is that of a box in one channel.
type channelHistogram struct {
	counts       any // as they are
	sizes        []float64
	texts        []string // every digit of them
	median, mode int
	entropy      float64
}

// newHistogram makes the table of an image.
func newHistogram(c *histogramCmd, img, weights any, device *gpu.Device, opt *boxsum.Options) (*histogramWork, error) {
	e := extentOf(img)
	bytes, err := histogram.Bytes[uint32](e.Width, e.Height, e.Channels, c.Bins)
	if err != nil {
		return nil, err
	}
	if weights == nil {
		c.announce(bytes)
		return madeHistogram(img, c, func(t *histogram.Table[uint32]) error {
			return anytable.IntegrateHistogram(t, img, histogramOptions(onDevice(device, opt)))
		})
	}
	c.announce(2 * bytes)
	kind := pixelOf(weights)
	if !isImage(weights) {
		return nil, fmt.Errorf("there are no weights of %T", weights)
	}
	if err := c.checkWeights(extentOf(weights), e); err != nil {
		return nil, err
	}
	weigh := func(table any) error {
		if err := checkFinite(weights, c); err != nil {
			return err
		}
		return anytable.IntegrateWeights(table, img, weights, histogramOptions(opt))
	}
	switch { // sums of whole weights in 64 bits stay exact
	case kind.Float():
		return madeHistogram(img, c, func(t *histogram.Table[float64]) error { return weigh(t) })
	case kind.Signed():
		return madeHistogram(img, c, func(t *histogram.Table[int64]) error { return weigh(t) })
	}
	return madeHistogram(img, c, func(t *histogram.Table[uint64]) error { return weigh(t) })
}

func (c *histogramCmd) checkWeights(weights, img extent) error {
	if weights.Width != img.Width || weights.Height != img.Height || weights.Channels != 1 {
		return fmt.Errorf("--weights %s: weights of %d×%d with %s for an image of %d×%d: they take its size and one channel",
			c.Weights, weights.Width, weights.Height, count(weights.Channels, "channel"), img.Width, img.Height)
	}
	return nil
}

// checkFinite refuses weights that are not finite: they would be in the sums of
// boxes that do not hold them.
func checkFinite(weights any, c *histogramCmd) error {
	src := pixels.Of(weights)
	if !src.Type.Float() {
		return nil // integers are
	}
	var row []float64
	for y := range src.Height {
		row = src.Floats(row[:0], y, 0, src.Width, 1)
		for x, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("--weights %s: the weight at (%d,%d) is %g: weights must be finite", c.Weights, x, y, v)
			}
		}
	}
	return nil
}

// madeHistogram times how a table is made. Its memory comes first, so that there
// is an error before anything else takes long or takes memory.
func madeHistogram[S boxsum.Sum](img any, c *histogramCmd, integrate func(*histogram.Table[S]) error) (*histogramWork, error) {
	e := extentOf(img)
	t, err := histogram.NewTable[S](e.Width, e.Height, e.Channels, histogram.Bins{N: c.Bins})
	if err != nil {
		return nil, err
	}
	if t.Bins, err = binsFor(img, c); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := integrate(t); err != nil {
		return nil, err
	}
	row := (t.Width + 1) * t.Channels * t.Bins.N
	rows := raster.ArrayOf(t.Counts, raster.PlaneExtent(row, t.Height+1, 1, row))
	return &histogramWork{
		tableSet: tableSet{extent: e, layers: histogramLayers(e, t.Bins, rows)},
		bins:     t.Bins, bytes: int64(len(t.Counts)) * int64(unsafe.Sizeof(*new(S))), took: max(time.Since(start), 1),
		whole: !pixelOf(img).Float() && t.Bins.High-t.Bins.Low == float64(t.Bins.N) && t.Bins.Low == math.Trunc(t.Bins.Low),
		img:   img,
		of: func(box image.Rectangle, channel int) channelHistogram {
			counts := t.Histogram(nil, box, channel)
			h := channelHistogram{counts: counts, median: histogram.Median(counts), mode: histogram.Mode(counts), entropy: histogram.Entropy(counts)}
			for _, n := range counts {
				h.sizes, h.texts = append(h.sizes, float64(n)), append(h.texts, digits(n))
			}
			if _, ok := any(counts).([]float64); ok {
				h.counts = finites(h.sizes)
			}
			return h
		},
	}, nil
}

// histogramLayers are the counts and the edges of their bins.
func histogramLayers(e extent, bins histogram.Bins, counts raster.Array) []layer {
	edges := make([]float64, bins.N+1)
	for i := range edges {
		edges[i] = bins.Edge(i)
	}
	return []layer{
		{name: "histogram", sum: counts.Type, shape: append(e.shape(), bins.N), entries: func() iter.Seq[raster.Array] { return one(counts) }},
		{name: "edges", sum: raster.F64, shape: []int{len(edges)}, entries: func() iter.Seq[raster.Array] { return one(oneRow(raster.F64, raster.Bytes(edges))) }},
	}
}

// show is the pixels to look at, the range of the bins from black to white; a NaN is black.
func (w *histogramWork) show() image.Image {
	return sketch.Paint(w.img, func(p float64) uint8 {
		return uint8(min(max((p-w.bins.Low)/(w.bins.High-w.bins.Low), 0), 1) * 255)
	})
}

func (w *histogramWork) written() int64       { return w.bytes }
func (w *histogramWork) picture() image.Image { return drawHistograms(w.show(), w, w.boxes) }

// binsFor is the bins that were asked for, over the pixels of the image where no
// range was.
func binsFor(img any, c *histogramCmd) (histogram.Bins, error) {
	bins := histogram.Bins{N: c.Bins, Low: c.Range.low, High: c.Range.high, Clamp: c.Clamp}
	if pixelOf(img).Bytes() <= 2 || c.Range.given {
		return binsOver(img, bins)
	}
	low, high := sketch.Range(img)
	switch {
	case low > high:
		return bins, errors.New("no pixel is a finite number: say which values to count with --range LOW,HIGH")
	case math.IsInf(high-low, 0):
		return bins, fmt.Errorf("the pixels are from %g to %g, which is too far apart for bins: say which values to count with --range LOW,HIGH", low, high)
	}
	// Pixels that are all but the same are in the middle of a wider range: of 1,
	// as NumPy's, or of more where that is too little to cut.
	for _, apart := range []float64{0, 0.5, max(math.Abs(low), math.Abs(high)) / 1e6} {
		bins.Low, bins.High = max(low-apart, -math.MaxFloat64), min(high+apart, math.MaxFloat64)
		if wider, err := binsOver(img, bins); err == nil && bins.Low < bins.High {
			return wider, nil
		}
	}
	return binsOver(img, bins)
}

// binsOver is bins for the pixels of an image.
func binsOver(img any, bins histogram.Bins) (histogram.Bins, error) {
	switch pixelOf(img) {
	case raster.U8:
		return histogram.Over[uint8](bins)
	case raster.U16:
		return histogram.Over[uint16](bins)
	case raster.U32:
		return histogram.Over[uint32](bins)
	case raster.I16:
		return histogram.Over[int16](bins)
	case raster.I32:
		return histogram.Over[int32](bins)
	case raster.F32:
		return histogram.Over[float32](bins)
	}
	return histogram.Over[float64](bins)
}
