package ref

import "runtime"

// A table never has more workers than GOMAXPROCS. Tests that import this package have at
// least five, whatever the machine has.
func init() { runtime.GOMAXPROCS(max(5, runtime.GOMAXPROCS(0))) }
