//go:build !linux

package raster

import "math"

// total is unlimited: on other systems the runtime detects that memory is missing.
func total() uint64 { return math.MaxInt }

var here *host
