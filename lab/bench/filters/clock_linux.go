package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// processTime returns the processor time used by the process.
func processTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
