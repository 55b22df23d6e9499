//go:build amd64 && !noasm

package kernel

import "unsafe"

//go:generate go run -C _gen . -part histogram -level avx2 -out ../histogram_avx2_amd64.s -stubs ../histogram_avx2_amd64.go -pkg kernel
//go:generate go run -C _gen . -part histogram -level avx512 -out ../histogram_avx512_amd64.s -stubs ../histogram_avx512_amd64.go -pkg kernel

// bins holds, for every type of sums, its kernels by level.
var bins = []any{
	binsByLevel(
		binsOf[uint32]{u32BinsAVX2, u32BinsTailAVX2, u32BinsStreamAVX2, u32BinsStreamLineAVX2},
		binsOf[uint32]{u32BinsAVX512, u32BinsTailAVX512, u32BinsStreamAVX512, u32BinsStreamLineAVX512}),
	u64Bins,
	[3]func(*BinRow[int64]){AVX2: signedBins(u64Bins[AVX2]), AVX512: signedBins(u64Bins[AVX512])},
	binsByLevel(
		binsOf[float32]{f32BinsAVX2, f32BinsTailAVX2, f32BinsStreamAVX2, f32BinsStreamLineAVX2},
		binsOf[float32]{f32BinsAVX512, f32BinsTailAVX512, f32BinsStreamAVX512, f32BinsStreamLineAVX512}),
	binsByLevel(
		binsOf[float64]{f64BinsAVX2, f64BinsTailAVX2, f64BinsStreamAVX2, f64BinsStreamLineAVX2},
		binsOf[float64]{f64BinsAVX512, f64BinsTailAVX512, f64BinsStreamAVX512, f64BinsStreamLineAVX512}),
}

var u64Bins = binsByLevel(
	binsOf[uint64]{u64BinsAVX2, u64BinsTailAVX2, u64BinsStreamAVX2, u64BinsStreamLineAVX2},
	binsOf[uint64]{u64BinsAVX512, u64BinsTailAVX512, u64BinsStreamAVX512, u64BinsStreamLineAVX512})

func binsByLevel[S Sum](avx2, avx512 binsOf[S]) [3]func(*BinRow[S]) {
	half := avx2.row(32, portableBins[S])
	return [3]func(*BinRow[S]){AVX2: half, AVX512: avx512.row(64, half)}
}

// binsOf is the assembly of one level: for blocks of bins, and for a vector of
// what is left of them; for blocks that also go to the table past the caches,
// and for a line of what is left of those.
type binsOf[S Sum] struct {
	block  func(above *S, pitch int, index *uint32, step int, weights *S, weightStep int, run *S, bins *uint32, n int)
	tail   func(above *S, pitch int, index *uint32, step int, weights *S, weightStep int, run *S, bins *uint32, n int, some *uint32)
	stream func(above *S, pitch int, index *uint32, step int, weights *S, weightStep int, run *S, bins *uint32, n int, dst *S)
	line   func(above *S, pitch int, index *uint32, step int, weights *S, weightStep int, run *S, bins *uint32, n int, dst *S)
}

// blockBytes is how many bytes of bins a block has.
const blockBytes = 128

// row is a kernel with vectors of so many bytes. It checks what the assembly
// trusts. Where vectors of neighbouring pixels would overlap, which makes a load
// wait for the store before it, it leaves the row to narrow.
func (f binsOf[S]) row(vector int, narrow func(*BinRow[S])) func(*BinRow[S]) {
	size := int(unsafe.Sizeof(*new(S)))
	block, line, lanes := blockBytes/size, LineBytes/size, vector/size
	return func(r *BinRow[S]) {
		count := len(r.Run)
		if r.N == 0 || count == 0 {
			return
		}
		numbers := binNumbers[size/4-1][: count*size/4 : count*size/4]
		_ = r.Above[:(r.N-1)*r.Pitch+count]
		_ = r.Index[:(r.N-1)*r.Step+1]
		_ = r.Weights[:(r.N-1)*r.WeightStep+1]
		pitch, step, weightStep := r.Pitch*size, r.Step*4, r.WeightStep*size
		index, weights := unsafe.SliceData(r.Index), unsafe.SliceData(r.Weights)
		b := 0
		if r.Dst != nil {
			_ = r.Dst[:(r.N-1)*r.Pitch+count]
			if count%line == 0 && pitch%LineBytes == 0 && uintptr(unsafe.Pointer(&r.Dst[0]))%LineBytes == 0 {
				for ; b+block <= count; b += block {
					f.stream(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b*size/4], r.N, &r.Dst[b])
				}
				if b < count {
					f.line(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b*size/4], r.N, &r.Dst[b])
				}
				r.Written = true
				return
			}
		}
		for ; b+block <= count; b += block {
			f.block(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b*size/4], r.N)
		}
		if b < count && r.Pitch < lanes {
			narrow(r)
			return
		}
		for ; b < count; b += lanes {
			some := &firstLanes[16-min(count-b, lanes)*size/4]
			f.tail(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b*size/4], r.N, some)
		}
	}
}

// signedBins adds signed numbers as unsigned ones, which are the same bits.
func signedBins(f func(*BinRow[uint64])) func(*BinRow[int64]) {
	return func(r *BinRow[int64]) {
		u := BinRow[uint64]{
			Above: unsigned(r.Above), Pitch: r.Pitch, Index: r.Index, Step: r.Step,
			Weights: unsigned(r.Weights), WeightStep: r.WeightStep, Run: unsigned(r.Run), N: r.N,
			Dst: unsigned(r.Dst),
		}
		f(&u)
		r.Written = u.Written
	}
}

func unsigned(s []int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// binNumbers numbers the lanes of sums of 4 and of 8 bytes, the latter in both
// halves of a lane.
var binNumbers = func() (all [2][2*MaxBins + 16]uint32) {
	for i := range all[0] {
		all[0][i], all[1][i] = uint32(i), uint32(i/2)
	}
	return all
}()

// firstLanes has all bits of 16 lanes and then none: a vector read from 16-n
// on has n lanes.
var firstLanes = func() (m [32]uint32) {
	for i := range 16 {
		m[i] = ^uint32(0)
	}
	return m
}()

// streamLines copies whole lines past the caches, and says whether it could.
func streamLines(dst, src unsafe.Pointer, lines int) bool {
	switch {
	case best == Portable || uintptr(dst)%LineBytes != 0:
		return false
	case best == AVX512:
		streamCopyAVX512((*byte)(dst), (*byte)(src), lines)
	default:
		streamCopyAVX2((*byte)(dst), (*byte)(src), lines)
	}
	return true
}

// StoreFence lets what was written past the caches arrive before anything that
// is written later.
func StoreFence() { storeFence() }
