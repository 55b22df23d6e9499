package windows

import (
	"math"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// SlideFloats adds the squared distances between the elements of two rows to the sums of columns, and subtracts those of two other rows,
// unless they are nil.
func SlideFloats(level processor.Level, columns, a, b, c, d []float64) {
	if c == nil {
		c, d = a, a
	}
	n := len(columns)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	from := 0
	if asm := windowTable[level].slideFloats; asm != nil {
		from = n &^ (patchUnit - 1)
		asm(raster.First(columns), raster.First(a), raster.First(b), raster.First(c), raster.First(d), from)
	}
	for i := from; i < n; i++ {
		enter, leave := a[i]-b[i], c[i]-d[i]
		columns[i] += float64(enter*enter) - float64(leave*leave)
	}
}

const (
	// farthest is the distance of patches beyond which they have no weight.
	farthest = 5
	// expScale and expZero make the upper half of a float64 that is close to exp(-d), within 4%: it is linear in d, and the exponent is in its
	// upper bits.
	expScale, expZero = -1512775.3951951856938, 1072632447
)

// FloatWeights turns distances of patches into weights.
type FloatWeights struct {
	Bias  float64 // the expected distance of equal patches
	Scale float64
	sums  []float64
}

// Self returns the weight of a patch for itself.
func (f *FloatWeights) Self() float64 { return f.weight(0) }

func (f *FloatWeights) weight(distance float64) float64 {
	d := float64(max(distance-f.Bias, 0) * f.Scale)
	if !(d <= farthest) {
		return 0
	}
	return math.Float64frombits(uint64(int32(float64(expScale*d))+expZero) << 32)
}

// Weigh computes the weights of patches of span columns from the sums of these. There are span-1 more columns than weights.
func (f *FloatWeights) Weigh(level processor.Level, weights, columns []float64, span int) {
	n := len(weights)
	columns = columns[:n+span-1]
	if span > maxSpan {
		columns, span = f.spans(columns, span), 1
	}
	from := 0
	if asm := windowTable[level].weighFloats; asm != nil {
		from = n &^ (patchUnit - 1)
		asm(raster.First(weights), raster.First(columns), from, span, f.Bias, f.Scale)
	}
	for i := from; i < n; i++ {
		sum := columns[i]
		for _, v := range columns[i+1 : i+span] {
			sum += v
		}
		weights[i] = f.weight(sum)
	}
}

// spans returns the sums of spans of columns.
func (f *FloatWeights) spans(columns []float64, span int) []float64 {
	if cap(f.sums) < len(columns) {
		f.sums = make([]float64, len(columns))
	}
	sums, sum := f.sums[:len(columns)], 0.0
	for i, v := range columns {
		sum += v
		if i >= span {
			sum -= columns[i-span]
		}
		sums[i] = sum
	}
	return sums[span-1:]
}

// AddWeighted adds weights to totals, and pixels times these to sums.
func AddWeighted(level processor.Level, sums, totals, weights, pixels []float64) {
	n := len(weights)
	sums, totals, pixels = sums[:n], totals[:n], pixels[:n]
	from := 0
	if asm := windowTable[level].addFloats; asm != nil {
		from = n &^ (patchUnit - 1)
		asm(raster.First(sums), raster.First(totals), raster.First(weights), raster.First(pixels), from)
	}
	for i := from; i < n; i++ {
		totals[i] += weights[i]
		sums[i] += float64(weights[i] * pixels[i])
	}
}
