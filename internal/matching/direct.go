package matching

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/transforms"
	"github.com/boxsum/boxsum/internal/raster"
)

// Small templates of bytes are correlated directly, in integers, together with the window
// sums. This needs no memory for factors or blocks and rounds only the score itself.

// maxDirect is the largest template for direct correlation, in pixels with rows rounded up
// to whole lanes. Transforms are faster beyond it: see BenchmarkMatch. It is the same at
// all levels, so that they round alike.
const maxDirect = 256

// signed is subtracted from bytes to make them signed.
const signed = 128

// goesDirectly reports whether the scores are computed without transforms.
func (t *Job) goesDirectly() bool {
	w, h := t.Template.Width, t.Template.Height
	return t.plainBytes() && raster.RoundUp(w, 4)*h <= maxDirect
}

// plainBytes reports whether the pixels are gray bytes without a mask.
func (t *Job) plainBytes() bool {
	return t.Src.Type == raster.U8 && t.Src.Channels == 1 && !t.masked
}

// A direct holds a template of bytes and its sums.
type direct struct {
	transforms.Correlator
	area, sum, squares float64
	bytes              []int8
}

// set sets the template.
func (d *direct) set(level processor.Level, template *raster.Array) {
	w, h := template.Width, template.Height
	d.area, d.sum, d.squares = float64(w*h), 0, 0
	d.bytes = d.bytes[:0]
	for y := range h {
		for _, p := range template.Span(0, y, w) {
			d.bytes = append(d.bytes, int8(int(p)-signed))
			d.sum += float64(p)
			d.squares += float64(p) * float64(p)
		}
	}
	d.Set(level, d.bytes, w, h)
}

// ones sets a template of ones, which computes window sums.
func (d *direct) ones(level processor.Level, width, height int) {
	d.bytes = d.bytes[:0]
	for range width * height {
		d.bytes = append(d.bytes, 1)
	}
	d.Set(level, d.bytes, width, height)
}

// numerator returns the weights of the products and of the window sums in the numerator of
// a method, times the area for ZNCC.
func (d *direct) numerator(m Method) (products, sums float64) {
	if m == ZNCC { // n·ΣIT - ΣI·ΣT
		return d.area, d.area*signed - d.sum
	}
	return 1, signed
}

// scores computes a row of scores from products and window sums.
func (d *direct) scores(level processor.Level, m Method, dst []float32, products []int32, hi, lo, hi2, lo2 []uint32) {
	if m == SSD {
		hi, lo, hi2, lo2 = hi[:len(dst)], lo[:len(dst)], hi2[:len(dst)], lo2[:len(dst)]
		all := int64(d.squares)
		for i, p := range products[:len(dst)] {
			both := int64(p) + signed*int64(hi[i]-lo[i])
			dst[i] = float32(int64(hi2[i]-lo2[i]) - 2*both + all)
		}
		return
	}
	area, mean, energy := d.area, 1.0, d.area*d.squares-d.sum*d.sum
	if m == NCC {
		area, mean, energy = 1, 0, d.squares
	}
	transforms.Factors(level, dst, hi, lo, hi2, lo2, area, mean, float32(1/math.Sqrt(energy)))
	byProducts, bySums := d.numerator(m)
	transforms.ScoreSums(level, dst, products, hi, lo, byProducts, bySums)
}

// A directWorker holds the products of two rows of a strip, and pixels padded past the end
// of the image.
type directWorker struct {
	products [2][]int32
	x, y     int // of the second row, if ready
	ready    bool
	pixels   []uint8
	sums     transforms.Correlations
	_        [raster.LineBytes]byte
}

// resize allocates the products of a strip.
func (w *directWorker) resize(d *direct, width int) {
	for j := range w.products {
		w.products[j] = engine.AtLeast(w.products[j], width)
	}
	across, down := d.Reach()
	w.pixels = engine.AtLeast(w.pixels, across*down)
	w.ready = false
}

// row returns the products at [x, x+n) of row y of the image.
func (w *directWorker) row(d *direct, src *raster.Array, x, y, n int) []int32 {
	if w.ready && w.x == x && w.y == y {
		w.ready = false
		return w.products[1][:n]
	}
	for i := 0; i < n; i += transforms.CorrelateSpan {
		w.at(d, src, x+i, y)
		for j := range w.products {
			copy(w.products[j][i:n], w.sums[j][:])
		}
	}
	w.x, w.y, w.ready = x, y+1, true
	return w.products[0][:n]
}

// at computes the products at [x, x+64) of rows y and y+1 into w.sums. Pixels outside the
// image are zero.
func (w *directWorker) at(d *direct, src *raster.Array, x, y int) {
	width, height := d.Reach()
	if at := y*src.Stride + x; at+(height-1)*src.Stride+width <= len(src.Data) {
		d.At(&w.sums, src.Data[at:], src.Stride)
		return
	}
	clear(w.pixels[:width*height])
	for j := range min(height, src.Height-y) {
		copy(w.pixels[j*width:][:width], src.Data[(y+j)*src.Stride+x:][:min(width, src.Width-x)])
	}
	d.At(&w.sums, w.pixels, width)
}

func (w *directWorker) bytes() int {
	return engine.Bytes(w.products[0]) + engine.Bytes(w.products[1]) + engine.Bytes(w.pixels)
}
