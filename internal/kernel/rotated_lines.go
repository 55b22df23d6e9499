package kernel

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/raster"
)

// rotatedArgs holds the arguments of an assembly kernel. The generator knows the offsets.
type rotatedArgs struct {
	dst, src, over, keep *byte // element 0
	rows, above, empty   *byte // the first run
	carry                *byte
	vector               *rotatedVector
	first, step, end     int // elements
	nextVector           int // distance between the descriptions of two vectors in bytes
	own                  int // distance, in elements, from the row sums from which runs continue to their own
	shape                int // number of doubling steps for the sum of a run, and flags
}

// Flags in shape, which the generator knows.
const (
	rotatedHasEmpty = 1 << 8
	rotatedStreams  = 1 << 9
)

// rotatedScratch is memory that a line needs for a call.
type rotatedScratch struct {
	args rotatedArgs
	tail [RotatedBlock]float64 // a padded copy of the last pixels of an image, for the largest pixel type
}

// rotatedRoutine is an assembly kernel; its argument points to a rotatedArgs.
type rotatedRoutine func(args *byte)

type rotatedAssembly struct {
	routine rotatedRoutine
	runs    *RotatedRuns
	size    sizes
	lanes   int
	vectors []rotatedVector
	steps   int
}

// newRotatedAssembly returns the assembly of the level, or of the next level below that has some,
// or nil.
func newRotatedAssembly(p *pair, level Level, runs *RotatedRuns) *rotatedAssembly {
	r := &p.asm[level]
	if level == Portable || len(runs.Run) > math.MaxInt32/8 {
		return nil
	}
	if r.rotated == nil {
		return newRotatedAssembly(p, level-1, runs)
	}
	// Dot products are faster for runs that take more than two doubling steps.
	dot := r.rotatedDot != nil && runs.Channels == 1 && runs.longest() > 4
	size := p.sum.Bytes()
	cut := rotatedCut{RotatedRuns: runs, size: size, lanes: r.vector / size, blocks: 1, avx2: r.vector == sumBlock, dot: dot}
	if p.sum.Float() {
		cut.blocks = r.vector / sumBlock
	}
	a := &rotatedAssembly{routine: r.rotated, runs: runs, size: sizes{p.pixel.Bytes(), size}, lanes: cut.lanes}
	if dot {
		a.routine = r.rotatedDot
	}
	a.vectors, a.steps = cut.vectors()
	return a
}

func (r *RotatedRuns) longest() int {
	longest, start := 0, 0
	for x := range r.Run {
		if r.Run[x] != r.Run[start] {
			start = x
		}
		longest = max(longest, x+1-start)
	}
	return longest
}

// line passes a stretch to the assembly. It pads a copy of the last pixels of an image.
func (a *rotatedAssembly) line(l *RotatedLine) {
	from, to := l.From, l.To
	if len(l.Src) >= to*a.size.pixel {
		a.stretch(l, l.Src, 0, from, to)
		return
	}
	whole := to - RotatedBlock
	last := raster.Bytes(l.scratch.tail[:])
	clear(last)
	copy(last, l.Src[whole*a.size.pixel:])
	if !a.runs.Falling {
		a.stretch(l, last, whole, whole, to)
	}
	if from < whole {
		a.stretch(l, l.Src, 0, from, whole)
	}
	if a.runs.Falling {
		a.stretch(l, last, whole, whole, to)
	}
}

// stretch computes a range of elements, after checking bounds, which the assembly does not. The
// pixels in src start with element first, which the assembly counts as 0.
func (a *rotatedAssembly) stretch(l *RotatedLine, src []byte, first, from, to int) {
	size := a.size.sum
	slack := RotatedBlock * size // for up to FastChannels
	n, lanes := a.runs.Channels, a.lanes
	runs := int(a.runs.Run[len(a.runs.Run)-1]) + 1
	need := runs*n*size + 2*slack
	_, _, _ = src[:(to-first)*a.size.pixel], l.Dst[from*size:to*size], l.Keep[:to*size+slack]
	_, _, _, _ = l.Over[:to*size+slack], l.Rows[:need], l.RowsAbove[:need], l.Carry[:RotatedCarry(n)*size]
	args := &l.scratch.args
	args.dst, args.src = &l.Dst[first*size], &src[0]
	args.over, args.keep = &l.Over[slack+first*size], &l.Keep[slack+first*size]
	args.rows, args.above, args.carry = &l.Rows[slack], &l.RowsAbove[slack], &l.Carry[0]
	args.empty, args.shape = nil, a.steps
	if l.Empty != nil {
		_ = l.Empty[:need]
		args.shape |= rotatedHasEmpty
		args.empty = &l.Empty[slack]
	}
	args.first, args.step, args.end, args.own = to-lanes-first, -lanes, from-lanes-first, -n
	args.nextVector = -int(unsafe.Sizeof(rotatedVector{}))
	if a.runs.Falling {
		args.first, args.step, args.end, args.own = from-first, lanes, to-first, n
		args.nextVector = -args.nextVector
	}
	args.vector = &a.vectors[(first+args.first)/lanes]
	if l.Stream && uintptr(unsafe.Pointer(&l.Dst[0]))%LineBytes == 0 {
		args.shape |= rotatedStreams
	}
	a.routine((*byte)(unsafe.Pointer(args)))
}
