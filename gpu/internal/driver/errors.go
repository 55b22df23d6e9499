package driver

import (
	"errors"
	"iter"
	"strings"
)

// OneLine is an error whose lines are joined: reasons come from several
// libraries, and a log line should hold them all.
type OneLine struct{ Err error }

func (e OneLine) Error() string { return strings.ReplaceAll(e.Err.Error(), "\n", "; ") }

func (e OneLine) Unwrap() error { return e.Err }

// FirstError is the first of the errors that is one. What goes wrong while cleaning
// up after an error follows from it and says nothing new.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// EachError calls f for all, also after an error, and is the first error.
func EachError[T any](all iter.Seq[T], f func(T) error) (first error) {
	for t := range all {
		first = FirstError(first, f(t))
	}
	return first
}

// ErrNoDevice is wrapped by the error that says why there is no device.
var ErrNoDevice = errors.New("no GPU to use")
