package measure

import (
	"math"
	"slices"
	"time"
)

// Times summarizes the times of some runs, in milliseconds.
type Times struct {
	Mean float64 `json:"mean_ms"`
	Min  float64 `json:"min_ms"`
	Max  float64 `json:"max_ms"`
}

// TimesOf returns the mean, minimum and maximum of some times.
func TimesOf(all []time.Duration) Times {
	t := Times{Min: math.Inf(1)}
	for _, d := range all {
		ms := milliseconds(d)
		t.Mean += ms / float64(len(all))
		t.Min, t.Max = min(t.Min, ms), max(t.Max, ms)
	}
	return t
}

// Median returns the median in milliseconds.
func Median(times []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(times))
	half := len(sorted) / 2
	middle := sorted[half]
	if len(sorted)%2 == 0 {
		middle = (sorted[half-1] + middle) / 2
	}
	return milliseconds(middle)
}

// P95 returns the 95th percentile in milliseconds; for fewer than 20 runs it is the longest time.
func P95(times []time.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return milliseconds(sorted[(95*len(sorted)+99)/100-1])
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
