//go:build !linux

package boxsum

import "math"

// memory is unknown here; what cannot be had is left to the runtime.
func memory() uint64 { return math.MaxInt }

func adviseHugePages([]byte) {}
