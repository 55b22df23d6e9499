//go:build amd64 && !noasm

package transforms

import "github.com/boxsum/boxsum/internal/kernel/processor"

// bytesInLanes reports whether correlations at a level use dot products of bytes.
func bytesInLanes(l processor.Level) bool { return l == processor.AVX512 && !processor.LacksDots(l) }

func init() {
	if processor.LacksDots(processor.AVX512) {
		matchTable[processor.AVX512].correlateU8 = matchTable[processor.AVX2].correlateU8
	}
}
