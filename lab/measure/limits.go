package measure

import (
	"math/bits"
	"sync"

	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

// The limits measure what memory traffic alone takes. They use the buffers of the tables that they
// are compared with, and leave garbage in them. Stores bypass the caches, so a table that stays in a
// cache can be faster.

func limit(workers int, f func(part int)) *Contestant {
	return &Contestant{Run: OnClock(func() error { parallel(workers, f); return nil })}
}

// Fill returns a contestant that writes as many bytes as the tables have, with the given number of
// workers.
func (w *Work) Fill(workers int) *Contestant {
	return limit(workers, func(part int) {
		for _, t := range w.Tables {
			lo, hi := share(len(t.output), part, workers)
			processor.StreamFill(t.output[lo:hi])
		}
	})
}

// FillRead returns a contestant that reads every byte of the pixels once and writes every byte of
// the tables once at the same time, which any computation of a table requires.
func (w *Work) FillRead(workers int) *Contestant {
	total := 0
	for _, t := range w.Tables {
		total += len(t.output)
	}
	return limit(workers, func(part int) {
		before := 0
		for _, t := range w.Tables {
			lo, hi := share(len(t.output), part, workers)
			from := scale(before+lo, len(w.Pixels), total)
			to := scale(before+hi, len(w.Pixels), total)
			processor.StreamFillRead(t.output[lo:hi], w.Pixels[from:to])
			before += len(t.output)
		}
	})
}

// Copy returns a contestant that moves as many bytes as pixels and tables have together, half of
// them read and half written: it copies the pixels to the start of the first table, and then half
// of the rest of each table to its other half.
func (w *Work) Copy(workers int) *Contestant {
	return limit(workers, func(part int) {
		head := len(w.Pixels)
		lo, hi := share(head, part, workers)
		copy(w.Tables[0].output[lo:hi], w.Pixels[lo:hi])
		for _, t := range w.Tables {
			rest := t.output[head:]
			half := len(rest) / 2
			lo, hi := share(half, part, workers)
			copy(rest[half+lo:half+hi], rest[lo:hi])
			head = 0
		}
	})
}

// scale returns n·num/den for n ≤ den, without overflow.
func scale(n, num, den int) int {
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int(q)
}

// share returns the bounds of one of several equal parts of n bytes, at cache lines.
func share(n, part, parts int) (lo, hi int) {
	lines := (n + raster.LineBytes - 1) / raster.LineBytes
	lo = lines * part / parts * raster.LineBytes
	hi = lines * (part + 1) / parts * raster.LineBytes
	return min(lo, n), min(hi, n)
}

// parallel calls f for all parts concurrently, for the last one on the caller's goroutine.
func parallel(parts int, f func(part int)) {
	var others sync.WaitGroup
	for part := range parts - 1 {
		others.Go(func() { f(part) })
	}
	f(parts - 1)
	others.Wait()
}
