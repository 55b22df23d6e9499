package ref

import "runtime"

// Tests have more workers than some machines have processors, and tables never have
// more than GOMAXPROCS.
func init() { runtime.GOMAXPROCS(max(5, runtime.GOMAXPROCS(0))) }
