// Package memory takes memory that may not be there: running out of it ends a
// Go process, so what cannot fit is an error beforehand.
package memory

import (
	"fmt"
	"strings"
	"unsafe"
)

// Make is make([]T, n), or an error where the machine has less memory than that.
func Make[T any](n int) (s []T, err error) {
	if err := fits[T](n); err != nil {
		return nil, err
	}
	defer recovered(&err)
	return make([]T, n), nil
}

// A number is a type without pointers.
type number interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// MakeDirty is Make for those who write every element: what is in them is left from
// before. Clearing them would take about as long as writing them does.
func MakeDirty[T number](n int) (s []T, err error) {
	if err := fits[T](n); err != nil {
		return nil, err
	}
	size := int(unsafe.Sizeof(*new(T)))
	if n < dirtyBytes/size {
		return make([]T, n), nil
	}
	defer recovered(&err)
	// Builders do not clear memory that is to be written to, and have at
	// least as much of it as they were asked for.
	var b strings.Builder
	b.Grow(n * size)
	b.WriteByte(0)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.StringData(b.String()))), n), nil
}

// dirtyBytes is from where on Go gives memory whole pages, which all types can lie
// on.
const dirtyBytes = 64 << 10

// fits says whether the machine has memory for n elements.
func fits[T any](n int) error {
	size := uint64(unsafe.Sizeof(*new(T)))
	if have := total(); n < 0 || uint64(n) > have/size {
		return fmt.Errorf("%.1f GB are more memory than this machine has, %.1f GB", float64(n)*float64(size)/1e9, float64(have)/1e9)
	}
	return nil
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%v", r)
	}
}

// Check says whether so many bytes are free now. Unlike Make it does not count
// on what the garbage collector may give back.
func Check(bytes float64) error {
	if have := available(); have > 0 && bytes > have {
		return fmt.Errorf("this needs %.1f GB of memory and %.1f GB are free", bytes/1e9, have/1e9)
	}
	return nil
}
