package windows

import (
	"math"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Three boxes one after the other along a side, with whole numbers between them: nothing is
// rounded before the third. Sums go on from pixel to pixel three deep, and take the
// differences over each of the sizes at once (a cascaded integrator-comb filter, Hogenauer
// 1981): they wrap, but what comes out fits.

// tripleRows is how many rows go along together, each in a lane.
const tripleRows = 16

// A Triple is the sizes of three boxes, smallest first.
type Triple struct{ Sizes [3]int }

// maxTriple keeps the first sums of bytes in 16 bits.
const maxTriple = 64

// Fits reports whether sums of numbers up to most fit.
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

// Count is how many pixels are summed, with their multiplicities.
func (t *Triple) Count() int { return t.Sizes[0] * t.Sizes[1] * t.Sizes[2] }

// Span is the sum of the sizes: how far back the differences go.
func (t *Triple) Span() int { return t.Sizes[0] + t.Sizes[1] + t.Sizes[2] }

// Reach is how many pixels before a pixel and after it count.
func (t *Triple) Reach() int { return (t.Span() - 3) / 2 }

// taps is how far back each of the differences is, as pairs of which the second is
// subtracted from the first.
func (t *Triple) taps() [8]int {
	a, b, c := t.Sizes[0], t.Sizes[1], t.Sizes[2]
	return [8]int{0, a, a + b, b, a + c, c, b + c, a + b + c}
}

// TripleScratch is what a worker needs for rows.
type TripleScratch struct {
	lanes []uint16 // tripleRows a pixel
	sums  []uint32

	rows, to [tripleRows]*byte // what assembly takes, and taps too
	taps     [8]int
}

// Forget lets go of the rows.
func (s *TripleScratch) Forget() { s.rows, s.to = [tripleRows]*byte{}, [tripleRows]*byte{} }

// Bytes is how much memory it keeps.
func (s *TripleScratch) Bytes() int { return 2*cap(s.lanes) + 4*cap(s.sums) }

// Across blurs rows of bytes, up to tripleRows of them and of pixels of so many channels, to
// 16 bits:
//
//	dst[i] = round(float32(sum) * factor)
//
// to nearest, ties to even. beside is the pixel that stands for the one at a place beside the
// row.
func (t *Triple) Across(level processor.Level, dst [][]uint16, src [][]uint8, channels int, factor float32, beside func(place int) int, s *TripleScratch) {
	n := len(src[0])
	asm := &windowTable[level]
	if asm.tripleAcross == nil || n < tripleRows {
		for i := range src {
			t.row(dst[i], src[i], channels, factor, beside, s)
		}
		return
	}
	// Zeros, the pixels beside the row, the row, and those beside it on the other side.
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
	// What comes out lies where the last difference was.
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

// row is Across for one row.
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

// Down goes to the next row of 16 bits, below 2^15: state is three sums for each element, in
// any order, and zero at first. rows are the row itself and those that come before it by
// Taps. It is
//
//	dst[i] = round(float32(sum/2) * factor)
//
// where there is a dst.
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

// Taps is how many rows before its own each of the rows of Down is.
func (t *Triple) Taps() [8]int { return t.taps() }
