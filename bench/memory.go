package bench

import (
	"bufio"
	"fmt"
	"os"
)

// fitsMemory says so before it happens when copies of a case's buffers need
// more memory than the machine has left: running out ends the process. Where
// the system does not tell, it trusts.
func fitsMemory(c Case, size Size, copies int64) error {
	read, written := c.bytes(size)
	need, have := copies*(read+written), availableBytes()
	if have > 0 && need > have {
		return fmt.Errorf("this needs %.1f GB of memory and %.1f GB are free: choose a smaller size",
			float64(need)/1e9, float64(have)/1e9)
	}
	return nil
}

// availableBytes is the memory that Linux could give out, and 0 elsewhere.
func availableBytes() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib int64
		if _, err := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}
