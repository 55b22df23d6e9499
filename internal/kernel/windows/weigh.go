package windows

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// WeighUnit is a number of elements of which rows for [Weights.Add] must have room for a
// multiple.
const WeighUnit = windowUnit

// Weights is a symmetric kernel: its middle, and what stands on both sides of it.
type Weights struct {
	singles []float32
	doubles []float64
}

// Set makes it a kernel for floats of both types.
func (w *Weights) Set(weights []float64) {
	w.doubles = append(w.doubles[:0], weights...)
	w.singles = w.singles[:0]
	for _, v := range weights {
		w.singles = append(w.singles, float32(v))
	}
}

// Radius returns how far the kernel reaches on each side.
func (w *Weights) Radius() int { return len(w.doubles) - 1 }

// Sum returns the weights of all elements at most before away on one side and after on the
// other, in the order that [Weights.Add] has.
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

// Add adds rows of float32 or float64:
//
//	dst[i] = w[0]*rows[0][i] + Σ w[k]*(rows[2k-1][i] + rows[2k][i])
//
// for the n elements of dst, of which there must be room for the next multiple of WeighUnit,
// in the rows too. Every product and every sum is rounded.
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

// realKernel holds the loops between pixels of a type and the floats that are weighed.
type realKernel struct {
	load  func(level processor.Level, dst, pix []byte)
	store func(level processor.Level, pix, src []byte)
}

// realKernels holds the loops by the type of pixels: float64 is weighed as such, and others
// as float32.
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

// RealOf returns the type in which pixels of a type are weighed.
func RealOf(pixel raster.Type) raster.Type {
	if pixel == raster.F64 {
		return raster.F64
	}
	return raster.F32
}

// Reals makes floats of pixels for [Weights.Add].
func Reals(level processor.Level, pixel raster.Type, dst, pix []byte) {
	realKernels[pixel].load(level, dst, pix)
}

// StoreReals makes pixels of such floats: integers are rounded to nearest, ties up.
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

// Scale multiplies float32 or float64 by factors of their own, and by one for all.
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
