//go:build !windows

package cuda

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// libraries are the names to try. The plain name comes with the toolkit, the
// versioned one with the driver.
var libraries = func() []string {
	if runtime.GOOS == "darwin" {
		return nil
	}
	return []string{"libcuda.so.1", "libcuda.so"}
}()

func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func find(library uintptr, name string) uintptr {
	at, err := purego.Dlsym(library, name)
	if err != nil {
		return 0
	}
	return at
}
