package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSignals stops boxsum while it waits for the rest of its input or writes.
func TestSignals(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "boxsum") // by which name the binary is that command
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		pipe := filepath.Join(dir, "pipe.npy")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "integrate", pipe, "-o", filepath.Join(dir, "out.npy"))
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in, err := os.OpenFile(pipe, os.O_WRONLY, 0) // once it is being read
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(stderr).ReadString('\n')
		io.Copy(io.Discard, stderr)
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitSignal+int(s) || line != "boxsum: interrupted\n" {
			t.Errorf("%v: %v, %q", s, err, line)
		}
		in.Close()
		os.Remove(pipe)
		wantNothing(t, dir)
	}
}

// TestDevices writes to what is no file.
func TestOutputDevices(t *testing.T) {
	for _, args := range [][]string{
		{"integrate", "--demo", "-o", "/dev/null"},
		{"integrate", "--demo", "--squares", "--tilted", "-o", "/dev/null"},
		{"histogram", "--demo", "-o", "/dev/null"},
		{"draw", "--box", "0,0,4,4", "-o", "/dev/null"},
	} {
		if code := run(t.Context(), args, nil, t.Output(), t.Output()); code != exitOK {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
	if code := run(t.Context(), []string{"integrate", "--demo", "-o", "/dev/full"}, nil, t.Output(), t.Output()); code != exitError {
		t.Errorf("/dev/full: exit code %d", code)
	}
}
