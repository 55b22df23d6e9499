// Package memory takes memory that may not be there: running out of it ends a
// Go process, so what cannot fit is an error beforehand.
package memory

import (
	"fmt"
	"unsafe"
)

// Make is make([]T, n), or an error where the machine has less memory than that.
func Make[T any](n int) (s []T, err error) {
	size := uint64(unsafe.Sizeof(*new(T)))
	if have := total(); n < 0 || uint64(n) > have/size {
		return nil, fmt.Errorf("%.1f GB are more memory than this machine has, %.1f GB", float64(n)*float64(size)/1e9, float64(have)/1e9)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return make([]T, n), nil
}

// Check says whether so many bytes are free now. Unlike Make it does not count
// on what the garbage collector may give back.
func Check(bytes float64) error {
	if have := available(); have > 0 && bytes > have {
		return fmt.Errorf("this needs %.1f GB of memory and %.1f GB are free", bytes/1e9, have/1e9)
	}
	return nil
}
