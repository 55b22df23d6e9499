package histogram

import (
	"math"

	"github.com/boxsum/boxsum"
)

// The functions in this file accept a histogram from [Table.Histogram]. They treat
// negative counts, which float weights may leave because of rounding, and NaN as zero.

// Quantile returns the first bin at which the cumulative count reaches the fraction q
// of the total, or −1 if the histogram is empty. Quantile(h, 0) is the first bin that
// is not empty, and Quantile(h, 1) the last.
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

// Median returns the bin that contains the median, or the lower of the two middle
// values if their number is even. It returns −1 if the histogram is empty. If every
// value has its own bin, as 8-bit pixels have with 256 bins, the bin is the median
// itself.
func Median[S boxsum.Sum](h []S) int { return Quantile(h, 0.5) }

// Mode returns the bin with the highest count, or the first of several such bins. It
// returns −1 if the histogram is empty.
func Mode[S boxsum.Sum](h []S) int {
	best, most := -1, 0.0
	for i := range h {
		if c := count(h, i); c > most {
			best, most = i, c
		}
	}
	return best
}

// Entropy returns Shannon's entropy in bits. It is 0 if all counts are in one bin, and
// the base-2 logarithm of the number of bins if all counts are equal.
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

// Bhattacharyya returns the distance √(1 − Σ√(p·q)) of two histograms, where p and q
// are the fractions of their counts in one bin. Fractions make boxes of different sizes
// comparable. The distance is between 0 and 1, and symmetric; it is 1 if only one
// histogram is empty, and 0 if both are. If the lengths differ, the missing bins count
// as empty. OpenCV uses the name Bhattacharyya; elsewhere, this is the Hellinger
// distance. Every bin is compared separately.
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
		return 0 // rounding errors, whose square root would be large
	}
	return math.Sqrt(1 - overlap)
}

// ChiSquare returns the distance ½·Σ(p−q)²/(p+q) of two histograms, where p and q are
// the fractions of their counts in one bin. Bins that are small in both have little
// effect. Range, empty histograms and different lengths are as for [Bhattacharyya].
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

// EarthMover returns the average number of bins by which the counts of one histogram
// must be moved to give the other, between 0 and the number of bins minus one. Unlike
// Bhattacharyya and ChiSquare, the result is small for a change of brightness, which
// moves all counts by a bin or two. Multiply the result by the width of a bin for a
// difference of values. The distance is 0 if both histograms are empty, and the largest
// possible if only one is. If the lengths differ, the missing bins count as empty.
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

// emptyDistance returns the distance of two histograms of which at least one is empty.
func emptyDistance(a, b, largest float64) float64 {
	if a == b {
		return 0
	}
	return largest
}

// count returns the count of bin i, or 0 if i is out of range or the count is not
// positive.
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
