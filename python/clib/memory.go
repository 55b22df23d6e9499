//go:build cgo

package main

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
)

// roomFor reports whether there is memory for a number of bytes that Python is to take,
// as an error.
func roomFor(a arguments) any {
	must(raster.Check(float64(a.int(0))))
	return nil
}

// room is an error where there is no room for this many bytes of Go's memory.
// Running out of it ends the process; Python raises a MemoryError instead.
func room(bytes float64) error {
	const little = 1 << 20
	if bytes < little {
		return nil
	}
	if err := raster.Check(bytes); err != nil {
		return err
	}
	if !addressable(bytes + bytes/8 + 64<<20) { // arenas are taken whole
		return fmt.Errorf("boxsum: %w: the system does not give %.1f GB to this process", boxsum.ErrMemory, bytes/1e9)
	}
	return nil
}
