package histogram

import (
	"math"

	"github.com/boxsum/boxsum"
)

// The functions here take a histogram as [Table.Histogram] gives it. Counts
// below zero, as the rounding of float weights may leave them, are taken for
// zero, and so is NaN.

// Quantile is the first bin at which the counts so far reach the fraction q of
// all of them, and −1 if there are none. Quantile(h, 0) is the first bin that is
// not empty, and Quantile(h, 1) the last.
func Quantile[S boxsum.Sum](h []S, q float64) int {
	all := total(h)
	if all == 0 {
		return -1
	}
	var sum float64
	last := -1
	for i := range h {
		if c := count(h, i); c > 0 {
			last = i
			if sum += c; sum >= q*all {
				break
			}
		}
	}
	return last
}

// Median is the bin of the median, the lower one of two, and −1 for an empty
// histogram. Where every value has a bin of its own, as 256 bins give 8-bit
// pixels, that is the median itself.
func Median[S boxsum.Sum](h []S) int { return Quantile(h, 0.5) }

// Mode is the fullest bin, the first of several, and −1 for an empty histogram.
func Mode[S boxsum.Sum](h []S) int {
	best, most := -1, 0.0
	for i := range h {
		if c := count(h, i); c > most {
			best, most = i, c
		}
	}
	return best
}

// Entropy is Shannon's entropy in bits: 0 where all is in one bin, and log2 of
// the number of bins where all are equally full.
func Entropy[S boxsum.Sum](h []S) float64 {
	all := total(h)
	var bits float64
	for i := range h {
		if p := count(h, i) / all; p > 0 {
			bits -= p * math.Log2(p)
		}
	}
	return max(0, bits) // and not -0
}

// The distances compare shares, not counts, so that boxes of different sizes
// compare. They are symmetric, and 0 for equal histograms. An empty histogram is
// as far from one that is not as can be. Of different lengths, the shorter is
// taken to end in empty bins.

// Bhattacharyya is √(1 − Σ√(p·q)), between 0 and 1, where p and q are the shares
// of a bin in the two histograms: the distance that OpenCV calls so, also known
// as Hellinger's. It looks at every bin by itself.
func Bhattacharyya[S boxsum.Sum](a, b []S) float64 {
	allA, allB := total(a), total(b)
	if allA == 0 || allB == 0 {
		return emptyDistance(allA, allB, 1)
	}
	var overlap float64
	for i := range max(len(a), len(b)) {
		overlap += math.Sqrt(count(a, i) / allA * (count(b, i) / allB))
	}
	if overlap > 1-1e-15 {
		return 0 // roundings, whose root would be large
	}
	return math.Sqrt(1 - overlap)
}

// ChiSquare is ½·Σ(p−q)²/(p+q), between 0 and 1. Bins in which both have little
// matter little.
func ChiSquare[S boxsum.Sum](a, b []S) float64 {
	allA, allB := total(a), total(b)
	if allA == 0 || allB == 0 {
		return emptyDistance(allA, allB, 1)
	}
	var sum float64
	for i := range max(len(a), len(b)) {
		p, q := count(a, i)/allA, count(b, i)/allB
		if p+q > 0 {
			sum += (p - q) * (p - q) / (p + q)
		}
	}
	return sum / 2
}

// EarthMover is how many bins far the counts of one histogram must be moved, on
// average, to make the other of it: between 0 and the number of bins less one.
// A change of brightness moves all counts by a bin or two, which it alone of the
// three sees as little. Times the width of a bin it is a difference of values.
func EarthMover[S boxsum.Sum](a, b []S) float64 {
	allA, allB := total(a), total(b)
	n := max(len(a), len(b))
	if allA == 0 || allB == 0 {
		return emptyDistance(allA, allB, float64(n-1))
	}
	var sum, ahead float64
	for i := range n - 1 {
		ahead += count(a, i)/allA - count(b, i)/allB
		sum += math.Abs(ahead)
	}
	return sum
}

// emptyDistance is that of histograms of which one or both are empty.
func emptyDistance(a, b, largest float64) float64 {
	if a == b {
		return 0
	}
	return largest
}

// count is one bin, and 0 beyond the last.
func count[S boxsum.Sum](h []S, i int) float64 {
	if i >= len(h) || !(h[i] > 0) {
		return 0
	}
	return float64(h[i])
}

func total[S boxsum.Sum](h []S) (all float64) {
	for i := range h {
		all += count(h, i)
	}
	return all
}
