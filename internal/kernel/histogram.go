package kernel

import "unsafe"

// A BinRow is one row of pixels to lay on a row of an integral histogram, for
// one channel of it.
type BinRow[S Sum] struct {
	// Above holds, every Pitch elements, the bins of the table row over the
	// pixels and, afterwards, those of the pixels' own row.
	Above []S
	Pitch int

	// Index is every pixel's bin, Step elements apart; NoBin is that of a
	// pixel that counts nowhere.
	Index []uint32
	Step  int

	// Weights is what the pixels count, WeightStep elements apart. Zero makes
	// one weight that of all.
	Weights    []S
	WeightStep int

	// Run holds the histogram of the row so far and hands it on to the right.
	// Its length is the number of bins, MaxBins at most.
	Run []S

	N int // pixels

	// Dst, if it is not nil, is where the bins of the pixels' own row may go,
	// past the caches, laid out as Above is. Written says whether they went:
	// a kernel does so where the bins of every pixel are whole cache lines.
	// What it wrote is there for others after a StoreFence.
	Dst     []S
	Written bool
}

const (
	// MaxBins is how many bins the kernels of histograms take.
	MaxBins = 256
	// NoBin is the bin of pixels that count in none.
	NoBin = ^uint32(0)
)

// Bins is the kernel that lays one row of pixels on an integral histogram of
// type S.
func Bins[S Sum](level Level) func(*BinRow[S]) {
	for _, fs := range bins {
		if fs, ok := fs.([3]func(*BinRow[S])); ok && fs[level] != nil {
			return fs[level]
		}
	}
	return portableBins[S]
}

// portableBins is the specification.
func portableBins[S Sum](r *BinRow[S]) {
	run := r.Run
	for x := range r.N {
		if b := r.Index[x*r.Step]; b != NoBin {
			run[b] += r.Weights[x*r.WeightStep]
		}
		above := r.Above[x*r.Pitch:][:len(run)]
		for b, s := range run {
			above[b] += s
		}
	}
}

// StreamCopy copies as copy does, between slices that do not overlap, and past
// the caches where it can: what it wrote is there for others after a StoreFence.
func StreamCopy[T Sum | byte](dst, src []T) {
	n := min(len(dst), len(src))
	size := int(unsafe.Sizeof(*new(T)))
	if n == 0 {
		return
	}
	head := min(n, int(-uintptr(unsafe.Pointer(&dst[0]))%LineBytes)/size)
	lines := (n - head) * size / LineBytes
	body := head + lines*LineBytes/size
	if lines > 0 && streamLines(unsafe.Pointer(&dst[head]), unsafe.Pointer(&src[head]), lines) {
		copy(dst[:head], src)
		copy(dst[body:n], src[body:n])
		return
	}
	copy(dst[:n], src[:n])
}
