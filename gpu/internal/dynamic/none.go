//go:build nogpu || !(darwin || windows || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package dynamic

// Open refuses.
func Open(string, bool) (uintptr, error) { return 0, ErrNone }

// Symbol refuses.
func Symbol(uintptr, string) (uintptr, error) { return 0, ErrNone }

// Call is never called: no library was opened.
func Call(uintptr, ...uintptr) uintptr { return 0 }
