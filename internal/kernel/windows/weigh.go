package windows

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// WeighUnit is the number of elements that the length of rows for [Weights.Add] is rounded up to.
const WeighUnit = windowUnit

// Weights is a symmetric kernel: the weight of its middle, followed by those of both sides.
type Weights struct {
	singles []float32
	doubles []float64
}

// Set sets the kernel for both float types.
func (w *Weights) Set(weights []float64) {
	w.doubles = append(w.doubles[:0], weights...)
	w.singles = w.singles[:0]
	for _, v := range weights {
		w.singles = append(w.singles, float32(v))
	}
}

// Radius returns the number of weights on each side.
func (w *Weights) Radius() int { return len(w.doubles) - 1 }

// Sum returns the sum of the weights of the middle, before elements on one side and after elements
// on the other, in the order of [Weights.Add].
func (w *Weights) Sum(before, after int) float64 {
	sum := w.doubles[0]
	for k := 1; k < len(w.doubles); k++ {
		for _, reach := range [2]int{before, after} {
			if k <= reach {
				sum += w.doubles[k]
			}
		}
	}
	return sum
}

// Add computes a weighted sum of rows of float32 or float64:
//
//	dst[i] = w[0]*rows[0][i] + Σ w[k]*(rows[2k-1][i] + rows[2k][i])
//
// for the n elements of dst. dst and the rows must have room for the next multiple of WeighUnit.
// Every product and every sum is rounded.
func (w *Weights) Add(level processor.Level, t raster.Type, dst []byte, rows []*byte, n int) {
	asm, weights := windowTable[level].weighF32, raster.First(w.singles)
	if t == raster.F64 {
		asm, weights = windowTable[level].weighF64, raster.First(w.doubles)
	}
	switch {
	case asm != nil:
		n += -n & (WeighUnit - 1)
		_, _ = dst[:n*t.Bytes()], rows[2*w.Radius()]
		asm(raster.First(dst), &rows[0], weights, w.Radius(), n)
	case t == raster.F64:
		addWeighted(raster.Elems[float64](dst)[:n], rows, w.doubles)
	default:
		addWeighted(raster.Elems[float32](dst)[:n], rows, w.singles)
	}
}

func addWeighted[T float32 | float64](dst []T, rows []*byte, weights []T) {
	row := func(k int) []T { return unsafe.Slice((*T)(unsafe.Pointer(rows[k])), len(dst)) }
	for i, v := range row(0) {
		dst[i] = weights[0] * v
	}
	for k := 1; k < len(weights); k++ {
		a, b, w := row(2*k-1), row(2*k), weights[k]
		for i := range dst {
			dst[i] += T(w * T(a[i]+b[i]))
		}
	}
}

// realKernel holds the loops that convert between pixels of one type and the floats that are
// weighted.
type realKernel struct {
	load  func(level processor.Level, dst, pix []byte)
	store func(level processor.Level, pix, src []byte)
}

// realKernels holds the loops by pixel type. float64 pixels are weighted as float64, all others as
// float32.
var realKernels = [raster.NumTypes]realKernel{
	raster.U8: {
		singlesOf[uint8](func(w *windowRoutines) func(dst, src *byte, n int) { return w.singlesU8 }),
		roundedOf[uint8](func(w *windowRoutines) func(dst, src *byte, n int, half float32) { return w.roundedU8 }),
	},
	raster.U16: {
		singlesOf[uint16](func(w *windowRoutines) func(dst, src *byte, n int) { return w.singlesU16 }),
		roundedOf[uint16](func(w *windowRoutines) func(dst, src *byte, n int, half float32) { return w.roundedU16 }),
	},
	raster.F32: {copyReals, copyReals},
	raster.F64: {copyReals, copyReals},
}

// RealOf returns the float type in which pixels of a type are weighted.
func RealOf(pixel raster.Type) raster.Type {
	if pixel == raster.F64 {
		return raster.F64
	}
	return raster.F32
}

// Reals converts pixels to floats for [Weights.Add].
func Reals(level processor.Level, pixel raster.Type, dst, pix []byte) {
	realKernels[pixel].load(level, dst, pix)
}

// StoreReals converts these floats back to pixels. Integers are rounded to nearest, ties up.
func StoreReals(level processor.Level, pixel raster.Type, pix, src []byte) {
	realKernels[pixel].store(level, pix, src)
}

func copyReals(_ processor.Level, dst, src []byte) { copy(dst, src) }

func singlesOf[P uint8 | uint16](routine func(w *windowRoutines) func(dst, src *byte, n int)) func(level processor.Level, dst, pix []byte) {
	return func(level processor.Level, dst, pix []byte) {
		from := raster.Elems[P](pix)
		to := raster.Elems[float32](dst)[:len(from)]
		if asm := routine(&windowTable[level]); asm != nil {
			n := len(from) &^ (windowUnit - 1)
			asm(raster.First(to), raster.First(from), n)
			from, to = from[n:], to[n:]
		}
		for i, v := range from {
			to[i] = float32(v)
		}
	}
}

func roundedOf[P uint8 | uint16](routine func(w *windowRoutines) func(dst, src *byte, n int, half float32)) func(level processor.Level, pix, src []byte) {
	return func(level processor.Level, pix, src []byte) {
		to := raster.Elems[P](pix)
		from := raster.Elems[float32](src)[:len(to)]
		if asm := routine(&windowTable[level]); asm != nil {
			n := len(to) &^ (windowUnit - 1)
			asm(raster.First(to), raster.First(from), n, 0.5)
			from, to = from[n:], to[n:]
		}
		for i, v := range from {
			to[i] = P(v + 0.5)
		}
	}
}

// Scale multiplies float32 or float64 elements by a factor each, and by a common one.
func Scale(t raster.Type, dst []byte, factors []float64, all float64) {
	if t == raster.F64 {
		scale(raster.Elems[float64](dst), factors, all)
	} else {
		scale(raster.Elems[float32](dst), factors, all)
	}
}

func scale[T float32 | float64](dst []T, factors []float64, all float64) {
	for i, f := range factors {
		dst[i] = T(float64(dst[i]) * float64(f*all))
	}
}
