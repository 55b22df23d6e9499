package kernel

import (
	"math"
)

// scoreLanes is how many scores a line has.
const scoreLanes = LineBytes / 4

// FillLines puts 16 bytes of each row, less a number, into lines: the real parts of
// points, or from the second line on the imaginary ones. The squares are added to energy.
func FillLines(level Level, lines []float32, src []uint8, stride, rows int, center float32, energy *[scoreLanes]float32) {
	if rows <= 0 {
		return
	}
	_, _ = lines[(rows-1)*2*scoreLanes+scoreLanes-1], src[(rows-1)*stride+scoreLanes-1]
	if asm := matches[level].fillU8; asm != nil {
		asm(first(lines), first(src), stride, rows, center, first(energy[:]))
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

// ScoreLines multiplies factors by numerators, which lie in the lines of points: n of each
// line, 16 or less. Scores are clamped to -1 and 1; a NaN stays.
func ScoreLines(level Level, dst []float32, stride int, lines []float32, rows, n int, bias float32) {
	if rows <= 0 || n <= 0 {
		return
	}
	_, _ = lines[(rows-1)*2*scoreLanes+n-1], dst[(rows-1)*stride+n-1]
	if asm := matches[level].scoresF32; asm != nil && n == scoreLanes {
		asm(first(dst), 4*stride, first(lines), rows, bias)
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

// Most looks for the greatest of numbers, but NaN: most has 16 of them so far.
func Most(level Level, most *[scoreLanes]float32, numbers []float32) {
	if asm := matches[level].mostF32; asm != nil {
		whole := len(numbers) &^ (scoreLanes - 1)
		asm(first(most[:]), first(numbers), whole)
		numbers = numbers[whole:]
	}
	for _, v := range numbers {
		if v > most[0] {
			most[0] = v
		}
	}
}

// Factors is root/√(area·q - mean·s²) of windows with sums s = hi-lo and squares q = hi2-lo2
// below 2^31, and 0 where the difference is 0. Area and mean must make it a whole number that
// float64 holds.
func Factors(level Level, dst []float32, hi, lo, hi2, lo2 []uint32, area, mean float64, root float32) {
	n := len(dst)
	hi, lo, hi2, lo2 = hi[:n], lo[:n], hi2[:n], lo2[:n]
	from := 0
	if asm := matches[level].factorsU32; asm != nil {
		from = n &^ (scoreLanes - 1)
		asm(first(dst), first(hi), first(lo), first(hi2), first(lo2), from, area, mean, root)
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

// matchRoutines are the kernels of package match at a level.
type matchRoutines struct {
	fillU8     func(dst, src *byte, stride, rows int, center float32, energy *byte)
	scoresF32  func(dst *byte, stride int, src *byte, rows int, bias float32)
	mostF32    func(most, src *byte, n int)
	factorsU32 func(dst, hi, lo, hi2, lo2 *byte, n int, area, mean float64, root float32)
}
