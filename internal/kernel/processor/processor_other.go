//go:build !amd64 || noasm

package processor

// LastLevelCache returns the size of the largest cache in bytes, or 0 if unknown.
func LastLevelCache() int { return 0 }

// Pause tells the processor that the caller is polling.
func Pause() {}

// StoreFence orders non-temporal stores before all later stores. There are none here.
func StoreFence() {}

// LacksDots reports whether a level has dot-product kernels that this machine cannot run.
func LacksDots(Level) bool { return false }

// Fuses reports whether the machine has fused multiply-adds, which processors with AVX2 may lack.
func Fuses() bool { return false }
