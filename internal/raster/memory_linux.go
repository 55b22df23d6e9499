package raster

import (
	"math"
	"syscall"
)

// total returns the memory of the machine in bytes, swap included.
func total() uint64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return math.MaxInt
	}
	return min(math.MaxInt, (uint64(info.Totalram)+uint64(info.Totalswap))*uint64(max(info.Unit, 1)))
}

// here is this machine.
var here = &host{text: filesUnder("/"), rlimits: func() (addresses, data float64) {
	return rlimit(syscall.RLIMIT_AS), rlimit(syscall.RLIMIT_DATA)
}}

func rlimit(which int) float64 {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(which, &r); err != nil || r.Cur >= none {
		return math.Inf(1)
	}
	return float64(r.Cur)
}
