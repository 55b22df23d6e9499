//go:build nogpu

package dynamic

import "errors"

var errNone = errors.New("this program was built without GPUs (nogpu), so that it needs no C library: take the other one, whose name ends in -gpu")

// Open refuses.
func Open(string, bool) (uintptr, error) { return 0, errNone }

// Symbol refuses.
func Symbol(uintptr, string) (uintptr, error) { return 0, errNone }

// Call is never called: no library was opened.
func Call(uintptr, ...uintptr) uintptr { return 0 }
