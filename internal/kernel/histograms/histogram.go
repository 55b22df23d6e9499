// Package histograms holds the kernels of integral histograms.
package histograms

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Row is a row of pixels to add to a row of an integral histogram, for one channel. Slices of
// sums are bytes because only the kernel knows the type. Distances count elements.
type Row struct {
	// Above holds the bins of the table row above the pixels, Pitch sums apart. The kernel replaces
	// them with those of the current row.
	Above []byte
	Pitch int

	// Index holds the bin of every pixel, or NoBin. The entries are Step elements apart.
	Index []uint32
	Step  int

	// Weights holds the weight of every pixel, WeightStep sums apart. A WeightStep of zero gives
	// all pixels the same weight.
	Weights    []byte
	WeightStep int

	// Run holds the histogram of the row up to the current pixel. The tile to the right continues
	// it.
	Run  []byte
	Bins int // length of Run in sums, at most MaxBins

	N int // pixels

	// Dst, if not nil, has the layout of Above. If the bins of every pixel fill whole cache lines,
	// a kernel writes the bins of the current row to Dst with non-temporal stores, and sets
	// Written. Other goroutines may read Dst after a StoreFence.
	Dst     []byte
	Written bool
}

const (
	// MaxBins is the largest number of bins.
	MaxBins = 256
	// NoBin is the bin of pixels that are not counted.
	NoBin = ^uint32(0)
)

// A Func adds one row.
type Func func(*Row)

// For returns the kernel for a sum type, or nil if no table has that type.
func For(sum raster.Type, level processor.Level) Func { return kernels[sum][level] }

var kernels = [raster.NumTypes][processor.Count]Func{
	raster.U32: kernelsOf[uint32](),
	raster.U64: kernelsOf[uint64](),
	raster.I64: kernelsOf[int64](),
	raster.F32: kernelsOf[float32](),
	raster.F64: kernelsOf[float64](),
}

// kernelsOf returns the kernels of a sum type by level. A level without assembly uses that of the
// level below. Signed sums share the assembly of unsigned ones: the bits are the same.
func kernelsOf[S raster.Number]() (all [processor.Count]Func) {
	all[processor.Portable] = func(r *Row) { add[S](r, 0) }
	for l := processor.Portable + 1; l < processor.Count; l++ {
		all[l] = all[l-1]
		if asm := &table[raster.TypeOf[S]().Bits()][l]; asm.block != nil {
			all[l] = asm.kernel(int(unsafe.Sizeof(*new(S))), all[l-1], add[S])
		}
	}
	return all
}

// add adds the bins starting at first. It is the specification of the assembly.
func add[S raster.Number](r *Row, first int) {
	run := raster.Elems[S](r.Run)[first:r.Bins]
	weights, above := raster.Elems[S](r.Weights), raster.Elems[S](r.Above)
	for x := range r.N {
		if b := r.Index[x*r.Step] - uint32(first); b < uint32(len(run)) {
			run[b] += weights[x*r.WeightStep]
		}
		above := above[x*r.Pitch+first:][:len(run)]
		for b, s := range run {
			above[b] += s
		}
	}
}

// routines holds the assembly of one level for one sum type. Distances count bytes.
type routines struct {
	vector int // size in bytes

	block  routine       // blocks of bins
	half   routine       // half a block, for levels without masks
	tail   tailRoutine   // the remaining bins, at most one vector
	stream streamRoutine // blocks that are also written to the table, with non-temporal stores
	line   streamRoutine // the last cache line of a row, for stream
}

type (
	routine       func(above *byte, pitch int, index *uint32, step int, weights *byte, weightStep int, run *byte, bins *uint32, n int)
	tailRoutine   func(above *byte, pitch int, index *uint32, step int, weights *byte, weightStep int, run *byte, bins *uint32, n int, some *uint32)
	streamRoutine func(above *byte, pitch int, index *uint32, step int, weights *byte, weightStep int, run *byte, bins *uint32, n int, dst *byte)
)

// blockBytes is the size of a block of bins.
const blockBytes = 128

// kernel returns a kernel for sums of the given size, which checks the bounds on which the assembly
// relies. If vectors of neighboring pixels would overlap, so that each load would wait for the
// previous store, it passes the row to narrow. Bins that do not fill a vector are passed to loop.
func (f *routines) kernel(size int, narrow Func, loop func(r *Row, first int)) Func {
	return func(r *Row) {
		if r.N == 0 || r.Bins == 0 {
			return
		}
		count, pitch := r.Bins*size, r.Pitch*size // in bytes from here on
		numbers := &binNumbers[size/4-1]
		_ = r.Run[:count]
		_ = r.Above[:(r.N-1)*pitch+count]
		_ = r.Index[:(r.N-1)*r.Step+1]
		_ = r.Weights[:((r.N-1)*r.WeightStep+1)*size]
		step, weightStep := r.Step*4, r.WeightStep*size
		index, weights := unsafe.SliceData(r.Index), unsafe.SliceData(r.Weights)
		b := 0
		if r.Dst != nil {
			_ = r.Dst[:(r.N-1)*pitch+count]
			if (count|pitch)%raster.LineBytes == 0 && uintptr(unsafe.Pointer(&r.Dst[0]))%raster.LineBytes == 0 {
				for ; b+blockBytes <= count; b += blockBytes {
					f.stream(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b/4], r.N, &r.Dst[b])
				}
				if b < count {
					f.line(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b/4], r.N, &r.Dst[b])
				}
				r.Written = true
				return
			}
		}
		for ; b+blockBytes <= count; b += blockBytes {
			f.block(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b/4], r.N)
		}
		if b < count && pitch < f.vector {
			narrow(r)
			return
		}
		end := count
		if f.half != nil { // a level without masks
			for ; b+raster.LineBytes <= count; b += raster.LineBytes {
				f.half(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b/4], r.N)
			}
			end = count / f.vector * f.vector
		}
		for ; b < end; b += f.vector {
			some := &firstLanes[16-min(count-b, f.vector)/4]
			f.tail(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b/4], r.N, some)
		}
		if end < count {
			loop(r, end/size)
		}
	}
}

// binNumbers numbers the lanes of sums of 4 and of 8 bytes. For sums of 8 bytes, both halves of a
// lane hold the number.
var binNumbers = func() (all [2][2*MaxBins + 16]uint32) {
	for i := range all[0] {
		all[0][i], all[1][i] = uint32(i), uint32(i/2)
	}
	return all
}()

// firstLanes holds 16 lanes of all ones followed by 16 of zeros: a vector loaded at 16-n is a mask
// of n lanes.
var firstLanes = func() (m [32]uint32) {
	for i := range 16 {
		m[i] = ^uint32(0)
	}
	return m
}()
