package engine

import (
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// Zeros returns n zeros, reusing the memory of have if it suffices.
func Zeros[T any](have []T, n int) []T {
	if cap(have) < n {
		return AtLeast(have, n)
	}
	have = have[:n]
	clear(have)
	return have
}

// AtLeast returns n elements, reusing the memory of have if it suffices. Otherwise, the
// new memory begins at the start of a cache line. Reused elements are not cleared.
func AtLeast[T any](have []T, n int) []T { return AtLeastFrom(have, n, 0) }

// AtLeastFrom is like [AtLeast], except that in new memory the element with index at, not
// the first, is at the start of a cache line.
func AtLeastFrom[T any](have []T, n, at int) []T {
	if cap(have) >= n {
		return have[:n]
	}
	return raster.OnLine(make([]T, n+kernel.LineBytes/min(kernel.LineBytes, raster.SizeOf[T]())), n, at)
}

// Workers returns scratch memory for at least the given number of workers, reusing that
// of have.
func Workers[W any](have []W, workers int) []W {
	for len(have) < workers {
		have = append(have, *new(W))
	}
	return have
}

// Bytes returns the size of the memory that a slice keeps.
func Bytes[T any](s []T) int { return cap(s) * raster.SizeOf[T]() }
