package console

import (
	"fmt"
)

// A UsageError is in the arguments themselves.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage returns an error in the arguments, formatted as by fmt.Errorf.
func Usage(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// AsUsage is an error as one of the arguments.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}
