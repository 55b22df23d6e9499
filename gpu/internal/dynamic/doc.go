// Package dynamic opens libraries at run time and calls their functions, without cgo. On Unix
// that makes a program dynamic: it needs the system's C library. With the build tag nogpu
// there are no libraries, and programs are static.
package dynamic

import "errors"

// ErrNone is the error where no library can be opened, whatever its name.
var ErrNone = errors.New("this program was built without GPUs (nogpu), so that it needs no C library: take the other one, whose name ends in -gpu")
