//go:build !linux

package main

import "time"

var started = time.Now()

// processTime is how long the process has been on processors, where the system tells; here it
// is how long it has been running.
func processTime() time.Duration { return time.Since(started) }
