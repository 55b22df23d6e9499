package cuda

import (
	"runtime"

	"github.com/boxsum/boxsum/gpu/internal/dynamic"
)

// libraries lists the names of the library to try. On Linux, the versioned name is installed
// with the driver, and the plain one with the toolkit.
var libraries = map[string][]string{
	"windows": {"nvcuda.dll"},
	"linux":   {"libcuda.so.1", "libcuda.so"},
	"freebsd": {"libcuda.so.1", "libcuda.so"},
}[runtime.GOOS]

func open(name string) (uintptr, error) { return dynamic.Open(name, false) }

func find(library uintptr, name string) uintptr {
	at, err := dynamic.Symbol(library, name)
	if err != nil {
		return 0
	}
	return at
}
