package windows

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// WeighUnit is the unit, in elements, to which the length of rows for [Weights.Add] is rounded up.
const WeighUnit = windowUnit

// Lines is the memory of rows of elements. Each row starts Stride bytes after the previous one.
type Lines struct {
	Data   []byte
	Stride int
}

// From returns the lines without the given number of bytes at the start of each.
func (l Lines) From(bytes int) Lines { return Lines{l.Data[bytes:], l.Stride} }

// check panics unless there are this many lines of n bytes, at least one.
func (l Lines) check(lines, n int) { _ = l.Data[(lines-1)*l.Stride:][:n] }

// Weights is a symmetric kernel: the weight of its middle, followed by the weights at increasing
// distances.
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

// Add computes weighted sums of float32 or float64 elements that are step bytes apart:
//
//	dst[y][i] = w[0]*src[y][i+r] + Σ w[k]*(src[y][i+r-k] + src[y][i+r+k])
//
// where i+k stands for k steps from i, and r is the radius. dst and src must have room for n rounded up
// to WeighUnit, and must not overlap. Every product and every sum is rounded.
func (w *Weights) Add(level processor.Level, t raster.Type, dst, src Lines, step, n, lines int) {
	n += -n & (WeighUnit - 1)
	switch {
	case n == 0 || lines == 0:
	case w.AddPixels(level, t, dst, src, step, n, lines) == n:
	case t == raster.F64:
		addWeighted(dst, src, w.doubles, step, n, lines)
	default:
		addWeighted(dst, src, w.singles, step, n, lines)
	}
}

// AddPixels is like [Weights.Add] for a multiple of WeighUnit elements, up to n, and stores them as pixels, like
// [StoreReals]. It returns their number, which is 0 at levels without a kernel.
func (w *Weights) AddPixels(level processor.Level, pixel raster.Type, dst, src Lines, step, n, lines int) int {
	asm, weights := weighKernels[pixel](&windowTable[level]), raster.First(w.singles)
	if pixel == raster.F64 {
		weights = raster.First(w.doubles)
	}
	n &^= WeighUnit - 1
	if asm == nil || n == 0 || lines == 0 {
		return 0
	}
	dst.check(lines, n*pixel.Bytes())
	src.check(lines, n*RealOf(pixel).Bytes()+2*w.Radius()*step)
	asm(raster.First(dst.Data), raster.First(src.Data), weights, w.Radius(), step, n, lines, dst.Stride, src.Stride)
	return n
}

type weighRoutine = func(dst, src, weights *byte, radius, step, n, rows, dstStride, srcStride int)

// weighKernels holds the kernels of [Weights.AddPixels] by pixel type.
var weighKernels = [raster.NumTypes]func(w *windowRoutines) weighRoutine{
	raster.U8:  func(w *windowRoutines) weighRoutine { return w.weighU8 },
	raster.U16: func(w *windowRoutines) weighRoutine { return w.weighU16 },
	raster.F32: func(w *windowRoutines) weighRoutine { return w.weighF32 },
	raster.F64: func(w *windowRoutines) weighRoutine { return w.weighF64 },
}

func addWeighted[T float32 | float64](dst, src Lines, weights []T, step, n, lines int) {
	for y := range lines {
		to, from := raster.Elems[T](dst.Data[y*dst.Stride:])[:n], src.Data[y*src.Stride:]
		middle := (len(weights) - 1) * step
		for i, v := range raster.Elems[T](from[middle:])[:n] {
			to[i] = weights[0] * v
		}
		for k := 1; k < len(weights); k++ {
			a, b, w := raster.Elems[T](from[middle-k*step:])[:n], raster.Elems[T](from[middle+k*step:])[:n], weights[k]
			for i := range to {
				to[i] += T(w * T(a[i]+b[i]))
			}
		}
	}
}

// realKernel holds the loops that convert between pixels of one type and the floats that are
// weighted.
type realKernel struct {
	load  func(level processor.Level, dst, src Lines, n, lines int)
	store func(level processor.Level, dst, src Lines, n, lines int)
}

// realKernels holds the loops by pixel type. float64 pixels are weighted as float64, all others as
// float32.
var realKernels = [raster.NumTypes]realKernel{
	raster.U8: {
		singlesOf[uint8](func(w *windowRoutines) toRoutine { return w.singlesU8 }),
		roundedOf[uint8](func(w *windowRoutines) fromRoutine { return w.roundedU8 }),
	},
	raster.U16: {
		singlesOf[uint16](func(w *windowRoutines) toRoutine { return w.singlesU16 }),
		roundedOf[uint16](func(w *windowRoutines) fromRoutine { return w.roundedU16 }),
	},
	raster.F32: {copyReals[float32], copyReals[float32]},
	raster.F64: {copyReals[float64], copyReals[float64]},
}

type (
	toRoutine   = func(dst, src *byte, n, rows, dstStride, srcStride int)
	fromRoutine = func(dst, src *byte, n, rows, dstStride, srcStride int, half float32)
)

// RealOf returns the float type in which pixels of a type are weighted.
func RealOf(pixel raster.Type) raster.Type {
	if pixel == raster.F64 {
		return raster.F64
	}
	return raster.F32
}

// Reals converts n pixels in each of some lines to floats for [Weights.Add].
func Reals(level processor.Level, pixel raster.Type, dst, pix Lines, n, lines int) {
	realKernels[pixel].load(level, dst, pix, n, lines)
}

// StoreReals converts these floats back to pixels. Integers are rounded to nearest, ties up.
func StoreReals(level processor.Level, pixel raster.Type, pix, src Lines, n, lines int) {
	realKernels[pixel].store(level, pix, src, n, lines)
}

func copyReals[P float32 | float64](_ processor.Level, dst, src Lines, n, lines int) {
	for y := range lines {
		copy(raster.Elems[P](dst.Data[y*dst.Stride:])[:n], raster.Elems[P](src.Data[y*src.Stride:]))
	}
}

func singlesOf[P uint8 | uint16](routine func(w *windowRoutines) toRoutine) func(level processor.Level, dst, src Lines, n, lines int) {
	size := raster.TypeOf[P]().Bytes()
	return func(level processor.Level, dst, src Lines, n, lines int) {
		if n == 0 || lines == 0 {
			return
		}
		dst.check(lines, 4*n)
		src.check(lines, size*n)
		if asm := routine(&windowTable[level]); asm != nil && n >= windowUnit {
			whole := n &^ (windowUnit - 1)
			asm(raster.First(dst.Data), raster.First(src.Data), whole, lines, dst.Stride, src.Stride)
			if last := n - windowUnit; whole < n { // a vector that overlaps others
				asm(raster.First(dst.Data[4*last:]), raster.First(src.Data[size*last:]), windowUnit, lines, dst.Stride, src.Stride)
			}
			return
		}
		for y := range lines {
			to := raster.Elems[float32](dst.Data[y*dst.Stride:])[:n]
			for i, v := range raster.Elems[P](src.Data[y*src.Stride:])[:n] {
				to[i] = float32(v)
			}
		}
	}
}

func roundedOf[P uint8 | uint16](routine func(w *windowRoutines) fromRoutine) func(level processor.Level, dst, src Lines, n, lines int) {
	size := raster.TypeOf[P]().Bytes()
	return func(level processor.Level, dst, src Lines, n, lines int) {
		if n == 0 || lines == 0 {
			return
		}
		dst.check(lines, size*n)
		src.check(lines, 4*n)
		if asm := routine(&windowTable[level]); asm != nil && n >= windowUnit {
			whole := n &^ (windowUnit - 1)
			asm(raster.First(dst.Data), raster.First(src.Data), whole, lines, dst.Stride, src.Stride, 0.5)
			if last := n - windowUnit; whole < n {
				asm(raster.First(dst.Data[size*last:]), raster.First(src.Data[4*last:]), windowUnit, lines, dst.Stride, src.Stride, 0.5)
			}
			return
		}
		for y := range lines {
			to := raster.Elems[P](dst.Data[y*dst.Stride:])[:n]
			for i, v := range raster.Elems[float32](src.Data[y*src.Stride:])[:n] {
				to[i] = P(v + 0.5)
			}
		}
	}
}

// Scale multiplies each float32 or float64 element by its own factor and by a common one.
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
