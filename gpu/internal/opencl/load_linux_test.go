package opencl

import (
	"strings"
	"testing"
)

// A library that is there but has other functions is an error too.
func TestMissingSymbol(t *testing.T) {
	_, err := open([]string{"libc.so.6"})
	if err == nil || !strings.Contains(err.Error(), "clGetPlatformIDs") {
		t.Errorf("a library of something else gives %v", err)
	}
}
