package cli

import (
	"errors"
	"fmt"
	"image"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/sketch"
)

// histogramWork is a table, whatever its type, with the edges of its bins, and how it came about.
type histogramWork struct {
	tableSet
	bins  histogram.Bins
	bytes int64 // of the table
	whole bool  // every bin is one whole number
	took  time.Duration
	show  func() image.Image // the pixels, to look at
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
func newHistogram[P boxsum.Pixel](c *histogramCmd, pixels, weights any, device *gpu.Device, opt *boxsum.Options) (*histogramWork, error) {
	img := pixels.(boxsum.Image[P])
	bytes, err := histogram.Bytes[uint32](img.Width, img.Height, img.Channels, c.Bins)
	if err != nil {
		return nil, err
	}
	if weights != nil {
		bytes *= 2
	}
	c.announce(bytes)
	binned := pixelsOf(img, c)
	switch w := weights.(type) { // sums of whole weights in 64 bits stay exact
	case nil:
	case boxsum.Image[uint8]:
		return weighted(binned, c, newWeights(&w, c), weigh[uint64](&img, &w, opt))
	case boxsum.Image[uint16]:
		return weighted(binned, c, newWeights(&w, c), weigh[uint64](&img, &w, opt))
	case boxsum.Image[uint32]:
		return weighted(binned, c, newWeights(&w, c), weigh[uint64](&img, &w, opt))
	case boxsum.Image[int16]:
		return weighted(binned, c, newWeights(&w, c), weigh[int64](&img, &w, opt))
	case boxsum.Image[int32]:
		return weighted(binned, c, newWeights(&w, c), weigh[int64](&img, &w, opt))
	case boxsum.Image[float32]:
		return weighted(binned, c, newWeights(&w, c), weigh[float64](&img, &w, opt))
	case boxsum.Image[float64]:
		return weighted(binned, c, newWeights(&w, c), weigh[float64](&img, &w, opt))
	default:
		return nil, fmt.Errorf("there are no weights of %T", weights)
	}
	return madeHistogram(binned, c, func(t *histogram.Table[uint32]) error {
		if launch.GPU && device != nil {
			return gpu.IntegrateHistogramHostInto(device, t, img, nil)
		}
		return histogram.IntegrateInto(t, img, (*histogram.Options)(plainOptions(opt)))
	})
}

// weigh integrates weights in the place of counts.
//
//go:noinline
func weigh[S boxsum.Sum, P, W boxsum.Pixel](img *boxsum.Image[P], weights *boxsum.Image[W], opt *boxsum.Options) func(*histogram.Table[S]) error {
	return func(t *histogram.Table[S]) error {
		return histogram.IntegrateWeightedInto(t, *img, *weights, (*histogram.Options)(plainOptions(opt)))
	}
}

// weightsInfo is what a table needs to know of weights, whatever their type.
type weightsInfo struct {
	extent
	finite func() error // where they are not
}

//go:noinline
func newWeights[W boxsum.Pixel](img *boxsum.Image[W], c *histogramCmd) weightsInfo {
	return weightsInfo{extent{Width: img.Width, Height: img.Height, Channels: img.Channels}, func() error { return checkFinite(*img, c) }}
}

// weighted is a table of weights instead of counts.
//
//go:noinline
func weighted[S boxsum.Sum](binned binnedPixels, c *histogramCmd, weights weightsInfo, integrate func(*histogram.Table[S]) error) (*histogramWork, error) {
	if err := c.checkWeights(weights.extent, binned.extent); err != nil {
		return nil, err
	}
	return madeHistogram(binned, c, func(t *histogram.Table[S]) error {
		if err := weights.finite(); err != nil {
			return err
		}
		return integrate(t)
	})
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
func checkFinite[P boxsum.Pixel](weights boxsum.Image[P], c *histogramCmd) error {
	if P(1)/2 == 0 {
		return nil // integers are
	}
	for y := range weights.Height {
		for x, w := range weights.Row(y) {
			if v := float64(w); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("--weights %s: the weight at (%d,%d) is %g: weights must be finite", c.Weights, x, y, v)
			}
		}
	}
	return nil
}

// binnedPixels is what a table needs to know of an image, whatever its type.
type binnedPixels struct {
	extent
	whole bool // numbers
	bins  func() (histogram.Bins, error)
	show  func(histogram.Bins) image.Image // the range of the bins from black to white; a NaN is black
}

func pixelsOf[P boxsum.Pixel](img boxsum.Image[P], c *histogramCmd) binnedPixels {
	return binnedPixels{
		extent: extent{Width: img.Width, Height: img.Height, Channels: img.Channels},
		whole:  P(1)/2 == 0,
		bins:   func() (histogram.Bins, error) { return binsFor(img, c) },
		show: func(bins histogram.Bins) image.Image {
			return sketch.Paint(img, func(p P) uint8 {
				return uint8(min(max((float64(p)-bins.Low)/(bins.High-bins.Low), 0), 1) * 255)
			})
		},
	}
}

// madeHistogram times how a table is made. Its memory comes first, so that there
// is an error before anything else takes long or takes memory.
func madeHistogram[S boxsum.Sum](img binnedPixels, c *histogramCmd, integrate func(*histogram.Table[S]) error) (*histogramWork, error) {
	t, err := histogram.NewTable[S](img.Width, img.Height, img.Channels, histogram.Bins{N: c.Bins})
	if err != nil {
		return nil, err
	}
	if t.Bins, err = img.bins(); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := integrate(t); err != nil {
		return nil, err
	}
	bins := t.Bins
	work := &histogramWork{
		tableSet: tableSet{extent: extent{Width: t.Width, Height: t.Height, Channels: t.Channels}},
		bins:     bins, bytes: int64(len(t.Counts)) * sizeOf[S](), took: max(time.Since(start), 1),
		whole: img.whole && bins.High-bins.Low == float64(bins.N) && bins.Low == math.Trunc(bins.Low),
		show:  func() image.Image { return img.show(bins) },
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
	}
	row := (t.Width + 1) * t.Channels * bins.N
	addLayer(&work.tableSet, "histogram", append(work.shape(), bins.N), func() iter.Seq[[]S] { return slices.Chunk(t.Counts, row) }, nil)
	edges := make([]float64, bins.N+1)
	for i := range edges {
		edges[i] = bins.Edge(i)
	}
	addLayer(&work.tableSet, "edges", []int{len(edges)}, func() iter.Seq[[]float64] { return slices.Values([][]float64{edges}) }, nil)
	return work, nil
}

func (w *histogramWork) written() int64       { return w.bytes }
func (w *histogramWork) picture() image.Image { return drawHistograms(w.show(), w, w.boxes) }

// binsFor is the bins that were asked for, over the pixels of the image where no
// range was.
func binsFor[P boxsum.Pixel](img boxsum.Image[P], c *histogramCmd) (histogram.Bins, error) {
	bins := histogram.Bins{N: c.Bins, Low: c.Range.low, High: c.Range.high, Clamp: c.Clamp}
	if sizeOf[P]() <= 2 || c.Range.given {
		return histogram.Over[P](bins)
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
		if wider, err := histogram.Over[P](bins); err == nil && bins.Low < bins.High {
			return wider, nil
		}
	}
	return histogram.Over[P](bins)
}
