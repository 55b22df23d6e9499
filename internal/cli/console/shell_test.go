package console

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestOneLine(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "a.png", Err: fs.ErrNotExist}
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.New("png: bad"), "png: bad"},
		{errors.New("first\nsecond\n"), "first; second"},
		{errors.New("a\x1b[31m\tb\x7f: ü→"), `a\x1b[31m\tb\x7f: ü→`},
		{fmt.Errorf("reading: %w", missing), "a.png: file does not exist"},
	} {
		if got := OneLine(test.err); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.err, got, test.want)
		}
	}
}
