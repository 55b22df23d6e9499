package windows

import (
	"math"
	"math/bits"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// Sums holds the sums of neighboring windows: that of element i is Hi[i]-Lo[i].
type Sums struct {
	Type   raster.Type
	Hi, Lo []byte
}

// Cut sets s to elements [i, j) of the given sums. The range may be empty.
func (s *Sums) Cut(of *Sums, i, j int) {
	s.Type, s.Hi, s.Lo = of.Type, nil, nil
	if of.Hi != nil {
		n := of.Type.Bytes()
		s.Hi, s.Lo = of.Hi[i*n:j*n], of.Lo[i*n:j*n]
	}
}

// Slice returns the sums of elements [i, j).
func (s *Sums) Slice(i, j int) (part Sums) {
	part.Cut(s, i, j)
	return part
}

// A Mean describes how means are computed from sums.
type Mean struct {
	Count  uint64  // pixels in a window
	Offset float64 // subtracted from all float pixels
	Scale  uint    // number of bits by which integer sums are shifted left first
	Most   uint64  // the greatest integer sum
}

type (
	meanLoop     func(level processor.Level, dst, hi, lo []byte, m Mean)
	roundRoutine func(dst, hi, lo *byte, n int, scale, half, multiplier, shift uint32)
	meansRoutine func(dst, hi, lo *byte, n int, inverse, offset float64)

	validMeansRoutine func(dst, hi, lo, hiCount, loCount *byte, n int, offset, nan float64)
)

// meanLoops holds the kernels of means by sum type and result type.
var meanLoops = [raster.NumTypes][raster.NumTypes]meanLoop{
	raster.U32: {
		raster.U8:  roundedMeans[uint8, uint32](func(w *windowRoutines) roundRoutine { return w.roundU8 }),
		raster.U16: roundedMeans[uint16, uint32](func(w *windowRoutines) roundRoutine { return w.roundU16 }),
		raster.F32: singleMeans[uint32](func(w *windowRoutines) meansRoutine { return w.meansU32F32 }),
		raster.F64: doubleMeans[uint32],
	},
	raster.U64: {
		raster.U8:  roundedMeans[uint8, uint64](nil),
		raster.U16: roundedMeans[uint16, uint64](nil),
		raster.F32: singleMeans[uint64](nil),
		raster.F64: doubleMeans[uint64],
	},
	raster.F64: {
		raster.U16: wordMeans,
		raster.F32: singleMeans[float64](func(w *windowRoutines) meansRoutine { return w.meansF64F32 }),
		raster.F64: doubleMeans[float64],
	},
}

// Means converts sums to means. Integers are rounded to nearest, ties up. float32 means are
// products with 1/n, which has a relative error of at most 2^-52; float64 means are quotients.
func (s *Sums) Means(level processor.Level, dst raster.Type, to []byte, m Mean) {
	meanLoops[s.Type][dst](level, to, s.Hi, s.Lo, m)
}

// roundedMeans returns the kernel of
//
//	dst[i] = round((hi[i] - lo[i]) << scale / n)
func roundedMeans[D, A raster.Number](routine func(w *windowRoutines) roundRoutine) meanLoop {
	return func(level processor.Level, dst, hi, lo []byte, m Mean) {
		to := raster.Elems[D](dst)
		high, low := raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
		if routine != nil && len(to) >= windowUnit {
			if asm := routine(&windowTable[level]); asm != nil {
				if d := NewDivisor(m.Count); d.most > 0 && m.Most<<m.Scale+d.half <= d.most {
					n := len(to) &^ (windowUnit - 1)
					asm(raster.First(to), raster.First(high), raster.First(low), n, uint32(m.Scale), uint32(d.half), d.multiplier, d.shift)
					to, high, low = to[n:], high[n:], low[n:]
				}
			}
		}
		half := m.Count / 2
		for i := range to {
			to[i] = D((uint64(high[i]-low[i])<<m.Scale + half) / m.Count)
		}
	}
}

// singleMeans returns the kernel of
//
//	dst[i] = float32(float64(hi[i]-lo[i])*(1/n) + offset)
func singleMeans[A raster.Number](routine func(w *windowRoutines) meansRoutine) meanLoop {
	return func(level processor.Level, dst, hi, lo []byte, m Mean) {
		to := raster.Elems[float32](dst)
		high, low := raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
		inverse := 1 / float64(m.Count)
		if routine != nil && len(to) >= windowUnit && m.Most < 1<<31 {
			if asm := routine(&windowTable[level]); asm != nil {
				n := len(to) &^ (windowUnit - 1)
				asm(raster.First(to), raster.First(high), raster.First(low), n, inverse, m.Offset)
				to, high, low = to[n:], high[n:], low[n:]
			}
		}
		for i := range to {
			to[i] = float32(float64(float64(high[i]-low[i])*inverse) + m.Offset)
		}
	}
}

// ValidMeans computes float means of windows of valid pixels, from float64 sums and from uint32 numbers of valid pixels:
//
//	dst[i] = sum[i]/count[i] + offset
//
// The mean of no pixels is NaN. There are fewer than 2^31 pixels in a window.
func ValidMeans(level processor.Level, dst raster.Type, to []byte, sums, counts Sums, offset float64) {
	if dst == raster.F64 {
		validMeans[float64](windowTable[level].validMeansF64, to, sums, counts, offset)
	} else {
		validMeans[float32](windowTable[level].validMeansF32, to, sums, counts, offset)
	}
}

func validMeans[D float32 | float64](asm validMeansRoutine, dst []byte, sums, counts Sums, offset float64) {
	to := raster.Elems[D](dst)
	hi, lo := raster.Elems[float64](sums.Hi)[:len(to)], raster.Elems[float64](sums.Lo)[:len(to)]
	hiCount, loCount := raster.Elems[uint32](counts.Hi)[:len(to)], raster.Elems[uint32](counts.Lo)[:len(to)]
	from := 0
	if asm != nil && len(to) >= windowUnit {
		from = len(to) &^ (windowUnit - 1)
		asm(raster.First(to), raster.First(hi), raster.First(lo), raster.First(hiCount), raster.First(loCount), from, offset, math.NaN())
	}
	for i := from; i < len(to); i++ {
		if count := hiCount[i] - loCount[i]; count == 0 {
			to[i] = D(math.NaN())
		} else {
			to[i] = D((hi[i]-lo[i])/float64(count) + offset)
		}
	}
}

func doubleMeans[A raster.Number](_ processor.Level, dst, hi, lo []byte, m Mean) {
	to := raster.Elems[float64](dst)
	high, low := raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
	n := float64(m.Count)
	for i := range to {
		to[i] = float64(high[i]-low[i])/n + m.Offset
	}
}

// wordMeans converts float sums of integers to integer means.
func wordMeans(_ processor.Level, dst, hi, lo []byte, m Mean) {
	to := raster.Elems[uint16](dst)
	high, low := raster.Elems[float64](hi)[:len(to)], raster.Elems[float64](lo)[:len(to)]
	inverse := 1 / float64(m.Count)
	for i := range to {
		to[i] = uint16(float64(float64(high[i]-low[i])*inverse) + m.Offset + 0.5)
	}
}

// totalLoops holds the kernels of [Sums.Totals] by sum type and result type.
var totalLoops = [raster.NumTypes][raster.NumTypes]func(dst, hi, lo []byte, offset float64){
	raster.U32: totals[uint32](),
	raster.U64: totals[uint64](),
	raster.F64: totals[float64](),
}

func totals[A raster.Number]() [raster.NumTypes]func(dst, hi, lo []byte, offset float64) {
	return [raster.NumTypes]func(dst, hi, lo []byte, offset float64){
		raster.U8: totalLoop[uint8, A], raster.U16: totalLoop[uint16, A], raster.U32: totalLoop[uint32, A],
		raster.I16: totalLoop[int16, A], raster.I32: totalLoop[int32, A],
		raster.U64: longTotals[uint64, A], raster.I64: longTotals[int64, A],
		raster.F32: totalLoop[float32, A], raster.F64: totalLoop[float64, A],
	}
}

// Totals converts the sums to pixels, and adds the offset.
func (s *Sums) Totals(dst raster.Type, to []byte, offset float64) {
	totalLoops[s.Type][dst](to, s.Hi, s.Lo, offset)
}

func totalLoop[D, A raster.Number](dst, hi, lo []byte, offset float64) {
	to := raster.Elems[D](dst)
	high, low := raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
	for i := range to {
		to[i] = D(float64(high[i]-low[i]) + offset)
	}
}

// longTotals is a totalLoop for integers that float64 cannot represent. They have no offset.
func longTotals[D uint64 | int64, A raster.Number](dst, hi, lo []byte, _ float64) {
	to := raster.Elems[D](dst)
	high, low := raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
	for i := range to {
		to[i] = D(high[i] - low[i])
	}
}

// floatLoops holds the kernels of [Sums.Floats] by sum type.
var floatLoops = [raster.NumTypes]func(dst []float64, hi, lo []byte){
	raster.U32: differences[float64, uint32],
	raster.U64: differences[float64, uint64],
	raster.F64: differences[float64, float64],
}

// Floats stores the sums in dst as float64.
func (s *Sums) Floats(dst []float64) { floatLoops[s.Type](dst, s.Hi, s.Lo) }

// wholeLoops holds the kernels of [Sums.Integers] by sum type.
var wholeLoops = [raster.NumTypes]func(dst []uint64, hi, lo []byte){
	raster.U32: differences[uint64, uint32],
	raster.U64: differences[uint64, uint64],
}

// Integers stores integer sums in dst.
func (s *Sums) Integers(dst []uint64) { wholeLoops[s.Type](dst, s.Hi, s.Lo) }

func differences[D, A raster.Number](dst []D, hi, lo []byte) {
	high, low := raster.Elems[A](hi)[:len(dst)], raster.Elems[A](lo)[:len(dst)]
	for i := range dst {
		dst[i] = D(high[i] - low[i])
	}
}

// A Spread describes how variances are computed from sums and sums of squares.
type Spread struct {
	Count uint64
	Bytes bool // pixels are bytes
	Root  bool // compute standard deviations

	// Exact computes the spread of single windows of floats for which the difference of squares is
	// not precise enough. First is the element of the row that the first sum belongs to.
	Exact interface{ Spread(i int) float64 }
	First int
}

type spreadLoop func(level processor.Level, dst []byte, sums, squares Sums, s Spread)

// singleSpreads and doubleSpreads hold the kernels of float32 and float64 variances, by the types
// of sums and of sums of squares.
var (
	singleSpreads = [raster.NumTypes][raster.NumTypes]spreadLoop{
		raster.U32: {raster.U32: byteSpreads(shortSpreads, wholeSpreads[uint32, uint32, float32]), raster.U64: byteSpreads(longSpreads[uint32], wholeSpreads[uint32, uint64, float32])},
		raster.U64: {raster.U64: byteSpreads(longSpreads[uint64], wholeSpreads[uint64, uint64, float32])},
		raster.F64: {raster.F64: floatSpreads[float32]},
	}
	doubleSpreads = [raster.NumTypes][raster.NumTypes]spreadLoop{
		raster.U32: {raster.U32: wholeSpreads[uint32, uint32, float64], raster.U64: wholeSpreads[uint32, uint64, float64]},
		raster.U64: {raster.U64: wholeSpreads[uint64, uint64, float64]},
		raster.F64: {raster.F64: floatSpreads[float64]},
	}
)

// Spreads computes variances of windows, or their square roots, as float32 or float64. Variances of
// integers are exact except for the last two roundings.
func Spreads(level processor.Level, dst raster.Type, to []byte, sums, squares Sums, s Spread) {
	loops := &singleSpreads
	if dst == raster.F64 {
		loops = &doubleSpreads
	}
	loops[sums.Type][squares.Type](level, to, sums, squares, s)
}

// byteSpreads returns a loop that calls few for windows with few bytes, and others for all other
// windows.
func byteSpreads(few func(level processor.Level, v *Variances, dst []float32, sums, squares Sums, root bool), others spreadLoop) spreadLoop {
	return func(level processor.Level, dst []byte, sums, squares Sums, s Spread) {
		if v, ok := NewVariances(s.Count); ok && s.Bytes {
			few(level, &v, raster.Elems[float32](dst), sums, squares, s.Root)
		} else {
			others(level, dst, sums, squares, s)
		}
	}
}

func shortSpreads(level processor.Level, v *Variances, dst []float32, sums, squares Sums, root bool) {
	v.Row(level, dst, raster.Elems[uint32](sums.Hi), raster.Elems[uint32](sums.Lo), raster.Elems[uint32](squares.Hi), raster.Elems[uint32](squares.Lo), root)
}

func longSpreads[A raster.Number](_ processor.Level, v *Variances, dst []float32, sums, squares Sums, root bool) {
	hi, lo := raster.Elems[A](sums.Hi), raster.Elems[A](sums.Lo)
	hi2, lo2 := raster.Elems[uint64](squares.Hi), raster.Elems[uint64](squares.Lo)
	for k := range dst {
		d := v.Of(uint32(hi[k]-lo[k]), uint32(hi2[k]-lo2[k]))
		if root {
			d = float32(math.Sqrt(float64(d)))
		}
		dst[k] = d
	}
}

func wholeSpreads[A, Q raster.Number, D float32 | float64](_ processor.Level, dst []byte, sums, squares Sums, s Spread) {
	to := raster.Elems[D](dst)
	hi, lo := raster.Elems[A](sums.Hi)[:len(to)], raster.Elems[A](sums.Lo)[:len(to)]
	hi2, lo2 := raster.Elems[Q](squares.Hi)[:len(to)], raster.Elems[Q](squares.Lo)[:len(to)]
	n := float64(s.Count)
	inverse, wide := 1/float64(n*n), raster.SizeOf[D]() == 8
	for k := range to {
		sum, square := uint64(hi[k]-lo[k]), uint64(hi2[k]-lo2[k])
		qHi, qLo := bits.Mul64(square, s.Count)
		sHi, sLo := bits.Mul64(sum, sum)
		d, borrow := bits.Sub64(qLo, sLo, 0)
		top, _ := bits.Sub64(qHi, sHi, borrow)
		v := float64(d)
		if top != 0 {
			v += float64(top) * (1 << 32) * (1 << 32)
		}
		if wide {
			to[k] = D(v / float64(n*n))
		} else {
			to[k] = D(v * inverse)
		}
	}
	if s.Root {
		squareRoots(to)
	}
}

const (
	// unsure is the fraction of a prefix sum of squares of which rounding may take one
	// ten-thousandth.
	unsure = 0x1p-36
	// squareRounding is the fraction of a prefix sum of squares that rounding may leave if the
	// pixels of a window are equal.
	squareRounding = 0x1p-49
)

func floatSpreads[D float32 | float64](_ processor.Level, dst []byte, sums, squares Sums, s Spread) {
	to := raster.Elems[D](dst)
	hi, lo := raster.Elems[float64](sums.Hi)[:len(to)], raster.Elems[float64](sums.Lo)[:len(to)]
	hi2, lo2 := raster.Elems[float64](squares.Hi)[:len(to)], raster.Elems[float64](squares.Lo)[:len(to)]
	n := float64(s.Count)
	for k := range to {
		sum, square := hi[k]-lo[k], hi2[k]-lo2[k]
		v := square - float64(sum*sum)/n
		if most := hi2[k]; v <= most*unsure && most != 0 { // propagates NaN
			if e := s.Exact.Spread(s.First + k); e == e {
				v = e
			} else if v < most*squareRounding {
				v = 0
			}
		}
		v /= n
		to[k] = D(v)
	}
	if s.Root {
		squareRoots(to)
	}
}

// squareRoots replaces all elements by their square roots.
func squareRoots[D float32 | float64](dst []D) {
	for k, v := range dst {
		dst[k] = D(math.Sqrt(float64(v)))
	}
}

// contrastLoops holds the kernels of [Sums.Contrasts] by sum type and result type.
var contrastLoops = [raster.NumTypes][raster.NumTypes]func(dst []byte, pix []float64, hi, lo []byte, inverse, offset, floor float64){
	raster.U32: {raster.F32: contrasts[float32, uint32], raster.F64: contrasts[float64, uint32]},
	raster.U64: {raster.F32: contrasts[float32, uint64], raster.F64: contrasts[float64, uint64]},
	raster.F64: {raster.F32: contrasts[float32, float64], raster.F64: contrasts[float64, float64]},
}

// Contrasts replaces standard deviations by the number of deviations that pixels lie above the mean
// of their windows: (p − mean) / max(deviation, floor).
func (s *Sums) Contrasts(dst raster.Type, to []byte, pix []float64, inverse, offset, floor float64) {
	contrastLoops[s.Type][dst](to, pix, s.Hi, s.Lo, inverse, offset, floor)
}

func contrasts[D float32 | float64, A raster.Number](dst []byte, pix []float64, hi, lo []byte, inverse, offset, floor float64) {
	to := raster.Elems[D](dst)
	high, low := raster.Elems[A](hi)[:len(to)], raster.Elems[A](lo)[:len(to)]
	pix = pix[:len(to)]
	for k, dev := range to {
		m := float64(float64(high[k]-low[k])*inverse) + offset
		d := pix[k] - m
		s := float64(dev)
		if !(s >= floor) {
			s = max(s, floor) // propagates NaN
		}
		if s != 0 {
			d /= s
		} else {
			d = 0
		}
		to[k] = D(d)
	}
}
