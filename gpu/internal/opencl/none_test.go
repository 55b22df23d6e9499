//go:build nogpu

package opencl

import (
	"strings"
	"testing"
)

// TestNone checks that a program without GPU support says so once, not for every library.
func TestNone(t *testing.T) {
	_, err := open(libraries())
	if err == nil || strings.Count(err.Error(), "without GPU support") != 1 {
		t.Errorf("the error is %v", err)
	}
}
