package tables

import (
	"iter"
	"math"
	"runtime"

	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	fromsums "github.com/boxsum/boxsum/internal/stats"
)

// stats holds the statistics of one channel of one box.
type stats struct {
	sum       fromsums.Sum
	mean, std float64
	area      *int64 // number of valid pixels, or nil if all are valid
}

// A sample is one channel of a box of any shape, with the values from tables and the position of
// its pixels.
type sample struct {
	n       int
	sum     fromsums.Sum
	mean    float64
	std     float64        // from the table of squares, or negative without one
	noise   float64        // bound of the rounding error of the variance
	runs    iter.Seq[span] // its pixels
	channel int
}

// A span is a run of neighbors in a row. The rows of a volume are those of all its slices, one
// after another.
type span struct{ y, x0, x1 int }

// A pixelReader reads the pixels of an image or a volume of any type.
type pixelReader interface {
	largest() uint64 // largest magnitude of the type
	peak() uint64    // largest magnitude of the pixels
	load(report func(bytes int64)) error
	add(to *deviations, r span, channel int)
}

// deviations accumulates the differences of pixels from a mean.
type deviations struct{ mean, sum, squares float64 }

// pixelRows reads the pixels of an image, or of a volume with its slices stacked vertically.
type pixelRows struct {
	imagefile.Extent
	pixel raster.Type
	src   raster.Array
	row   []float64 // most recently read pixels
}

func rowsOf(src raster.Array) *pixelRows {
	return &pixelRows{Extent: imagefile.ExtentOf(src), pixel: src.Type, src: src}
}

func (p *pixelRows) height() int { return p.Height * max(p.Depth, 1) }

// load reads all pixels into memory.
func (p *pixelRows) load(report func(bytes int64)) error {
	var read byte
	for y := range p.height() {
		row := p.src.Row(y)
		read += readPages(row)
		report(int64(len(row)))
	}
	runtime.KeepAlive(read)
	return nil
}

func (p *pixelRows) largest() uint64 { return largestPixel(p.pixel) }

func (p *pixelRows) peak() uint64 {
	peak := uint64(1)
	for y := range p.height() {
		for c := range p.Channels {
			for _, v := range p.channel(span{y, 0, p.Width}, c) {
				peak = max(peak, uint64(math.Abs(v)))
			}
		}
	}
	return peak
}

func (p *pixelRows) add(to *deviations, r span, channel int) {
	for _, v := range p.channel(r, channel) {
		d := v - to.mean
		to.sum += d
		to.squares += d * d
	}
}

// channel returns one channel of a span. The result is valid until the next call.
func (p *pixelRows) channel(r span, channel int) []float64 {
	p.row = p.src.Floats(p.row[:0], r.y, r.x0*p.Channels+channel, r.x1*p.Channels, p.Channels)
	return p.row
}

// A population is all pixels of an image or a volume.
type population struct {
	pixelReader
	most uint64 // largest magnitude, computed when first needed
}

// describe returns the statistics of a sample. It computes the standard deviation from the pixels
// if the squares may have wrapped, or if rounding may have left too few correct digits of the
// variance.
func (p *population) describe(s sample) stats {
	of := stats{sum: s.sum, mean: s.mean}
	const digits = 1e6
	if s.n == 0 {
		return of
	}
	if of.std = s.std; of.std < 0 || !p.squaresFit(s.n) || !(of.std*of.std >= digits*s.noise) {
		of.std = p.deviation(s)
	}
	return of
}

// squaresFit reports whether the squares of n pixels certainly fit in a uint64, as those of 8- and
// 16-bit pixels always do.
func (p *population) squaresFit(n int) bool {
	limit := p.largest()
	if uint64(n) <= math.MaxUint64/(limit*limit) {
		return true
	}
	if p.most == 0 {
		p.most = p.peak()
	}
	return uint64(n) <= math.MaxUint64/(p.most*p.most)
}

// deviation computes the standard deviation of a sample from its pixels. It corrects for the
// rounding error of the mean.
func (p *population) deviation(s sample) float64 {
	d := deviations{mean: s.mean}
	for r := range s.runs {
		p.add(&d, r, s.channel)
	}
	n := float64(s.n)
	return math.Sqrt(max(0, d.squares-d.sum*d.sum/n) / n)
}

// squareNoise bounds the rounding error of the variance of a box of n pixels, given the entry of
// the table of squares at its last corner. Integers do not round, so their entry counts as 0. The
// number of additions that led to the entry is at most the sum of the corner's coordinates.
func squareNoise(entry float64, n int, b box) float64 {
	steps := 8
	for _, c := range b[len(b)/2:] {
		steps += c
	}
	return 0x1p-51 * float64(steps) * entry / float64(n)
}

// runsOf yields the rows of a box inside an image or a volume.
func runsOf(e imagefile.Extent, b box) iter.Seq[span] {
	return func(yield func(span) bool) {
		if len(b) == 4 {
			b = box{b[0], b[1], 0, b[2], b[3], 1}
		}
		for z := b[2]; z < b[5]; z++ {
			for y := b[1]; y < b[4]; y++ {
				if !yield(span{z*e.Height + y, b[0], b[3]}) {
					return
				}
			}
		}
	}
}
