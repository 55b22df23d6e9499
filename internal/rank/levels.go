package rank

import (
	"math/bits"

	"github.com/boxsum/boxsum/internal/kernel/windows"
)

// levels is the histogram of a window of bytes, whose counts have 16 bits. It gives the results of a [counter], with
// a step for each level that the window has.
type levels struct {
	windows.Levels
	n, sum int
}

// maxLevels is the greatest number of pixels in a window of levels.
const maxLevels = 1<<16 - 1

// result returns what a job with integer results makes of the pixels counted, and of the pixel in the middle.
func (l *levels) result(j *Job, g int) int {
	if l.n == 0 {
		return 0
	}
	switch j.Kind {
	case Percentile:
		return l.percentile(j.Fraction)
	case Majority:
		return l.majority()
	case Equalize:
		n, _ := l.between(0, g+1)
		return 255 * n / l.n
	case Otsu:
		return l.otsu()
	}
	n, sum := l.between(max(g-j.Below+1, 0), min(g+j.Above, 256))
	if n == 0 {
		return 0
	}
	return sum / n
}

func (l *levels) last() int {
	i := 3
	for l.Present[i] == 0 {
		i--
	}
	return 64*i + 63 - bits.LeadingZeros64(l.Present[i])
}

// between returns the number of pixels with levels from low up to high, without high, and their sum.
func (l *levels) between(low, high int) (n, sum int) {
	for group, present := range l.Present {
		from := 64 * group
		if low > from {
			present &= ^uint64(0) << (low - from) // 0 beyond the group
		}
		if high < from+64 {
			present &= 1<<max(high-from, 0) - 1
		}
		for ; present != 0; present &= present - 1 {
			v := from + bits.TrailingZeros64(present)
			k := int(l.Counts[v])
			n += k
			sum += v * k
		}
	}
	return n, sum
}

func (l *levels) percentile(fraction float64) int {
	limit, n := fraction*float64(l.n), 0
	if fraction == 1 {
		return l.last()
	}
	for group, present := range l.Present {
		for ; present != 0; present &= present - 1 {
			v := 64*group + bits.TrailingZeros64(present)
			if n += int(l.Counts[v]); float64(n) > limit {
				return v
			}
		}
	}
	return l.last()
}

func (l *levels) majority() int {
	level, most := 0, uint16(0)
	for group, present := range l.Present {
		for ; present != 0; present &= present - 1 {
			v := 64*group + bits.TrailingZeros64(present)
			if n := l.Counts[v]; n > most {
				level, most = v, n
			}
		}
	}
	return level
}

// otsu is like [counter.otsu]. It compares variances as fractions: a division takes as long as everything else. Only where
// they are so close that rounding may decide, it divides, as scikit-image does.
func (l *levels) otsu() int {
	const close = 0x1p-48
	level, best, bestProduct := 0, 0.0, 1.0
	q := int(l.Counts[0]) // pixels of the lower class
	t := -l.sum * q       // the difference between the means of the classes, times the numbers of their pixels
	for group, present := range l.Present {
		if group == 0 {
			present &^= 1
		}
		for ; present != 0; present &= present - 1 {
			v := 64*group + bits.TrailingZeros64(present)
			k := int(l.Counts[v])
			if q += k; q == l.n {
				return level
			}
			t += k * (l.n*v - l.sum) // only processors of 64 bits have assembly for levels
			difference, product := float64(t), float64(q*(l.n-q))
			square := float64(difference * difference)
			mine, other := float64(square*bestProduct), float64(best*product)
			if mine <= other {
				if mine < other-other*close || !(square/product > best/bestProduct) {
					continue
				}
			} else if mine < other+other*close && !(square/product > best/bestProduct) {
				continue
			}
			level, best, bestProduct = v, square, product
		}
	}
	return level
}
