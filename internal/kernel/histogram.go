package kernel

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
	// past the caches, laid out as Above is. Written reports whether they went:
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

// from is portableBins for the bins from one on.
func (r *BinRow[S]) from(first int) {
	run := r.Run[first:]
	for x := range r.N {
		if b := r.Index[x*r.Step] - uint32(first); b < uint32(len(run)) {
			run[b] += r.Weights[x*r.WeightStep]
		}
		above := r.Above[x*r.Pitch+first:][:len(run)]
		for b, s := range run {
			above[b] += s
		}
	}
}
