package kernel

import (
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/raster"
)

//go:generate go run -C _gen . -dir ..

// Level is an instruction set.
type Level = processor.Level

const (
	Portable = processor.Portable

	// LineBytes is the size of a cache line, and of the widest vector.
	LineBytes = raster.LineBytes
	// FastChannels is the largest number of interleaved channels that the assembly supports.
	FastChannels = processor.FastChannels
)

// Best returns the fastest level of this machine.
func Best() Level { return processor.Best() }

// Levels returns the levels of this machine, slowest first.
func Levels() []Level { return processor.Levels() }

// StoreFence calls [processor.StoreFence].
func StoreFence() { processor.StoreFence() }

func lacksDots(l Level) bool { return processor.LacksDots(l) }
