//go:build !amd64 || noasm

package processor

// LastLevelCache returns the size of the largest cache in bytes, 0 if unknown.
func LastLevelCache() int { return 0 }

// Pause tells the processor that the caller is polling.
func Pause() {}

// StoreFence lets what was written past the caches arrive before anything that
// is written later. Here nothing is.
func StoreFence() {}

// LacksDots reports whether a level has kernels by dot products of bytes that this machine
// cannot run.
func LacksDots(Level) bool { return false }
