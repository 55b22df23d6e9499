//go:build cgo

package main

import (
	"fmt"
	"unsafe"

	memory "github.com/boxsum/boxsum/internal/grid"
)

func elementBytes[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// room is an error where there is no room for this many bytes of Go's memory.
// Running out of it ends the process; Python raises a MemoryError instead.
func room(bytes float64) error {
	const little = 1 << 20
	if bytes < little {
		return nil
	}
	if err := memory.Check(bytes); err != nil {
		return fmt.Errorf("boxsum: %w: %w", errMemory, err)
	}
	if !addressable(bytes + bytes/8 + 64<<20) { // arenas are taken whole
		return fmt.Errorf("boxsum: %w: the system does not give %.1f GB to this process", errMemory, bytes/1e9)
	}
	return nil
}
