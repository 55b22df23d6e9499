package windows

import "github.com/boxsum/boxsum/internal/raster"

// A Counter counts the keys in a sliding window.
type Counter struct {
	Fine, Coarse []uint32 // counts of single keys, and of groups of 2^Shift keys
	Shift        int
	All          uint32 // number of keys counted
	None         int    // a key that is not counted, or -1

	// Logs, if not nil, holds c·log2(c) for small counts c, and Log returns it for greater ones.
	// LogSum is then the sum over all keys, and there are no groups.
	Logs   []int64
	Log    func(count int64) int64
	LogSum int64
}

// Add adds by, which may be negative modulo 2^32, to the count of a key.
func (c *Counter) Add(key, by uint32) {
	n := &c.Fine[key]
	if c.Logs == nil {
		*n += by
		c.Coarse[key>>c.Shift] += by
		c.All += by
		return
	}
	if int(key) == c.None {
		return
	}
	before := *n
	*n += by
	c.All += by
	if after := *n; int(max(before, after)) < len(c.Logs) {
		c.LogSum += c.Logs[after] - c.Logs[before]
	} else {
		c.LogSum += c.Log(int64(after)) - c.Log(int64(before))
	}
}

// Clear resets all counts.
func (c *Counter) Clear() {
	clear(c.Fine)
	clear(c.Coarse)
	c.All, c.LogSum = 0, 0
}

// Median returns the median key, the lower one of two. There must be at least one key.
func (c *Counter) Median() int {
	left := (c.All - 1) / 2
	i := 0
	for c.Coarse[i] <= left {
		left -= c.Coarse[i]
		i++
	}
	for i <<= c.Shift; c.Fine[i] <= left; i++ {
		left -= c.Fine[i]
	}
	return i
}

// keyLoops holds the kernels of [Counter.Column] by key type.
var keyLoops = [raster.NumTypes]func(c *Counter, keys []byte, rows []int, x int, by uint32){
	raster.U8: countColumn[uint8], raster.U16: countColumn[uint16], raster.U32: countColumn[uint32],
}

// Column counts the keys at element x of rows, which start at the given elements.
func (c *Counter) Column(t raster.Type, keys []byte, rows []int, x int, by uint32) {
	keyLoops[t](c, keys, rows, x, by)
}

func countColumn[K uint8 | uint16 | uint32](c *Counter, keys []byte, rows []int, x int, by uint32) {
	all := raster.Elems[K](keys)
	for _, row := range rows {
		c.Add(uint32(all[row+x]), by)
	}
}

// numberLoops holds the kernels of [Numbers] by pixel type.
var numberLoops = [raster.NumTypes]func(dst []int, src []byte){
	raster.U8: numbers[uint8], raster.U16: numbers[uint16], raster.U32: numbers[uint32],
}

// Numbers converts integer pixels to int.
func Numbers(t raster.Type, dst []int, src []byte) { numberLoops[t](dst, src) }

func numbers[P uint8 | uint16 | uint32](dst []int, src []byte) {
	for i, v := range raster.Elems[P](src)[:len(dst)] {
		dst[i] = int(v)
	}
}

// A Corner holds the indices of the four table entries around a window.
type Corner struct{ TopLeft, TopRight, BottomLeft, BottomRight int }

// cornerLoops holds the kernels of [CornerMeans] by sum type.
var cornerLoops = [raster.NumTypes]func(dst []float64, sums []byte, at Corner, outer float64, beside, count int){
	raster.U32: wholeCorners[uint32], raster.U64: wholeCorners[uint64], raster.F64: floatCorners,
}

// CornerMeans computes the mean of a window for every channel, given the entries of a table and the
// number of pixels, beside, of value outer that lie outside the image. Means of integers are
// rounded to nearest, ties up.
func CornerMeans(sum raster.Type, dst []float64, sums []byte, at Corner, outer float64, beside, count int) {
	cornerLoops[sum](dst, sums, at, outer, beside, count)
}

func wholeCorners[S uint32 | uint64](dst []float64, sums []byte, at Corner, outer float64, beside, count int) {
	t := raster.Elems[S](sums)
	for ch := range dst {
		sum := t[at.BottomRight+ch] - t[at.BottomLeft+ch] - (t[at.TopRight+ch] - t[at.TopLeft+ch])
		sum += S(beside) * S(outer)
		dst[ch] = float64((uint64(sum) + uint64(count)/2) / uint64(count))
	}
}

func floatCorners(dst []float64, sums []byte, at Corner, outer float64, beside, count int) {
	t := raster.Elems[float64](sums)
	for ch := range dst {
		sum := t[at.BottomRight+ch] - t[at.BottomLeft+ch] - (t[at.TopRight+ch] - t[at.TopLeft+ch])
		if beside > 0 {
			sum += float64(float64(beside) * outer)
		}
		dst[ch] = sum / float64(count)
	}
}
