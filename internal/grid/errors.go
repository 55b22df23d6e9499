// Package grid is what images, volumes and their tables have in common: sizes,
// strides, memory, and the errors about them. It knows numbers and slices only.
package grid

import (
	"errors"
	"fmt"
)

// What errors are about, for callers to tell apart. Package boxsum has them for
// its users.
var (
	ErrInvalid = errors.New("invalid")
	ErrOverlap = errors.New("overlap")
	ErrTypes   = errors.New("unsupported types")
	ErrMemory  = errors.New("out of memory")
	ErrClosed  = errors.New("closed")
)

// Invalid is an error that wraps [ErrInvalid].
func Invalid(format string, args ...any) error { return about(ErrInvalid, format, args) }

// Types is an error that wraps [ErrTypes].
func Types(format string, args ...any) error { return about(ErrTypes, format, args) }

// OutOfMemory is an error that wraps [ErrMemory].
func OutOfMemory(format string, args ...any) error { return about(ErrMemory, format, args) }

// about wraps a kind of error, and what the format wraps.
func about(kind error, format string, args []any) error {
	return fmt.Errorf("boxsum: %w: %w", kind, fmt.Errorf(format, args...))
}

// NoTable is the error about a table that is nil.
func NoTable() error { return Invalid("no table") }

// OrNil is nothing where there is an error.
func OrNil[T any](t *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}
