package ref

import "runtime"

// ManyProcessors lets tests have more workers than some machines have processors: tables
// never have more than GOMAXPROCS. It is for the init of a package's tests.
func ManyProcessors() { runtime.GOMAXPROCS(max(5, runtime.GOMAXPROCS(0))) }
