package console

import (
	"errors"
	"testing"
)

func TestOneLine(t *testing.T) {
	for err, want := range map[string]string{
		"imgio: png: bad":                         "png: bad",
		"writing x: imgio: writing npy: no space": "writing x: writing npy: no space",
		"first\nsecond\n":                         "first; second",
		"a\x1b[31m\tb\x7f: ü→":                    `a\x1b[31m\tb\x7f: ü→`,
	} {
		if got := OneLine(errors.New(err)); got != want {
			t.Errorf("%q becomes %q, want %q", err, got, want)
		}
	}
}
