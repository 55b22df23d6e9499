package rank

import "math"

// A counter holds the histogram of a window.
type counter struct {
	fine   []uint32 // pixels of each level
	coarse []uint32 // pixels of groups of 2^shift levels, to pass over those without any
	shift  uint
	n      int64 // pixels
	sum    int64 // of their levels
}

// aim clears the counter, for so many levels.
func (c *counter) aim(levels int) {
	for c.shift = 0; 1<<(2*c.shift) < levels; c.shift++ {
	}
	groups := (levels + 1<<c.shift - 1) >> c.shift
	if cap(c.coarse) < groups || cap(c.fine) < groups<<c.shift {
		c.fine, c.coarse = make([]uint32, groups<<c.shift), make([]uint32, groups)
	}
	c.fine, c.coarse = c.fine[:groups<<c.shift], c.coarse[:groups]
	clear(c.fine)
	clear(c.coarse)
	c.n, c.sum = 0, 0
}

func (c *counter) add(v int) {
	c.fine[v]++
	c.coarse[v>>c.shift]++
	c.n++
	c.sum += int64(v)
}

func (c *counter) remove(v int) {
	c.fine[v]--
	c.coarse[v>>c.shift]--
	c.n--
	c.sum -= int64(v)
}

// result returns what a job with integer results makes of the pixels counted, and of the pixel in the middle.
func (c *counter) result(j *Job, g int) int {
	if c.n == 0 {
		return 0
	}
	switch j.Kind {
	case Minimum:
		return c.first()
	case Maximum:
		return c.last()
	case Gradient:
		return c.last() - c.first()
	case Mean:
		return int(c.sum / c.n)
	case Sum:
		return int(c.sum) // the lower bits suffice
	case SubtractMean:
		return int((float64(g)-float64(c.sum)/float64(c.n))/2 + float64(j.Levels/2) - 1)
	case Threshold:
		if int64(g)*c.n > c.sum {
			return 1
		}
		return 0
	case Percentile:
		return c.percentile(j.Fraction)
	case Majority:
		return c.majority()
	case Autolevel:
		return j.stretch(g, c.first(), c.last())
	case Equalize:
		return int(int64(j.Levels-1) * c.upTo(g) / c.n)
	case Otsu:
		return c.otsu()
	}
	return c.meanBetween(g-j.Below+1, g+j.Above)
}

// stretch maps a range of levels to all of them. Pixels that do not count may lie beyond it.
func (j *Job) stretch(g, low, high int) int {
	if low == high {
		return 0
	}
	if low <= g && g <= high { // fast, as it fits in 32 bits
		return int(uint32(j.Levels-1) * uint32(g-low) / uint32(high-low))
	}
	v := int(int64(j.Levels-1) * int64(g-low) / int64(high-low))
	if j.Wraps {
		return v
	}
	return min(max(v, 0), j.Levels-1)
}

// first returns the lowest level that was counted.
func (c *counter) first() int {
	i := 0
	for c.coarse[i] == 0 {
		i++
	}
	for i <<= c.shift; c.fine[i] == 0; i++ {
	}
	return i
}

// last returns the highest level that was counted.
func (c *counter) last() int {
	i := len(c.coarse) - 1
	for c.coarse[i] == 0 {
		i--
	}
	for i = (i+1)<<c.shift - 1; c.fine[i] == 0; i-- {
	}
	return i
}

// upTo returns the number of pixels of levels up to g.
func (c *counter) upTo(g int) int64 {
	n, group := uint32(0), g>>c.shift
	for _, k := range c.coarse[:group] {
		n += k
	}
	for _, k := range c.fine[group<<c.shift : g+1] {
		n += k
	}
	return int64(n)
}

// percentile returns the lowest level up to which more than a fraction of the pixels are, or else the highest.
func (c *counter) percentile(fraction float64) int {
	limit, n := fraction*float64(c.n), int64(0)
	if fraction == 1 {
		return c.last()
	}
	i := 0
	for ; float64(n+int64(c.coarse[i])) <= limit; i++ {
		n += int64(c.coarse[i])
	}
	for i <<= c.shift; float64(n+int64(c.fine[i])) <= limit; i++ {
		n += int64(c.fine[i])
	}
	return i
}

// majority returns the lowest of the most frequent levels.
func (c *counter) majority() int {
	level, most := 0, uint32(0)
	for group, n := range c.coarse {
		if n <= most {
			continue
		}
		from := group << c.shift
		for i, k := range c.fine[from : from+1<<c.shift] {
			if k > most {
				level, most = from+i, k
			}
		}
	}
	return level
}

// otsu returns the level that separates the pixels into two classes with the greatest variance between them: the lowest of
// several. It is 0 if the pixels have one level, or only that and 0.
func (c *counter) otsu() int {
	n, sum := float64(c.n), float64(c.sum)
	level, best := 0, 0.0
	q, m := float64(c.fine[0]), 0.0 // pixels of the lower class, and the sum of their levels
	for group, some := range c.coarse {
		if some == 0 {
			continue
		}
		from := group << c.shift
		for i, k := range c.fine[from : from+1<<c.shift] {
			if k == 0 || from+i == 0 {
				continue
			}
			q += float64(k)
			rest := n - q
			if rest == 0 {
				return level
			}
			m += float64(from+i) * float64(k)
			t := float64(rest*m) - float64((sum-m)*q)
			// A division takes as long as everything else, and most are not needed.
			if square, product := float64(t*t), float64(q*rest); square > float64(best*product)*(1-0x1p-50) {
				if v := square / product; v > best {
					level, best = from+i, v
				}
			}
		}
	}
	return level
}

// meanBetween returns the mean of the pixels with levels from low up to high, without high, or 0 if there are none.
func (c *counter) meanBetween(low, high int) int {
	low, high = max(low, 0), min(high, len(c.fine))
	n, sum := int64(0), int64(0)
	for i := low; i < high; i++ {
		if k := int64(c.fine[i]); k > 0 {
			n += k
			sum += int64(i) * k
		}
	}
	if n == 0 {
		return 0
	}
	return int(sum / n)
}

// entropy returns Shannon's entropy in bits. logs holds log2 of counts, as far as it goes.
func (c *counter) entropy(logs []float64) float64 {
	if c.n == 0 {
		return 0
	}
	sum := 0.0
	for group, n := range c.coarse {
		if n == 0 {
			continue
		}
		from := group << c.shift
		for _, k := range c.fine[from : from+1<<c.shift] {
			if k > 0 {
				sum += float64(float64(k) * log2(logs, int64(k)))
			}
		}
	}
	return max(0, log2(logs, c.n)-sum/float64(c.n))
}

func log2(logs []float64, n int64) float64 {
	if n < int64(len(logs)) {
		return logs[n]
	}
	return math.Log2(float64(n))
}

// shares writes the share of each level in the pixels counted.
func (c *counter) shares(to []float64) {
	clear(to)
	if c.n == 0 {
		return
	}
	scale := 1 / float64(c.n)
	for i, k := range c.fine[:min(len(to), len(c.fine))] {
		to[i] = float64(k) * scale
	}
}
