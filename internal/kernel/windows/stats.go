package windows

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Variances computes float32 variances of windows of n bytes from sums and sums of squares, with
// the same rounding at every level.
type Variances struct {
	n                 uint32
	small             int // 1 if n·squares − sum² is an integer below 2^31
	inverse, inverse2 float32
}

const (
	// maxSmallVariance is the greatest number of bytes n for which n²·variance is below 2^31.
	maxSmallVariance = 363
	// maxVariance is the greatest number of bytes whose sum of squares is below 2^31.
	maxVariance = (1<<31 - 1) / (255 * 255)
)

// NewVariances returns Variances for windows of n bytes. It reports whether n is small enough.
func NewVariances(n uint64) (v Variances, ok bool) {
	v = Variances{n: uint32(n), inverse: float32(1 / float64(n)), inverse2: float32(1 / (float64(n) * float64(n)))}
	if n <= maxSmallVariance {
		v.small = 1
	}
	return v, n <= maxVariance
}

// mean returns the mean of a window, rounded once.
func (v *Variances) mean(sum uint32) float32 { return float32(sum) / float32(v.n) }

// Of returns the variance of a window. If n²·variance is too large, the variance is computed from
// the distances to the rounded mean m as Σ(p−m)²/n − (Σ(p−m)/n)², where the second term is at most
// half of the first.
func (v *Variances) Of(sum, squares uint32) float32 {
	if v.small != 0 {
		return float32(float32(int32(v.n*squares-sum*sum)) * v.inverse2)
	}
	m := uint32(math.RoundToEven(float64(v.mean(sum))))
	more := sum - v.n*m
	far := squares - m*(sum+more)
	e := float32(float32(int32(more)) * v.inverse)
	return float32(float32(int32(far))*v.inverse) - float32(e*e)
}

// A StatsBox computes means and deviations of windows of bytes from the column sums of pixels and
// squares.
type StatsBox struct {
	level          processor.Level
	span, channels int
	variances      Variances
	past           bool // write results with non-temporal stores, if rows are aligned to cache lines
}

// pastBytes is the size of results above which non-temporal stores are faster. Measured on a Xeon:
// 1.1 times at 66 MB, 1.5 times at 512 MB.
const pastBytes = 32e6

// BypassCaches reports whether to write that many bytes of results with [processor.StreamCopy].
func BypassCaches(bytes int) bool { return processor.Streams() && bytes > pastBytes }

// NewStatsBox returns a StatsBox for windows of span×height pixels, and for images whose results
// have the given size in bytes. It reports whether the level has a kernel for them.
func NewStatsBox(level processor.Level, span, height, channels, bytes int) (StatsBox, bool) {
	v, ok := NewVariances(uint64(span) * uint64(height))
	return StatsBox{level, span, channels, v, bytes > pastBytes}, ok && windowTable[level].boxStats != nil && channels <= processor.FastChannels
}

// Row computes a row of means and deviations from columns laid out as for [Box.Row].
func (b *StatsBox) Row(mean, dev []float32, cols, squares []uint32, s *BoxScratch) {
	s.start(squares, b.span, b.channels)
	s.carry2 = s.carry
	s.start(cols, b.span, b.channels)
	n, at := len(mean)&^(windowUnit-1), b.span*b.channels
	dev = dev[:len(mean)]
	_, _ = cols[:len(mean)+at+Slack], squares[:len(mean)+at+Slack]
	b.wholeVectors(mean[:n], dev[:n], cols, squares, s)
	if n < len(mean) {
		b.wholeVectors(s.floats[0][:], s.floats[1][:], cols[n:], squares[n:], s)
		copy(mean[n:], s.floats[0][:])
		copy(dev[n:], s.floats[1][:])
	}
}

// wholeVectors computes whole vectors of a row.
func (b *StatsBox) wholeVectors(mean, dev []float32, cols, squares []uint32, s *BoxScratch) {
	if at := b.span * b.channels; len(mean) > 0 {
		past := 0
		if b.past && (uintptr(unsafe.Pointer(&mean[0]))|uintptr(unsafe.Pointer(&dev[0])))%raster.LineBytes == 0 {
			past = 1
			defer processor.StoreFence()
		}
		asm := windowTable[b.level].boxStats
		if b.channels == 1 {
			asm = windowTable[b.level].boxStatsOne
		}
		v := &b.variances
		asm(raster.First(mean), raster.First(dev), raster.First(cols[at:]), raster.First(cols), raster.First(squares[at:]), raster.First(squares), len(mean),
			&s.carry[0], &s.carry2[0], processor.Lanes(4, b.channels), v.n, v.inverse, v.inverse2, v.small, past)
	}
}

// Row computes a row of variances, or of their square roots, from the sums of windows and of their
// squares, each hi-lo.
func (v *Variances) Row(level processor.Level, dst []float32, hi, lo, hi2, lo2 []uint32, root bool) {
	hi, lo, hi2, lo2 = hi[:len(dst)], lo[:len(dst)], hi2[:len(dst)], lo2[:len(dst)]
	from, roots := 0, 0
	if root {
		roots = 1
	}
	if asm := windowTable[level].variancesU32F32; asm != nil && len(dst) >= windowUnit {
		from = len(dst) &^ (windowUnit - 1)
		asm(raster.First(dst), raster.First(hi), raster.First(lo), raster.First(hi2), raster.First(lo2), from, v.n, v.inverse, v.inverse2, v.small, roots)
	}
	for i := from; i < len(dst); i++ {
		d := v.Of(hi[i]-lo[i], hi2[i]-lo2[i])
		if root {
			d = float32(math.Sqrt(float64(d)))
		}
		dst[i] = d
	}
}
