package console

import (
	"fmt"
)

// A UsageError reports arguments that are invalid regardless of the contents of files.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage returns a UsageError, formatted as by fmt.Errorf.
func Usage(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// AsUsage returns an error as a UsageError, or nil for nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}
