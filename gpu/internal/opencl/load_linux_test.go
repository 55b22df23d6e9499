package opencl

import (
	"strings"
	"testing"
)

// TestMissingSymbol checks that a library without the OpenCL functions is an error.
func TestMissingSymbol(t *testing.T) {
	_, err := open([]string{"libc.so.6"})
	if err == nil || !strings.Contains(err.Error(), "clGetPlatformIDs") {
		t.Errorf("a library of something else gives %v", err)
	}
}
