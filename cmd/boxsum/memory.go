package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
)

// checkMemory refuses tables that the machine has no memory for: taking it
// would end the process. Where the system does not tell, it trusts.
func checkMemory(need float64) error {
	if have := availableBytes(); have > 0 && need > have {
		return fmt.Errorf("the table needs %.1f GB of memory and %.1f GB are free: cut the image up", need/1e9, have/1e9)
	}
	return nil
}

// tableBytes is what a table takes; its rows are whole cache lines.
func tableBytes[T any](width, height, channels int) float64 {
	const line = 64
	row := (float64(width) + 1) * float64(channels) * float64(sizeOf[T]())
	return math.Ceil(row/line) * line * (float64(height) + 1)
}

// availableBytes is the memory that Linux could give out, and 0 elsewhere.
func availableBytes() float64 {
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
