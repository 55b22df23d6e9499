package windows

import (
	"math"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// These are three consecutive box filters along one axis in integers, so nothing is rounded before
// the third. Three sums in sequence are updated from pixel to pixel, and the differences over all
// three sizes are taken at once (a cascaded integrator-comb filter, Hogenauer 1981). The sums wrap,
// but the results fit.

// tripleRows is the number of rows that are filtered together, each in a lane.
const tripleRows = 16

// A Triple holds the sizes of three boxes, smallest first.
type Triple struct{ Sizes [3]int }

// maxTriple bounds the sizes so that the first sums of bytes fit in 16 bits.
const maxTriple = 64

// Fits reports whether the sums of numbers up to most fit.
func (t *Triple) Fits(most uint64) bool {
	n := uint64(1)
	for _, k := range t.Sizes {
		if k < 1 || k > maxTriple+2 {
			return false
		}
		n *= uint64(k)
	}
	return t.Sizes[0] <= maxTriple && n*most < 1<<32
}

// Count returns the number of pixels that are summed, with multiplicity.
func (t *Triple) Count() int { return t.Sizes[0] * t.Sizes[1] * t.Sizes[2] }

// Span returns the sum of the sizes, which is the distance over which differences are taken.
func (t *Triple) Span() int { return t.Sizes[0] + t.Sizes[1] + t.Sizes[2] }

// Reach returns the number of pixels on each side that contribute to a pixel.
func (t *Triple) Reach() int { return (t.Span() - 3) / 2 }

// taps returns the distances of the terms of each difference, in pairs of which the second is
// subtracted.
func (t *Triple) taps() [8]int {
	a, b, c := t.Sizes[0], t.Sizes[1], t.Sizes[2]
	return [8]int{0, a, a + b, b, a + c, c, b + c, a + b + c}
}

// TripleScratch is the working memory of a worker.
type TripleScratch struct {
	lanes []uint16 // tripleRows elements per pixel
	sums  []uint32

	rows, to [tripleRows]*byte // arguments of the assembly, with taps
	taps     [8]int
}

// Forget drops references to the rows.
func (s *TripleScratch) Forget() { s.rows, s.to = [tripleRows]*byte{}, [tripleRows]*byte{} }

// Bytes returns the size of the memory that s keeps.
func (s *TripleScratch) Bytes() int { return 2*cap(s.lanes) + 4*cap(s.sums) }

// Across filters up to tripleRows rows of bytes with the given number of channels to 16 bits:
//
//	dst[i] = round(float32(sum) * factor)
//
// rounded to nearest, ties to even. beside returns the pixel that replaces the one at a position
// outside the row.
func (t *Triple) Across(level processor.Level, dst [][]uint16, src [][]uint8, channels int, factor float32, beside func(place int) int, s *TripleScratch) {
	n := len(src[0])
	asm := &windowTable[level]
	if asm.tripleAcross == nil || n < tripleRows {
		for i := range src {
			t.row(dst[i], src[i], channels, factor, beside, s)
		}
		return
	}
	// The lanes hold zeros, the pixels before the row, the row, and the pixels after it.
	zeros, reach := t.Span()*channels, t.Reach()*channels
	at := zeros + reach
	length := (at + n + reach) * tripleRows
	if len(s.lanes) < length {
		s.lanes = make([]uint16, length+raster.LineBytes)
	}
	lanes := s.lanes[:length]
	clear(lanes[:zeros*tripleRows])
	for i := range s.rows {
		s.rows[i] = raster.First(src[min(i, len(src)-1)])
	}
	end := n &^ (tripleRows - 1)
	asm.tripleIn(raster.First(lanes[at*tripleRows:]), &s.rows[0], end)
	for i := end; i < n; i++ {
		for r := range tripleRows {
			lanes[(at+i)*tripleRows+r] = uint16(src[min(r, len(src)-1)][i])
		}
	}
	pixels := lanes[at*tripleRows:]
	for x := range t.Reach() {
		for _, pair := range [2][2]int{{x - t.Reach(), beside(x - t.Reach())}, {n/channels + x, beside(n/channels + x)}} {
			copy(lanes[(at+pair[0]*channels)*tripleRows:][:channels*tripleRows], pixels[pair[1]*channels*tripleRows:])
		}
	}
	s.taps = t.taps()
	for ch := range channels {
		from := lanes[(zeros+ch)*tripleRows:]
		asm.tripleAcross(raster.First(from), n/channels+2*t.Reach(), 2*tripleRows*channels, &s.taps[0], factor)
	}
	// Results are stored at the position of the last difference.
	done := lanes[2*reach*tripleRows:]
	for i := range s.to {
		s.to[i] = raster.First(dst[min(i, len(dst)-1)][:n])
	}
	asm.tripleOut(&s.to[0], raster.First(done), end)
	for i := end; i < n; i++ {
		for r := range dst {
			dst[r][i] = done[i*tripleRows+r]
		}
	}
}

// row is like Across for one row.
func (t *Triple) row(dst []uint16, src []uint8, channels int, factor float32, beside func(place int) int, s *TripleScratch) {
	width, reach := len(src)/channels, t.Reach()
	if n := width + 2*reach; len(s.sums) < n {
		s.sums = make([]uint32, n)
	}
	for ch := range channels {
		sums := s.sums[:width+2*reach]
		for x := range sums {
			at := x - reach
			if at < 0 || at >= width {
				at = beside(at)
			}
			sums[x] = uint32(src[at*channels+ch])
		}
		for _, k := range t.Sizes {
			var sum uint32
			for _, v := range sums[:k-1] {
				sum += v
			}
			for i, v := range sums[k-1:] {
				sum += v
				oldest := sums[i]
				sums[i] = sum
				sum -= oldest
			}
			sums = sums[:len(sums)-k+1]
		}
		for x, v := range sums {
			dst[x*channels+ch] = uint16(math.RoundToEven(float64(float32(float32(int32(v)) * factor))))
		}
	}
}

// Down advances to the next row of 16-bit values below 2^15. state holds three sums for each
// element, in any order, initially zero. rows holds the current row and the rows that precede it by
// the distances of Taps. If dst is not nil, Down sets
//
//	dst[i] = round(float32(sum/2) * factor)
func (t *Triple) Down(level processor.Level, dst []uint8, state []uint32, rows *[8][]uint16, factor float32, s *TripleScratch) {
	n := len(rows[0])
	from := 0
	if asm := windowTable[level].tripleDown; asm != nil {
		from = n &^ (raster.LineBytes/2 - 1)
		for i := range rows {
			s.rows[i] = raster.First(rows[i][:n])
		}
		asm(raster.First(dst), raster.First(state[:3*n]), &s.rows[0], from, factor)
	}
	for i := from; i < n; i++ {
		var d uint32
		for j := 0; j < len(rows); j += 2 {
			d += uint32(rows[j][i]) - uint32(rows[j+1][i])
		}
		sums := state[3*i:][:3]
		sums[0] += d
		sums[1] += sums[0]
		sums[2] += sums[1]
		if dst != nil {
			dst[i] = uint8(math.RoundToEven(float64(float32(float32(int32(sums[2]>>1)) * factor))))
		}
	}
}

// Taps returns the distance between each row of Down and the current one.
func (t *Triple) Taps() [8]int { return t.taps() }
