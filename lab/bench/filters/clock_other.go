//go:build !linux

package main

import "time"

var started = time.Now()

// processTime stands for the processor time used by the process. On this system it is the time since
// the process started.
func processTime() time.Duration { return time.Since(started) }
