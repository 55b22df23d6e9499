//go:build amd64 || arm64

package imgio

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMapMoreThanMemory maps an empty (sparse) file larger than memory.
func TestMapMoreThanMemory(t *testing.T) {
	const size = 1 << 40
	f, err := os.Create(filepath.Join(t.TempDir(), "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	data, unmap, err := mapFile(f, size)
	if err != nil {
		t.Fatal(err)
	}
	if data[size-1] != 0 {
		t.Error("the last byte is not 0")
	}
	if err := unmap(); err != nil {
		t.Error(err)
	}
}
