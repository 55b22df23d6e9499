//go:build !amd64 || noasm

package kernel

import "unsafe"

// Machines without assembly use the portable loop for every type of sums.
var bins []any

func streamLines(dst, src unsafe.Pointer, lines int) bool { return false }

// StoreFence lets what was written past the caches arrive before anything that
// is written later. Here nothing is.
func StoreFence() {}
