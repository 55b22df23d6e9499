//go:build amd64 || arm64

package main

import (
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
)

// TestNoVolumeMemory asks for a table of 2^50 bytes, which can only be written
// slice by slice.
func TestNoVolumeMemory(t *testing.T) {
	stack := &imgio.Stack{First: boxsum.Image[uint8]{Width: 1 << 16, Height: 1 << 16, Channels: 1}, Depth: 1 << 16}
	if _, err := newTypedVolume[uint8, uint32, uint64](stack, true, false); err == nil || !strings.Contains(err.Error(), "GB of memory") {
		t.Errorf("error is %v", err)
	}
	work, err := newTypedVolume[uint8, uint32, uint64](stack, true, true)
	if err != nil || !work.sliceBySlice() {
		t.Errorf("error is %v", err)
	}
}
