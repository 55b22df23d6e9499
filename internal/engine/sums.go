package engine

import (
	"unsafe"

	"github.com/boxsum/boxsum/internal/kernel"
)

// Sums is the layer that fills one table of sums of type S. Set the exported
// fields and call Prepare before every run.
type Sums[P kernel.Pixel, S kernel.Sum] struct {
	Kernel    kernel.Func[P, S]
	Src       []P
	SrcStride int
	Dst       []S // entry (0, 0)
	DstStride int
	Channels  int
	Offset    float32
	Writes    kernel.Writes // as far as the layout of Dst allows

	above   []S // the lowest row done so far, in cache and without gaps
	workers []sumsWorker[P, S]
}

// sumsWorker is what one worker has to itself.
type sumsWorker[P kernel.Pixel, S kernel.Sum] struct {
	tile  kernel.Tile[P, S]
	carry []S // of the band's rows
	_     [kernel.LineBytes]byte
}

// Prepare gets the scratch memory for a grid and clears what a run starts from.
func (l *Sums[P, S]) Prepare(g Grid, workers int) {
	if need := g.N + kernel.Slack; cap(l.above) < need {
		l.above = make([]S, need)
	} else {
		l.above = l.above[:need]
		clear(l.above)
	}
	for len(l.workers) < workers {
		l.workers = append(l.workers, sumsWorker[P, S]{})
	}
	need := g.BandRows * kernel.CarryLen(l.Channels)
	for i := range l.workers[:workers] {
		if w := &l.workers[i]; len(w.carry) < need {
			w.carry = make([]S, need)
		}
	}
	if !l.onLines() {
		l.Writes = min(l.Writes, kernel.Ahead)
	}
	clear(l.Dst[:g.N+l.Channels])
	if g.N == 0 { // there will be no tiles, but column 0 there is
		for y := range g.Rows {
			clear(l.Dst[(y+1)*l.DstStride:][:l.Channels])
		}
	}
}

// onLines says whether the sums of every row start a cache line.
func (l *Sums[P, S]) onLines() bool {
	if len(l.Dst)-l.Channels <= l.DstStride {
		return false // no row of sums, or a huge stride before none
	}
	first := uintptr(unsafe.Pointer(&l.Dst[l.DstStride+l.Channels]))
	pitch := uintptr(l.DstStride) * unsafe.Sizeof(l.Dst[0])
	return first%kernel.LineBytes == 0 && pitch%kernel.LineBytes == 0
}

// Tile implements [Layer].
func (l *Sums[P, S]) Tile(worker, x, y, n, rows int) {
	w := &l.workers[worker]
	dst := l.Dst[(y+1)*l.DstStride:]
	if x == 0 {
		clear(w.carry)
		for r := range rows {
			clear(dst[r*l.DstStride:][:l.Channels])
		}
	}
	w.tile = kernel.Tile[P, S]{
		Dst:       dst[l.Channels+x:],
		DstStride: l.DstStride,
		Src:       l.Src[y*l.SrcStride+x:],
		SrcStride: l.SrcStride,
		Above:     l.above[x:],
		Carry:     w.carry,
		Rows:      rows,
		N:         n,
		Channels:  l.Channels,
		Offset:    l.Offset,
		Writes:    l.Writes,
	}
	l.Kernel(&w.tile)
}

// Release lets go of the caller's memory and keeps the scratch.
func (l *Sums[P, S]) Release() {
	l.Src, l.Dst = nil, nil
	for i := range l.workers {
		l.workers[i].tile = kernel.Tile[P, S]{}
	}
}
