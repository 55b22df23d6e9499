package driver

import (
	"errors"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/cuda"
)

// TestRefusalForMemory checks that running out of memory while loading a kernel is not a refusal.
func TestRefusalForMemory(t *testing.T) {
	const noBinary = cuda.Result(209)
	err := cudaError("find a kernel", Refusal([]error{noBinary, cuda.OutOfMemory}))
	if !errors.Is(err, boxsum.ErrMemory) || IsRefused(err) {
		t.Errorf("no memory to load a kernel: %v", err)
	}
	if err := cudaError("find a kernel", Refusal([]error{noBinary, noBinary})); !IsRefused(err) || errors.Is(err, boxsum.ErrMemory) {
		t.Errorf("a driver that is too old: %v", err)
	}
}
