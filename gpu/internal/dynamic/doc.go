// Package dynamic opens libraries at run time and calls their functions, without cgo. On Unix
// that makes a program dynamic: it needs the system's C library. With the build tag nogpu, and on
// platforms that purego has not been ported to, no library can be opened and programs are static.
package dynamic

import "errors"

// ErrNone is returned for every library if libraries cannot be opened.
var ErrNone = errors.New("this program was built without GPU support (install the release's program with it, if there is one for this platform)")
