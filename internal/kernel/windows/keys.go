package windows

import "github.com/boxsum/boxsum/internal/raster"

// A Counter counts keys, which are numbers below its size, one window after the other.
type Counter struct {
	Fine, Coarse []uint32 // of single keys, and of groups of 2^Shift
	Shift        int
	All          uint32 // that count
	None         int    // a key that does not count, or -1

	// Logs is c·log2(c) of every count, and of more counts what Log says: then LogSum is
	// the sum for all keys, and there are no groups.
	Logs   []int64
	Log    func(count int64) int64
	LogSum int64
}

// Add counts a key by more times, which may be negative.
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

// Clear forgets all keys.
func (c *Counter) Clear() {
	clear(c.Fine)
	clear(c.Coarse)
	c.All, c.LogSum = 0, 0
}

// Median returns the key in the middle, the lower one of two. There must be a key.
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

// keyLoops holds the kernels of [Counter.Column] by the type of keys.
var keyLoops = [raster.NumTypes]func(c *Counter, keys []byte, rows []int, x int, by uint32){
	raster.U8: countColumn[uint8], raster.U16: countColumn[uint16], raster.U32: countColumn[uint32],
}

// Column counts the keys at element x of rows, given by the elements where they start.
func (c *Counter) Column(t raster.Type, keys []byte, rows []int, x int, by uint32) {
	keyLoops[t](c, keys, rows, x, by)
}

func countColumn[K uint8 | uint16 | uint32](c *Counter, keys []byte, rows []int, x int, by uint32) {
	all := raster.Elems[K](keys)
	for _, row := range rows {
		c.Add(uint32(all[row+x]), by)
	}
}

// numberLoops holds the kernels of [Numbers] by type.
var numberLoops = [raster.NumTypes]func(dst []int, src []byte){
	raster.U8: numbers[uint8], raster.U16: numbers[uint16], raster.U32: numbers[uint32],
}

// Numbers makes ints of whole pixels.
func Numbers(t raster.Type, dst []int, src []byte) { numberLoops[t](dst, src) }

func numbers[P uint8 | uint16 | uint32](dst []int, src []byte) {
	for i, v := range raster.Elems[P](src)[:len(dst)] {
		dst[i] = int(v)
	}
}

// A Corner is the four entries of a table round a window, by their places in its memory.
type Corner struct{ TopLeft, TopRight, BottomLeft, BottomRight int }

// cornerLoops holds the kernels of [CornerMeans] by the type of sums.
var cornerLoops = [raster.NumTypes]func(dst []float64, sums []byte, at Corner, outer float64, beside, count int){
	raster.U32: wholeCorners[uint32], raster.U64: wholeCorners[uint64], raster.F64: floatCorners,
}

// CornerMeans makes the means of the channels of a window from the entries of a table, and
// from pixels beside the image that are all outer. Means of integers are rounded to
// nearest, ties up.
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
