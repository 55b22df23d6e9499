package raster

import (
	"errors"
	"fmt"
)

// The kinds of errors, for callers to distinguish. Package boxsum exports them.
var (
	ErrInvalid = errors.New("invalid")
	ErrOverlap = errors.New("overlap")
	ErrTypes   = errors.New("unsupported types")
	ErrMemory  = errors.New("out of memory")
	ErrClosed  = errors.New("closed")
)

// Invalid returns an error that wraps [ErrInvalid].
func Invalid(format string, args ...any) error { return about(ErrInvalid, format, args) }

// Unsupported returns an error that wraps [ErrTypes].
func Unsupported(format string, args ...any) error { return about(ErrTypes, format, args) }

// OutOfMemory returns an error that wraps [ErrMemory].
func OutOfMemory(format string, args ...any) error { return about(ErrMemory, format, args) }

// about returns an error that wraps kind and the errors that the format wraps.
func about(kind error, format string, args []any) error {
	return fmt.Errorf("boxsum: %w: %w", kind, fmt.Errorf(format, args...))
}

// NoTable returns the error for a nil table.
func NoTable() error { return Invalid("nil table") }

// OrNil returns t and err, or nil and err if err is not nil.
func OrNil[T any](t *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}
