//go:build nogpu

package dynamic

// Open refuses.
func Open(string, bool) (uintptr, error) { return 0, ErrNone }

// Symbol refuses.
func Symbol(uintptr, string) (uintptr, error) { return 0, ErrNone }

// Call is never called: no library was opened.
func Call(uintptr, ...uintptr) uintptr { return 0 }
