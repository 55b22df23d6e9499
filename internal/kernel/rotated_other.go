//go:build !amd64 || noasm

package kernel

// There is no assembly on such machines.
type (
	rotatedAssembly[P Pixel, S Sum] struct{}
	rotatedScratch[P Pixel]         struct{}
)

func newRotatedAssembly[P Pixel, S Sum](Level, *RotatedRuns) *rotatedAssembly[P, S] { return nil }

func (*rotatedAssembly[P, S]) line(*RotatedLine[P, S], *rotatedScratch[P]) {}
