package windows

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// running holds the exact sums of a window that slides along a row of columns.
type running struct {
	cols, squares []uint32
	span, at      int
	sum, square   uint64
}

// newRunning returns the sums for windows of span columns. Call next before the first pixel.
func newRunning(cols, squares []uint32, span int) (r running) {
	r = running{cols: cols, squares: squares, span: span}
	for _, v := range cols[:span] {
		r.sum += uint64(v)
	}
	if squares != nil {
		for _, v := range squares[:span] {
			r.square += uint64(v)
		}
	}
	return r
}

// next advances by one pixel.
func (r *running) next() {
	r.sum += uint64(r.cols[r.at+r.span]) - uint64(r.cols[r.at])
	if r.squares != nil {
		r.square += uint64(r.squares[r.at+r.span]) - uint64(r.squares[r.at])
	}
	r.at++
}

// slowRow is the specification of Row.
func (d *Decider) slowRow(dst, pix []uint8, cols, squares []uint32) {
	r := newRunning(cols, squares, d.span)
	for i, p := range pix {
		r.next()
		dst[i] = d.Formula.decide(p, r.sum, r.square, d.count(i))
	}
}

// inverses returns 1/n of every window in float64.
func (d *Decider) inverses() []float64 {
	if d.doubled {
		return d.double
	}
	d.doubled = true
	if len(d.double) < d.n+windowUnit {
		d.double = make([]float64, d.n+windowUnit)
	}
	last, inverse := int64(-1), 0.0
	for i := range d.n {
		if count := d.count(i); count != last {
			last, inverse = count, 1/float64(count)
		}
		d.double[i] = inverse
	}
	clear(d.double[d.n:]) // all sums are zero there
	return d.double
}

// exactSquaresFit reports whether the sum of squares of a window fits in 32 bits.
func (d *Decider) exactSquaresFit() bool { return d.area*255*255 < 1<<32 }

// Look updates the greatest variance of any window and the least pixel with those of a row.
func (d *Decider) Look(greatest float64, least uint8, pix []uint8, cols, squares []uint32) (float64, uint8) {
	_, _ = cols[:len(pix)+d.span+Slack], squares[:len(pix)+d.span+Slack]
	whole := len(pix) &^ (windowUnit - 1)
	asm := thresholdTable[d.level].spread
	inverse := d.inverses()
	if asm == nil || d.shift > 0 || whole == 0 {
		r := newRunning(cols, squares, d.span)
		for i, p := range pix {
			r.next()
			greatest, least = updateExtremes(greatest, least, &r, inverse[i], p)
		}
		return greatest, least
	}
	s := d.scratch()
	d.start(cols, squares)
	const rounding = 20 * 0x1p-24 * 255 * 255 // bounds the rounding error of a variance in float32
	s.margin = lineOf(greatest - rounding)
	for i := range s.greatest {
		s.greatest[i] = greatest
	}
	for i := range s.least {
		s.least[i] = least
	}
	asm(raster.First(pix), raster.First(cols[d.span:]), raster.First(cols), raster.First(squares[d.span:]), raster.First(squares), raster.First(d.single), raster.First(inverse), whole, processor.Lanes(4, 1), (*byte)(unsafe.Pointer(s)))
	for _, v := range s.greatest {
		greatest = max(greatest, v)
	}
	for _, v := range s.least[:16] {
		least = min(least, v)
	}
	if whole < len(pix) {
		r := newRunning(cols[whole:], squares[whole:], d.span)
		for i, p := range pix[whole:] {
			r.next()
			greatest, least = updateExtremes(greatest, least, &r, inverse[whole+i], p)
		}
	}
	return greatest, least
}

// updateExtremes returns the greatest variance and the least pixel, including those of one window.
func updateExtremes(greatest float64, least uint8, r *running, inverse float64, p uint8) (float64, uint8) {
	mean := float64(float64(r.sum) * inverse)
	if v := float64(float64(r.square)*inverse) - float64(mean*mean); v > greatest {
		greatest = v
	}
	return greatest, min(least, p)
}

// Thresholds computes a row of thresholds; see [Decider.Row]. Variances that are negative because
// of rounding are treated as zero.
func Thresholds[D float32 | float64](d *Decider, dst []D, pix []uint8, cols, squares []uint32) {
	dst = dst[:len(pix)]
	_ = cols[:len(pix)+d.span+Slack]
	if !d.Formula.Kind.Squares() {
		squares = nil
	} else {
		_ = squares[:len(pix)+d.span+Slack]
	}
	whole := 0
	w, f := &thresholdTable[d.level], d.Formula
	asm := w.mapSauvola
	if f.Kind == NiblackFormula {
		asm = w.mapNiblack
	}
	if asm != nil && (f.Kind == NiblackFormula || f.Kind == SauvolaFormula) && d.exactSquaresFit() && len(pix) >= windowUnit {
		whole = len(pix) &^ (windowUnit - 1)
		shift := d.shift
		d.shift = 0
		d.start(cols, squares)
		d.shift = shift
		single := 0
		if unsafe.Sizeof(dst[0]) == 4 {
			single = 1
		}
		asm(raster.First(dst), raster.First(cols[d.span:]), raster.First(cols), raster.First(squares[d.span:]), raster.First(squares), raster.First(d.inverses()), whole,
			processor.Lanes(4, 1), (*byte)(unsafe.Pointer(d.scratch())), f.K, f.InverseR, single)
	}
	if whole == len(pix) {
		return
	}
	if squares != nil {
		squares = squares[whole:]
	}
	r := newRunning(cols[whole:], squares, d.span)
	for i, p := range pix[whole:] {
		r.next()
		dst[whole+i] = D(f.threshold(p, r.sum, r.square, d.count(whole+i)))
	}
}

// threshold returns the threshold of one pixel.
func (f *Formula) threshold(p uint8, sum, squares uint64, count int64) float64 {
	inverse := 1 / float64(count)
	mean := float64(float64(sum) * inverse)
	variance := max(0, float64(float64(squares)*inverse)-float64(mean*mean))
	if f.Kind == MeanCFormula {
		mean = float64((sum + uint64(count)/2) / uint64(count))
	}
	return f.At(float64(p), mean, variance)
}
