//go:build !linux

package engine

import "runtime"

// yieldThread yields to other goroutines, because there is no portable way to yield to
// other programs.
func yieldThread() { runtime.Gosched() }
