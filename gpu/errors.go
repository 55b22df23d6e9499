package gpu

import "strings"

// oneLine is an error whose lines are joined: reasons come from several
// libraries, and a log line should hold them all.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
func (e oneLine) Unwrap() error { return e.error }

// firstError is the first of the errors that is one. What goes wrong while cleaning
// up after an error follows from it and says nothing new.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
