package kernel

import "unsafe"

// Bins is the kernel that lays one row of pixels on an integral histogram of
// type S.
func Bins[S Sum](level Level) func(*BinRow[S]) {
	for _, b := range binTable {
		if b, ok := b.(*[levelCount]func(*BinRow[S])); ok {
			return b[level]
		}
	}
	return portableBins[S]
}

func newBins[S Sum](asm [levelCount]binRoutines[S]) any {
	all := &[levelCount]func(*BinRow[S]){portableBins[S]}
	for l := Portable + 1; l < levelCount; l++ {
		all[l] = all[l-1]
		if asm[l].block != nil {
			all[l] = asm[l].row(all[l-1])
		}
	}
	return all
}

// binRoutines is the assembly of one level: for blocks of bins, for half of one where a
// level has that, and for a vector of what is left of them; for blocks that also go to
// the table past the caches, and for a line of what is left of those.
type binRoutines[S Sum] struct {
	vector int // bytes
	block  func(above *S, pitch int, index *uint32, step int, weights *S, weightStep int, run *S, bins *uint32, n int)
	half   func(above *S, pitch int, index *uint32, step int, weights *S, weightStep int, run *S, bins *uint32, n int)
	tail   func(above *S, pitch int, index *uint32, step int, weights *S, weightStep int, run *S, bins *uint32, n int, some *uint32)
	stream func(above *S, pitch int, index *uint32, step int, weights *S, weightStep int, run *S, bins *uint32, n int, dst *S)
	line   func(above *S, pitch int, index *uint32, step int, weights *S, weightStep int, run *S, bins *uint32, n int, dst *S)
}

// signed is the assembly of uint64 for int64, whose sums are the same bits.
func signed(asm [levelCount]binRoutines[uint64]) [levelCount]binRoutines[int64] {
	return *(*[levelCount]binRoutines[int64])(unsafe.Pointer(&asm))
}

// blockBytes is how many bytes of bins a block has.
const blockBytes = 128

// row is a kernel that checks what the assembly trusts. Where vectors of neighbouring pixels would overlap, which makes a load
// wait for the store before it, it leaves the row to narrow.
func (f binRoutines[S]) row(narrow func(*BinRow[S])) func(*BinRow[S]) {
	size := int(unsafe.Sizeof(*new(S)))
	block, line, lanes := blockBytes/size, LineBytes/size, f.vector/size
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
		end := count
		if f.half != nil { // a level without masks
			for ; b+line <= count; b += line {
				f.half(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b*size/4], r.N)
			}
			end = count / lanes * lanes
		}
		for ; b < end; b += lanes {
			some := &firstLanes[16-min(count-b, lanes)*size/4]
			f.tail(&r.Above[b], pitch, index, step, weights, weightStep, &r.Run[b], &numbers[b*size/4], r.N, some)
		}
		if end < count {
			r.from(end)
		}
	}
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
