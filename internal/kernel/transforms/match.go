package transforms

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// scoreLanes is the number of scores in a cache line.
const scoreLanes = raster.LineBytes / 4

// FillLines subtracts center from 16 bytes of each row and stores them as the real parts of points,
// or as the imaginary parts if lines starts at the second line. It adds their squares to energy.
func FillLines(level processor.Level, lines []float32, src []uint8, stride, rows int, center float32, energy *[scoreLanes]float32) {
	if rows <= 0 {
		return
	}
	_, _ = lines[(rows-1)*2*scoreLanes+scoreLanes-1], src[(rows-1)*stride+scoreLanes-1]
	if asm := matchTable[level].fillU8; asm != nil {
		asm(raster.First(lines), raster.First(src), stride, rows, center, raster.First(energy[:]))
		return
	}
	for y := range rows {
		to, from := lines[y*2*scoreLanes:][:scoreLanes], src[y*stride:][:scoreLanes]
		for i, p := range from {
			v := float32(p) - center
			to[i] = v
			energy[i] += float32(v * v)
		}
	}
}

// ScoreLines multiplies factors by numerators, which are the first n elements, at most 16, of the
// lines of points. Scores are clamped to [-1, 1]; NaN remains NaN.
func ScoreLines(level processor.Level, dst []float32, stride int, lines []float32, rows, n int, bias float32) {
	if rows <= 0 || n <= 0 {
		return
	}
	_, _ = lines[(rows-1)*2*scoreLanes+n-1], dst[(rows-1)*stride+n-1]
	if asm := matchTable[level].scoresF32; asm != nil && n == scoreLanes {
		asm(raster.First(dst), 4*stride, raster.First(lines), rows, bias)
		return
	}
	for y := range rows {
		to, from := dst[y*stride:][:n], lines[y*2*scoreLanes:][:n]
		for i, v := range from {
			v = float32(v+bias) * to[i]
			if v > 1 {
				v = 1
			} else if v < -1 {
				v = -1
			}
			to[i] = v
		}
	}
}

// UpdateMax updates 16 maxima with further numbers. It ignores NaN.
func UpdateMax(level processor.Level, most *[scoreLanes]float32, numbers []float32) {
	if asm := matchTable[level].mostF32; asm != nil {
		whole := len(numbers) &^ (scoreLanes - 1)
		asm(raster.First(most[:]), raster.First(numbers), whole)
		numbers = numbers[whole:]
	}
	for _, v := range numbers {
		if v > most[0] {
			most[0] = v
		}
	}
}

// Factors computes root/√(area·q - mean·s²) for windows with sums s = hi-lo and squares q =
// hi2-lo2, both below 2^31, or 0 where the difference is 0. The difference must be an integer that
// float64 represents exactly.
func Factors(level processor.Level, dst []float32, hi, lo, hi2, lo2 []uint32, area, mean float64, root float32) {
	n := len(dst)
	hi, lo, hi2, lo2 = hi[:n], lo[:n], hi2[:n], lo2[:n]
	from := 0
	if asm := matchTable[level].factorsU32; asm != nil {
		from = n &^ (scoreLanes - 1)
		asm(raster.First(dst), raster.First(hi), raster.First(lo), raster.First(hi2), raster.First(lo2), from, area, mean, root)
	}
	for i := from; i < n; i++ {
		s, q := float64(hi[i]-lo[i]), float64(hi2[i]-lo2[i])
		v := float32(float64(area*q) - float64(float64(mean*s)*s))
		if v == 0 {
			dst[i] = 0
			continue
		}
		dst[i] = root / float32(math.Sqrt(float64(v)))
	}
}

// matchRoutines holds the kernels of package match at a level.
type matchRoutines struct {
	fillU8     func(dst, src *byte, stride, rows int, center float32, energy *byte)
	scoresF32  func(dst *byte, stride int, src *byte, rows int, bias float32)
	mostF32    func(most, src *byte, n int)
	factorsU32 func(dst, hi, lo, hi2, lo2 *byte, n int, area, mean float64, root float32)

	correlateU8 func(dst, src *byte, stride int, template *byte, width, rows int)
	scoresU32   func(dst, products, hi, lo *byte, n int, area, mean float64)
}

// CorrelateSpan is the number of positions in a row that a [Correlator] computes at a time.
const CorrelateSpan = 64

// Correlations holds sums of products at positions of two rows.
type Correlations [2][CorrelateSpan]int32

// A Correlator computes exact sums of products of bytes and a template.
type Correlator struct {
	width, height int
	template      []int8
	lanes         []uint32 // the template as the level's kernel expects it
	perLane       int      // pixels in a lane
	asm           func(dst, src *byte, stride int, template *byte, width, rows int)
}

// Set sets the template. Its sums of products must fit in 32 bits.
func (c *Correlator) Set(level processor.Level, template []int8, width, height int) {
	c.width, c.height, c.template = width, height, append(c.template[:0], template[:width*height]...)
	c.asm, c.perLane = matchTable[level].correlateU8, 2
	if c.asm == nil {
		c.perLane = 1
		return
	}
	if bytesInLanes(level) {
		c.perLane = 4
	}
	n := (width + c.perLane - 1) / c.perLane
	if cap(c.lanes) < n*(height+2) {
		c.lanes = make([]uint32, n*(height+2))
	}
	c.lanes = c.lanes[:n*(height+2)]
	clear(c.lanes)
	size := 32 / c.perLane
	for y := range height {
		for x := range width {
			v := uint32(int32(template[y*width+x])) & (1<<size - 1)
			c.lanes[(y+1)*n+x/c.perLane] |= v << (x % c.perLane * size)
		}
	}
}

// Reach returns the number of pixels of a row, and the number of rows, that At may read.
func (c *Correlator) Reach() (width, height int) {
	return CorrelateSpan + c.width + 2*(c.perLane-1), c.height + 1
}

// At computes
//
//	dst[j][x] = Σ src[(y+j)*stride+x+i] * template[y][i]
//
// It may read as many pixels of src as Reach returns.
func (c *Correlator) At(dst *Correlations, src []uint8, stride int) {
	w, h := c.Reach()
	_ = src[(h-1)*stride+w-1]
	if c.asm != nil {
		c.asm((*byte)(unsafe.Pointer(dst)), raster.First(src), stride, raster.First(c.lanes), len(c.lanes)/(c.height+2), c.height)
		return
	}
	*dst = Correlations{}
	for y := range c.height {
		for i, t := range c.template[y*c.width:][:c.width] {
			for j := range dst {
				to := &dst[j]
				for x, p := range src[(y+j)*stride+i:][:CorrelateSpan] {
					to[x] += int32(p) * int32(t)
				}
			}
		}
	}
}

// ScoreSums multiplies factors by numerators:
//
//	dst[i] *= area*products[i] + mean*(hi[i]-lo[i])
//
// The numerators must be integers that float64 represents exactly. Scores are clamped to [-1, 1].
func ScoreSums(level processor.Level, dst []float32, products []int32, hi, lo []uint32, area, mean float64) {
	n := len(dst)
	products, hi, lo = products[:n], hi[:n], lo[:n]
	from := 0
	if asm := matchTable[level].scoresU32; asm != nil {
		from = n &^ (scoreLanes - 1)
		asm(raster.First(dst), raster.First(products), raster.First(hi), raster.First(lo), from, area, mean)
	}
	for i := from; i < n; i++ {
		v := float32(float64(area*float64(products[i])) + float64(mean*float64(hi[i]-lo[i])))
		dst[i] = max(-1, min(1, v*dst[i]))
	}
}
