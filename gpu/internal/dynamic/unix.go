//go:build !nogpu && (darwin || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package dynamic

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// Open loads a library. If global is set, its dependencies are visible to libraries loaded later.
func Open(name string, global bool) (uintptr, error) {
	runtime.LockOSThread() // C stores the reason of a failure per thread
	defer runtime.UnlockOSThread()
	if global {
		return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	}
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// Symbol returns the address of a function of a library.
func Symbol(library uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(library, name)
}

// Call calls a function and returns its result.
//
//go:uintptrescapes
func Call(at uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(at, args...)
	return r
}
