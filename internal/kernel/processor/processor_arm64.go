//go:build arm64 && !noasm

package processor

// hasNEON: every processor of this architecture has it.
func hasNEON() bool { return true }
