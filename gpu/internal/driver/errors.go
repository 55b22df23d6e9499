package driver

import (
	"errors"
	"iter"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// OneLine is an error whose lines are joined. Reasons come from several libraries, and a log line
// should hold them all.
type OneLine struct{ Err error }

func (e OneLine) Error() string { return strings.ReplaceAll(e.Err.Error(), "\n", "; ") }

func (e OneLine) Unwrap() error { return e.Err }

// FirstError returns the first error that is not nil. Errors while cleaning up after an error
// follow from it and say nothing new.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// EachError calls f for every item, even after an error, and returns the first error.
func EachError[T any](all iter.Seq[T], f func(T) error) (first error) {
	for t := range all {
		first = FirstError(first, f(t))
	}
	return first
}

// Errors for callers to distinguish. Package gpu exports them.
var (
	ErrNoDevice = errors.New("no GPU device")
	ErrDevice   = errors.New("the GPU device failed")
)

// deviceError returns an error that wraps [ErrDevice].
func deviceError(format string, args ...any) error { return raster.About(ErrDevice, format, args...) }
