//go:build cgo && unix

package main

import "syscall"

// addressable reports whether the system would map this many bytes: a limit on the process may be lower
// than the machine's memory.
func addressable(bytes float64) bool {
	if bytes >= 1<<62 {
		return false
	}
	m, err := syscall.Mmap(-1, 0, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return false
	}
	return syscall.Munmap(m) == nil
}
