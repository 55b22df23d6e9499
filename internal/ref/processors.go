package ref

import "runtime"

// Tables never use more workers than GOMAXPROCS. Tests that import this package have at least five on any
// machine.
func init() { runtime.GOMAXPROCS(max(5, runtime.GOMAXPROCS(0))) }
