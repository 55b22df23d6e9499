package cli

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestView serves the page as the command does: it prints the address, answers there, and Ctrl-C ends it well.
func TestView(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "boxsum")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		parts int // of the address between slashes
	}{{[]string{"view", "--no-open"}, 4}, {[]string{"view", "--no-open", "--listen", "127.0.0.1:0"}, 5}} {
		cmd := exec.Command(path, c.args...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		address := strings.TrimSpace(line)
		if !strings.HasPrefix(address, "http://127.0.0.1:") || len(strings.Split(address, "/")) != c.parts {
			t.Errorf("%q prints %q", c.args, line)
		} else if reply, err := http.Get(address); err != nil || reply.StatusCode != 200 {
			t.Errorf("%s: %v, %v", address, reply, err)
		} else {
			reply.Body.Close()
		}
		cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q ends with %v", c.args, err)
		}
	}
	if code := run(t.Context(), []string{"view", "--no-open", "not there.png"}, nil, t.Output(), t.Output()); code != exitError {
		t.Errorf("a file that is not there: exit code %d", code)
	}
	if code := run(t.Context(), []string{"view", "--port", "70000"}, nil, t.Output(), t.Output()); code != exitUsage {
		t.Errorf("port 70000: exit code %d", code)
	}
}
