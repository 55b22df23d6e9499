//go:build !linux

package engine

import "runtime"

// letOthersRun lets others of this program run: there is no portable way to let other
// programs.
func letOthersRun() { runtime.Gosched() }
