package kernel

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum/internal/raster"
)

// rotatedArgs holds the arguments of an assembly kernel: addresses of element 0 or of the first
// run, in memory that the line keeps alive. The generator knows the offsets.
type rotatedArgs struct {
	dst, src, over, keep uintptr
	rows, above, empty   uintptr
	carry, vector        uintptr
	first, step, end     int // elements
	nextVector           int // bytes from one vector's description to the next
	own                  int // elements from the rows that runs continue from to their own
	shape                int // doubling steps of the sum of a run, and flags
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
type rotatedRoutine func(args *uintptr)

type rotatedAssembly struct {
	routine  rotatedRoutine
	runs     *RotatedRuns
	size     sizes
	lanes    int
	vectors  []rotatedVector
	patterns []uint32 // the vectors point into it
	steps    int
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
	a.vectors, a.patterns, a.steps = cut.vectors()
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

// stretch computes the elements from one to another, after checking bounds, which the assembly does
// not. The pixels in src begin with element skipped.
func (a *rotatedAssembly) stretch(l *RotatedLine, src []byte, skipped, from, to int) {
	size, pixel := a.size.sum, a.size.pixel
	slack := RotatedBlock * size // for up to FastChannels
	n, lanes := a.runs.Channels, a.lanes
	runs := int(a.runs.Run[len(a.runs.Run)-1]) + 1
	need := runs*n*size + 2*slack
	_, _, _ = src[(from-skipped)*pixel:(to-skipped)*pixel], l.Dst[from*size:to*size], l.Keep[:to*size+slack]
	_, _, _, _ = l.Over[:to*size+slack], l.Rows[:need], l.RowsAbove[:need], l.Carry[:RotatedCarry(n)*size]
	args := &l.scratch.args
	args.dst = address(l.Dst, 0)
	args.src = address(src, 0) - uintptr(skipped*pixel)
	args.over = address(l.Over, slack)
	args.keep = address(l.Keep, slack)
	args.rows = address(l.Rows, slack)
	args.above = address(l.RowsAbove, slack)
	args.carry = address(l.Carry, 0)
	args.empty, args.shape = 0, a.steps
	if l.Empty != nil {
		_ = l.Empty[:need]
		args.shape |= rotatedHasEmpty
		args.empty = address(l.Empty, slack)
	}
	args.first, args.step, args.end, args.own = to-lanes, -lanes, from-lanes, -n
	args.nextVector = -int(unsafe.Sizeof(rotatedVector{}))
	if a.runs.Falling {
		args.first, args.step, args.end, args.own = from, lanes, to, n
		args.nextVector = -args.nextVector
	}
	args.vector = address(a.vectors, args.first/lanes)
	if l.Stream && args.dst%LineBytes == 0 {
		args.shape |= rotatedStreams
	}
	a.routine((*uintptr)(unsafe.Pointer(args)))
	runtime.KeepAlive(l)
}

func address[T any](s []T, i int) uintptr { return uintptr(unsafe.Pointer(&s[i])) }
