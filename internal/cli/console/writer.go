package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/term"
)

// A CheckedWriter remembers the first write error, for callers that do not check.
type CheckedWriter struct {
	io.Writer
	Err error
}

func (c *CheckedWriter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if err != nil && c.Err == nil {
		var path *fs.PathError
		if c.Err = err; errors.As(err, &path) {
			c.Err = path.Err
		}
		c.Err = fmt.Errorf("writing standard output: %w", c.Err)
	}
	return n, err
}

// IsTerminal reports whether w writes to a terminal.
func IsTerminal(w io.Writer) bool {
	if c, ok := w.(*CheckedWriter); ok {
		w = c.Writer
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
