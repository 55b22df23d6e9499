package grid

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"syscall"
)

// total is how many bytes the machine has, swap included.
func total() uint64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return math.MaxInt
	}
	return min(math.MaxInt, (uint64(info.Totalram)+uint64(info.Totalswap))*uint64(max(info.Unit, 1)))
}

// freeSwap is how many bytes could be swapped out.
func freeSwap() float64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0
	}
	return float64(info.Freeswap) * float64(max(info.Unit, 1))
}

// available is how many bytes could be taken now, and 0 if unknown.
func available() float64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib float64
		if _, err := fmt.Sscanf(lines.Text(), "MemAvailable: %g kB", &kib); err == nil {
			return kib * 1024
		}
	}
	return 0
}
