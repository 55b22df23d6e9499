//go:build windows && !nogpu

package dynamic

import (
	"github.com/ebitengine/purego"
	"golang.org/x/sys/windows"
)

// Open loads a library from the system directory only.
func Open(name string, _ bool) (uintptr, error) {
	library, err := windows.LoadLibraryEx(name, 0, windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
	return uintptr(library), err
}

// Symbol returns the address of a function of a library.
func Symbol(library uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(library), name)
}

// Call calls a function and returns its result.
//
//go:uintptrescapes
func Call(at uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(at, args...)
	return r
}
