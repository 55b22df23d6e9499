package windows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestFloatPatches compares the bits of every level with the definitions, at all lengths, and looks for writes beyond the end.
func TestFloatPatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 32))
	numbers := func(n int) []float64 {
		all := make([]float64, n)
		for i := range all {
			all[i] = rng.NormFloat64()
		}
		return all
	}
	same := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	}
	for n := range 70 {
		a, b, c, d := numbers(n), numbers(n), numbers(n), numbers(n)
		span := 1 + n%20
		columns, totals, all := numbers(n+5), numbers(n+5), numbers(n+span-1)
		if n > 40 {
			all[n/2], all[n/3] = math.NaN(), math.Inf(1)
		}
		w := FloatWeights{Bias: 0.1 * float64(n%3), Scale: []float64{0, 0.5, 1}[n%3]}
		slid, first, sums, more, weights := slices.Clone(columns), slices.Clone(columns), slices.Clone(columns), slices.Clone(totals), make([]float64, n)
		for i := range n {
			enter, leave := float64((a[i]-b[i])*(a[i]-b[i])), float64((c[i]-d[i])*(c[i]-d[i]))
			slid[i] += enter - leave
			first[i] += enter
			more[i] += a[i]
			sums[i] += float64(a[i] * b[i])
		}
		w.Weigh(processor.Portable, weights, all, span)
		for i, got := range weights {
			sum := 0.0
			for _, v := range all[i : i+span] {
				sum += v
			}
			want := math.Exp(-max(sum-w.Bias, 0) * w.Scale)
			if span <= maxSpan && (got != 0 && !(math.Abs(got/want-1) < 0.05) || got == 0 && want > 0.007) {
				t.Fatalf("weight %d of %d is %v, want about %v", i, n, got, want)
			}
		}
		for _, level := range processor.Levels() {
			got := slices.Clone(columns)
			if SlideFloats(level, got[:n], a, b, c, d); !same(got, slid) {
				t.Fatalf("level %v: columns %v, want %v", level, got, slid)
			}
			copy(got, columns)
			if SlideFloats(level, got[:n], a, b, nil, nil); !same(got, first) {
				t.Fatalf("level %v: first columns %v, want %v", level, got, first)
			}
			copy(got, columns)
			added := slices.Clone(totals)
			if AddWeighted(level, got[:n], added[:n], a, b); !same(got, sums) || !same(added, more) {
				t.Fatalf("level %v: sums %v, totals %v, want %v, %v", level, got, added, sums, more)
			}
			got = make([]float64, n+5)
			if w.Weigh(level, got[:n], all, span); !same(got[:n], weights) || slices.Max(got[n:]) > 0 {
				t.Fatalf("level %v, span %d: weights %v, want %v", level, span, got, weights)
			}
		}
	}
}
