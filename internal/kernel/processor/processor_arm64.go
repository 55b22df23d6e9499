//go:build arm64 && !noasm

package processor

// hasNEON returns true: every arm64 processor has NEON.
func hasNEON() bool { return true }
