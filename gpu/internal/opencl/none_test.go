//go:build nogpu

package opencl

import (
	"strings"
	"testing"
)

// A program without GPUs says so once, not for every library that it did not open.
func TestNone(t *testing.T) {
	_, err := open(libraries())
	if err == nil || strings.Count(err.Error(), "without GPUs") != 1 {
		t.Errorf("the error is %v", err)
	}
}
