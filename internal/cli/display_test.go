package cli

import (
	"testing"

	"github.com/boxsum/boxsum/internal/cli/display"
)

func TestRounded(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.0000049996: "0.000005", 0.1234: "0.123", 12.34: "12.3", 123.4: "123", 999.6: "1000", 5734: "5730", 123456789: "123000000",
	} {
		if got := display.Rounded(x); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"short":                        "short",
		"one two three four":           "one two\n   three\n   four",
		"incomprehensibilities are ü→": "incomprehensibilities\n   are ü→",
	} {
		if got := display.Wrap(text, 8, 3); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
