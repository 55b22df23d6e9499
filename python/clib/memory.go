//go:build cgo

package main

import (
	"github.com/boxsum/boxsum/internal/raster"
)

// roomFor returns an error if there is not enough memory for the given number of bytes, which Python is
// about to allocate.
func roomFor(a arguments) any {
	must(raster.Check(float64(a.int(0))))
	return nil
}

// room returns an error if Go cannot allocate this many bytes, which becomes a MemoryError in Python:
// running out of memory would end the process.
func room(bytes float64) error {
	const little = 1 << 20
	if bytes < little {
		return nil
	}
	if err := raster.Check(bytes); err != nil {
		return err
	}
	if !addressable(bytes + bytes/8 + 64<<20) { // arenas are allocated whole
		return raster.OutOfMemory("the system refused to allocate %.1f GB", bytes/1e9)
	}
	return nil
}
