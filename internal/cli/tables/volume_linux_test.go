//go:build amd64 || arm64

package tables

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"golang.org/x/sys/unix"
)

// TestNoVolumeMemory asks for a table of 2^50 bytes, which can only be written
// slice by slice.
func TestNoVolumeMemory(t *testing.T) {
	stack := &imgio.Stack{First: boxsum.Image[uint8]{Width: 1 << 16, Height: 1 << 16, Channels: 1}, Depth: 1 << 16}
	if _, err := newSolid(pairOf[uint8, uint32, uint64](), stack, tableChoice{squares: true}); err == nil || !strings.Contains(err.Error(), "GB of memory") {
		t.Errorf("error is %v", err)
	}
	work, err := newSolid(pairOf[uint8, uint32, uint64](), stack, tableChoice{squares: true, stream: true})
	if err != nil || !work.streams {
		t.Errorf("error is %v", err)
	}
}

// TestInterruptSlice cancels while a slice does not come, as a file that is far
// away may not: a pipe that nobody writes to has taken its place.
func TestInterruptSlice(t *testing.T) {
	folder := sliceFolder(t)
	stack, err := imgio.OpenStack(folder, imgio.ToGray)
	if err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(folder, "3.pgm")
	if err := cmp.Or(os.Remove(pipe), unix.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	made, err := newSolid(pairOf[uint8, uint32, uint64](), stack, tableChoice{squares: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	if err := made.load(ctx, func(int64) {
		if read++; read == 2 {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) || read != 2 {
		t.Errorf("loading: %v, after %d slices", err, read)
	}
	streamed := planSolid(pairOf[uint8, uint32, uint64](), stack, tableChoice{squares: true})
	streamed.streams, streamed.ctx = true, ctx
	if err := streamed.writeNPY(io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("writing: %v", err)
	}
}
