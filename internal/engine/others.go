//go:build !linux

package engine

import "runtime"

// letOthersRun yields to other goroutines: there is no portable way to yield to other
// programs.
func letOthersRun() { runtime.Gosched() }
