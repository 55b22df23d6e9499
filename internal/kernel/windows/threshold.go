package windows

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// A FormulaKind is a formula for thresholds from the statistics of a window.
type FormulaKind uint8

const (
	SauvolaFormula FormulaKind = iota
	NiblackFormula
	WolfFormula
	NICKFormula
	PhansalkarFormula
	TRSinghFormula // this formula and those after it do not use squares
	BradleyFormula
	MeanCFormula
	SuFormula
)

// Squares reports whether a formula needs sums of squares.
func (k FormulaKind) Squares() bool { return k < TRSinghFormula }

// A Formula is a kind with its parameters.
type Formula struct {
	Kind     FormulaKind
	Whole    bool    // pixels are integers
	Bytes    bool    // pixels are bytes: decisions equal Doxa's, including its rounding
	K        float64 // weight of the deviation
	P        float64 // of Phansalkar, with -Q scaled to values up to White
	NegQ     float64
	White    float64
	InverseR float64 // inverse of the deviation for which the threshold is the mean
	Most     float64 // of TRSingh: greatest distance of a pixel from the mean
	Factor   float64 // of Bradley
	C        float64 // of MeanC

	Darkest, Spread float64 // of Wolf: the least pixel and the greatest deviation of the image
}

// At returns the threshold of a pixel, given mean and variance of its window. Operations are in
// Doxa's order, and products are rounded before they are added.
func (f *Formula) At(pixel, mean, variance float64) float64 {
	switch f.Kind {
	case SauvolaFormula:
		return mean * (1 + float64(f.K*(math.Sqrt(variance)*f.InverseR-1)))
	case NiblackFormula:
		return mean + float64(f.K*math.Sqrt(variance))
	case WolfFormula:
		return mean - float64(f.K*(1-math.Sqrt(variance)/f.Spread)*(mean-f.Darkest))
	case NICKFormula:
		return mean + float64(f.K*math.Sqrt(variance+float64(mean*mean)))
	case PhansalkarFormula:
		return mean * (1 + float64(f.P*math.Exp(f.NegQ*mean)) + float64(f.K*(math.Sqrt(variance)*f.InverseR-1)))
	case TRSinghFormula:
		d := min(math.Abs(pixel-mean), f.Most)
		return mean * (1 + float64(f.K*(d/(f.White-d)-1)))
	case BradleyFormula:
		return mean * f.Factor
	case SuFormula:
		return mean + math.Sqrt(variance)/2
	}
	if f.Whole {
		mean = math.Floor(mean + 0.5)
	}
	return mean - f.C
}

// SuThreshold returns the threshold of n pixels with these sums, as Doxa computes it.
func SuThreshold(sum, squares, n float64) float64 {
	if n == 0 {
		return 0
	}
	mean := sum / n
	variance := squares/n - float64(mean*mean)
	if variance > 0 {
		return mean + math.Sqrt(variance)/2
	}
	return mean
}

// suScratch is the working memory of the assembly. The generator knows the offsets.
type suScratch struct {
	abs   [8]uint64
	tiny  [8]float64
	doubt [decideChunk]uint8
}

// A Masked decides by Su's method.
type Masked struct {
	pix     [decideChunk]uint8
	scratch suScratch
}

// Row sets dst to 0 for pixels that are at most the [SuThreshold] of their windows, if these have
// at least least pixels, and to 255 for all others. Sums, each hi-lo, are those of the values, of
// their squares, and of the number of values.
func (m *Masked) Row(level processor.Level, dst, pix []uint8, hi, lo, hi2, lo2, hiN, loN []uint32, least int64) {
	dst, hi, lo, hi2, lo2 = dst[:len(pix)], hi[:len(pix)], lo[:len(pix)], hi2[:len(pix)], lo2[:len(pix)]
	hiN, loN = hiN[:len(pix)], loN[:len(pix)]
	asm := thresholdTable[level].decideSu
	if asm == nil {
		for i, p := range pix {
			dst[i] = suDecide(p, hi[i]-lo[i], hi2[i]-lo2[i], hiN[i]-loN[i], least)
		}
		return
	}
	s := &m.scratch
	for i := range s.abs {
		s.abs[i], s.tiny[i] = 1<<63-1, 0x1p-40
	}
	inPlace := unsafe.SliceData(dst) == unsafe.SliceData(pix)
	for len(pix) > 0 {
		n := min(len(pix), decideChunk)
		whole := n &^ 7
		some := pix[:whole]
		if inPlace {
			some = m.pix[:copy(m.pix[:], some)]
		}
		if whole > 0 {
			asm(raster.First(dst), raster.First(some), raster.First(hi), raster.First(lo), raster.First(hi2), raster.First(lo2), raster.First(hiN), raster.First(loN), whole, float64(least), (*byte)(unsafe.Pointer(s)))
		}
		for i := 0; i < whole; i += 8 {
			word := binary.LittleEndian.Uint64(s.doubt[i:]) // a byte for each vector of four or eight pixels
			for ; word != 0; word &= word - 1 {
				bit := bits.TrailingZeros64(word)
				j := i + bit/8 + bit%8
				dst[j] = suDecide(some[j], hi[j]-lo[j], hi2[j]-lo2[j], hiN[j]-loN[j], least)
			}
		}
		for i := whole; i < n; i++ {
			dst[i] = suDecide(pix[i], hi[i]-lo[i], hi2[i]-lo2[i], hiN[i]-loN[i], least)
		}
		dst, pix, hi, lo, hi2, lo2, hiN, loN = dst[n:], pix[n:], hi[n:], lo[n:], hi2[n:], lo2[n:], hiN[n:], loN[n:]
	}
}

func suDecide(p uint8, sum, squares, n uint32, least int64) uint8 {
	if int64(n) >= least && float64(p) <= SuThreshold(float64(sum), float64(squares), float64(n)) {
		return 0
	}
	return 255
}
