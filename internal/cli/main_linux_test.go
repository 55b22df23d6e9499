package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/boxsum/boxsum/internal/ref"
)

func TestNothingBinaryOnTerminals(t *testing.T) {
	tty, _ := ref.Terminal(t)
	var stderr strings.Builder
	if code := run(t.Context(), []string{"integrate", "--demo", "-o", "-"}, nil, tty, &stderr); code != exitUsage || !strings.Contains(stderr.String(), "standard output is a terminal") {
		t.Errorf("exit code %d, %q", code, &stderr)
	}
}

// TestPipeAmongSlices finds a pipe in a folder before it waits for it.
func TestPipeAmongSlices(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"1", "2"} {
		if err := os.WriteFile(filepath.Join(folder, name+".pgm"), []byte("P2 3 2 255 1 2 3 4 5 6"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pipe := filepath.Join(folder, "3.png")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"integrate", "--volume", folder}, {"query", "--volume", folder, "--box", "0,0,0,1,1,1"}} {
		var stderr strings.Builder
		if code := run(t.Context(), args, nil, t.Output(), &stderr); code != exitError || stderr.String() != "boxsum: error: "+pipe+" is a pipe, want only pictures in the folder (remove it)\n" {
			t.Errorf("exit code %d: %s", code, &stderr)
		}
	}
}
