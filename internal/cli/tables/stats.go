package tables

import (
	"iter"
	"math"
	"runtime"

	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
)

// stats holds what a query prints about one channel of one box.
type stats struct {
	sum       any // of the table's type
	mean, std float64
	area      *int64 // how many pixels are valid, where that may not be all
}

// A sample is one channel of a box of any shape: what tables say of it, and where its
// pixels are.
type sample struct {
	n       int
	sum     any
	mean    float64
	std     float64        // from a table of squares; negative without one
	noise   float64        // that rounding may add to the variance
	runs    iter.Seq[span] // of its pixels
	channel int
}

// A span is neighbors in a row. The rows of a volume are those of all its slices, one after
// the other.
type span struct{ y, x0, x1 int }

// A pixelReader gives the pixels of an image or a volume, whatever their type.
type pixelReader interface {
	largest() uint64 // magnitude that they can have
	peak() uint64    // that they have
	load(report func(bytes int64)) error
	add(to *deviations, r span, channel int)
}

// deviations are the distances of pixels from a mean, summed up.
type deviations struct{ mean, sum, squares float64 }

// pixelRows is the pixels of an image, or of a volume whose slices are one under another.
type pixelRows struct {
	imagefile.Extent
	pixel raster.Type
	src   raster.Array
	row   []float64 // of those that were looked at last
}

func rowsOf(img any) *pixelRows {
	src := pixels.Of(img)
	return &pixelRows{Extent: imagefile.ExtentOf(img), pixel: src.Type, src: src}
}

func (p *pixelRows) height() int { return p.Height * max(p.Depth, 1) }

// load brings all of them into memory.
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

// channel returns one channel of neighbors, until the next call.
func (p *pixelRows) channel(r span, channel int) []float64 {
	p.row = p.src.Floats(p.row[:0], r.y, r.x0*p.Channels+channel, r.x1*p.Channels, p.Channels)
	return p.row
}

// A population is all pixels of an image or a volume.
type population struct {
	pixelReader
	most uint64 // largest magnitude, once it matters
}

// describe returns the statistics of a sample. The deviation comes from the pixels where
// squares may have wrapped, or have few right digits: they are then so large beside it
// that their rounding may be as large.
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

// squaresFit reports whether the squares of n pixels surely fit a uint64: those of 8
// and 16 bits do in every image, those of 32 if they are small.
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

// deviation goes through the pixels of a sample. The mean may be off by a little: its
// error is taken away again.
func (p *population) deviation(s sample) float64 {
	d := deviations{mean: s.mean}
	for r := range s.runs {
		p.add(&d, r, s.channel)
	}
	n := float64(s.n)
	return math.Sqrt(max(0, d.squares-d.sum*d.sum/n) / n)
}

// squareNoise returns the most that rounding may add to the variance of a box of n pixels, of
// which the table of squares has this entry at its last corner; that of integers, which do
// not round, counts as 0. The corner's coordinates add up to what was added up, one after
// the other, on the way there.
func squareNoise(entry float64, n int, b box) float64 {
	steps := 8
	for _, c := range b[len(b)/2:] {
		steps += c
	}
	return 0x1p-51 * float64(steps) * entry / float64(n)
}

// runsOf returns the rows of a box inside of an image or a volume.
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
