package measure

import (
	"math"
	"slices"
	"time"
)

// Times is what some runs took, in milliseconds.
type Times struct {
	Mean float64 `json:"mean_ms"`
	Min  float64 `json:"min_ms"`
	Max  float64 `json:"max_ms"`
}

// TimesOf is the mean, the least and the most of some times.
func TimesOf(all []time.Duration) Times {
	t := Times{Min: math.Inf(1)}
	for _, d := range all {
		ms := milliseconds(d)
		t.Mean += ms / float64(len(all))
		t.Min, t.Max = min(t.Min, ms), max(t.Max, ms)
	}
	return t
}

// Median is the time in the middle, in milliseconds.
func Median(times []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(times))
	half := len(sorted) / 2
	middle := sorted[half]
	if len(sorted)%2 == 0 {
		middle = (sorted[half-1] + middle) / 2
	}
	return milliseconds(middle)
}

// P95 is the time that 95% of the runs took at most, in milliseconds: of fewer than 20, the longest.
func P95(times []time.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return milliseconds(sorted[(95*len(sorted)+99)/100-1])
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
