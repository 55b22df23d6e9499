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
func Invalid(format string, args ...any) error { return About(ErrInvalid, format, args...) }

// Unsupported returns an error that wraps [ErrTypes].
func Unsupported(format string, args ...any) error { return About(ErrTypes, format, args...) }

// Overlapping returns an error that wraps [ErrOverlap].
func Overlapping(format string, args ...any) error { return About(ErrOverlap, format, args...) }

// OutOfMemory returns an error that wraps [ErrMemory], and whose message starts with it.
func OutOfMemory(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMemory, fmt.Errorf(format, args...))
}

// A kindError is an error of a kind that its message does not name: the message says what is wrong.
type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

// About returns an error that wraps kind and the errors that the format wraps. Its message is the formatted text alone.
func About(kind error, format string, args ...any) error {
	return &kindError{kind, fmt.Errorf(format, args...)}
}

// NoTable returns the error for a nil table.
func NoTable() error { return Invalid("nil table") }

// OrZero returns v and err, or the zero value and err if err is not nil.
func OrZero[T any](v T, err error) (T, error) {
	if err != nil {
		return *new(T), err
	}
	return v, nil
}

// OrNil returns t and err, or nil and err if err is not nil.
func OrNil[T any](t *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}
