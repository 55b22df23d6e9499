package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNothingBinaryOnTerminals(t *testing.T) {
	tty, _ := newTerminal(t)
	var stderr strings.Builder
	if code := run(t.Context(), []string{"integrate", "--demo", "-o", "-"}, nil, tty, &stderr); code != exitUsage || !strings.Contains(stderr.String(), "standard output is a terminal") {
		t.Errorf("exit code %d, %q", code, &stderr)
	}
}

// newTerminal opens a terminal.
func newTerminal(t *testing.T) (tty, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return tty, screen
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
