package match

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
	"github.com/boxsum/boxsum/internal/window"
)

// Templates of few bytes are correlated directly, in whole numbers, while the sums of windows
// go by: no memory for factors or blocks, and nothing to round but the score itself.

// maxDirect is how many pixels a template of bytes has at most for that, where rows count
// as whole lanes. Transforms win beyond: BenchmarkMatch. It is the same at all levels, or
// they would not round the same.
const maxDirect = 256

// signed is what is taken from bytes so that they are signed ones.
const signed = 128

// goesDirectly reports whether the scores of a task are made without transforms.
func (t *task) goesDirectly() bool {
	w, h := t.template.Width, t.template.Height
	return t.plainBytes() && grid.RoundUp(w, 4)*h <= maxDirect
}

// plainBytes reports whether pixels are gray bytes that all count.
func (t *task) plainBytes() bool {
	return t.src.Of == pairs.U8 && t.src.Channels == 1 && !t.masked
}

// A direct has the template of bytes, and its sums.
type direct struct {
	kernel.Correlator
	area, sum, squares float64
	bytes              []int8
}

// set takes the template of a task.
func (d *direct) set(level kernel.Level, template *window.Pixels) {
	w, h := template.Width, template.Height
	d.area, d.sum, d.squares = float64(w*h), 0, 0
	d.bytes = d.bytes[:0]
	for y := range h {
		for _, p := range template.Row(0, y, w) {
			d.bytes = append(d.bytes, int8(int(p)-signed))
			d.sum += float64(p)
			d.squares += float64(p) * float64(p)
		}
	}
	d.Set(level, d.bytes, w, h)
}

// ones makes it sum windows of this size.
func (d *direct) ones(level kernel.Level, width, height int) {
	d.bytes = d.bytes[:0]
	for range width * height {
		d.bytes = append(d.bytes, 1)
	}
	d.Set(level, d.bytes, width, height)
}

// numerator is by what to multiply products and sums of windows, so that they become the
// numerator of a method times the area.
func (d *direct) numerator(m Method) (products, sums float64) {
	if m == ZNCC { // n·ΣIT - ΣI·ΣT
		return d.area, d.area*signed - d.sum
	}
	return 1, signed
}

// scores makes those of a row, from products and the sums of windows.
func (d *direct) scores(level kernel.Level, m Method, dst []float32, products []int32, hi, lo, hi2, lo2 []uint32) {
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
	kernel.Factors(level, dst, hi, lo, hi2, lo2, area, mean, float32(1/math.Sqrt(energy)))
	byProducts, bySums := d.numerator(m)
	kernel.ScoreSums(level, dst, products, hi, lo, byProducts, bySums)
}

// A directWorker has products of two rows of a strip, and pixels beyond the end of the image.
type directWorker struct {
	products [2][]int32
	x, y     int // of the second row, if there is one
	ready    bool
	pixels   []uint8
	sums     kernel.Correlations
	_        [kernel.LineBytes]byte
}

// resize makes room for the products of a strip.
func (w *directWorker) resize(d *direct, width int) {
	for j := range w.products {
		w.products[j] = engine.AtLeast(w.products[j], width)
	}
	across, down := d.Reach()
	w.pixels = engine.AtLeast(w.pixels, across*down)
	w.ready = false
}

// row is the products at places [x, x+n) of row y of an image.
func (w *directWorker) row(d *direct, src *window.Pixels, x, y, n int) []int32 {
	if w.ready && w.x == x && w.y == y {
		w.ready = false
		return w.products[1][:n]
	}
	for i := 0; i < n; i += kernel.CorrelateSpan {
		w.at(d, src, x+i, y)
		for j := range w.products {
			copy(w.products[j][i:n], w.sums[j][:])
		}
	}
	w.x, w.y, w.ready = x, y+1, true
	return w.products[0][:n]
}

// at makes sums of the products at [x, x+64) of rows y and y+1. What lies outside of the image
// is zero.
func (w *directWorker) at(d *direct, src *window.Pixels, x, y int) {
	width, height := d.Reach()
	if at := y*src.Stride + x; at+(height-1)*src.Stride+width <= len(src.Mem) {
		d.At(&w.sums, src.Mem[at:], src.Stride)
		return
	}
	clear(w.pixels[:width*height])
	for j := range min(height, src.Height-y) {
		copy(w.pixels[j*width:][:width], src.Mem[(y+j)*src.Stride+x:][:min(width, src.Width-x)])
	}
	d.At(&w.sums, w.pixels, width)
}

func (w *directWorker) bytes() int {
	return engine.Bytes(w.products[0]) + engine.Bytes(w.products[1]) + engine.Bytes(w.pixels)
}
