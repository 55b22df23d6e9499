package engine

import (
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
)

// Zeros is n zeros, in the memory of have where it is enough.
func Zeros[T any](have []T, n int) []T {
	if cap(have) < n {
		return AtLeast(have, n)
	}
	have = have[:n]
	clear(have)
	return have
}

// AtLeast is n elements from a cache line on, in the memory of have where it is
// enough; what is in them is left from before.
func AtLeast[T any](have []T, n int) []T { return AtLeastFrom(have, n, 0) }

// AtLeastFrom is the same, but that it is this element that starts a line.
func AtLeastFrom[T any](have []T, n, at int) []T {
	if cap(have) >= n {
		return have[:n]
	}
	return grid.OnLine(make([]T, n+kernel.LineBytes/min(kernel.LineBytes, grid.SizeOf[T]())), n, at)
}

// Workers is the scratch memory of that many workers or more.
func Workers[W any](have []W, workers int) []W {
	for len(have) < workers {
		have = append(have, *new(W))
	}
	return have
}

// Bytes is how much memory a slice keeps.
func Bytes[T any](s []T) int { return cap(s) * grid.SizeOf[T]() }
