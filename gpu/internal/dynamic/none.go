//go:build nogpu || !(darwin || windows || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package dynamic

// Open returns ErrNone.
func Open(string, bool) (uintptr, error) { return 0, ErrNone }

// Symbol returns ErrNone.
func Symbol(uintptr, string) (uintptr, error) { return 0, ErrNone }

// Call is never called, because no library can be opened.
func Call(uintptr, ...uintptr) uintptr { return 0 }
