//go:build amd64 || arm64

package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
)

// hole is a file of 8000×8000 bytes that takes no room on the disk.
func hole(t *testing.T) string {
	t.Helper()
	const header = "\x93NUMPY\x01\x00\x46\x00{'descr': '|u1', 'fortran_order': False, 'shape': (8000, 8000), }     \n"
	path := filepath.Join(t.TempDir(), "hole.npy")
	if err := errors.Join(os.WriteFile(path, []byte(header), 0o600), os.Truncate(path, int64(len(header)+8000*8000))); err != nil {
		t.Fatal(err)
	}
	return path
}

// limitedCases are commands in less memory than their tables take, 0.5 GB each: what
// can be streamed is, and the rest is refused by name of the limit.
var limitedCases = []struct {
	args  string
	code  int
	wants string // with LIMIT for what limits
}{
	{"query HOLE --box 0,0,5,5", exitOK, ""}, // from its rows alone
	{"integrate HOLE --squares --type u64", exitError, "this needs 1.0 GB of memory and LIMIT"},
	{"integrate HOLE --type u64", exitError, "this needs 0.5 GB of memory and LIMIT"},
	{"integrate HOLE --type u64 -o OUT.png", exitError, "write its table to a .npy file, row by row"},
	{"integrate HOLE --type u64 -o -", exitOK, "8000×8000 u8→u64, row by row"},
	{"query HOLE --rotate 1/2 --box 0,0,5,5", exitError, "out of memory: a rotated table: this needs 0.5 GB of memory and LIMIT"},
	{"histogram HOLE --bins 8 --box 0,0,5,5", exitError, "this needs 2.0 GB of memory and LIMIT"},
	{"local HOLE --std --type f64 -o -", exitOK, "8000×8000 u8, std 31×31, reflect101, 1 worker, row by row"},
	{"local HOLE --entropy --type f64 -o -", exitError, "entropy with border reflect101 needs the whole image in memory"},
	{"integrate --demo -o -", exitOK, "1920×1080 u8→u32"},
}

// checkLimited runs all cases, each with a function that has its standard error and code.
func checkLimited(t *testing.T, limit string, run func(args []string) (stderr string, code int)) {
	t.Helper()
	path := hole(t)
	for _, c := range limitedCases {
		args := strings.ReplaceAll(strings.ReplaceAll(c.args, "HOLE", path), "OUT", filepath.Join(filepath.Dir(path), "out"))
		stderr, code := run(strings.Fields(args))
		if want := strings.ReplaceAll(c.wants, "LIMIT", limit); code != c.code || !strings.Contains(stderr, want) || strings.Contains(stderr, "goroutine") {
			t.Errorf("%s: code %d, %.500s\nwant %d, %s", c.args, code, stderr, c.code, want)
		}
	}
}

// command runs a script of the shell that has the command boxsum and arguments for it.
func command(t *testing.T, script string, args []string) (stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-c", script, "bash"}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2") // each further processor takes addresses
	var text strings.Builder
	cmd.Stderr = &text
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

// TestUlimit runs the program with little address space, and with little data: no stack
// trace of Go's runtime comes.
func TestUlimit(t *testing.T) {
	if ref.Race {
		t.Skip("the race detector needs more address space than the limit: leave out -race")
	}
	ref.Program(t, "install it", "bash")
	for _, c := range []struct{ flag, kib string }{{"-v", "2200000"}, {"-d", "700000"}} {
		t.Run(c.flag, func(t *testing.T) {
			checkLimited(t, "the process's limit (ulimit "+c.flag+") leaves 0.", func(args []string) (string, int) {
				return command(t, "ulimit "+c.flag+" "+c.kib+` && exec boxsum "$@"`, args)
			})
		})
	}
}

// TestPretendedGroup runs the commands where the files say that a cgroup has 512 MiB.
func TestPretendedGroup(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"proc/meminfo": "MemAvailable: 8388608 kB\n", "proc/self/cgroup": "0::/box\n",
		"proc/self/mountinfo":          "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"sys/fs/cgroup/box/memory.max": "536870912", "sys/fs/cgroup/box/memory.current": "104857600",
	} {
		name = filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	defer raster.FakeLimits(root, math.Inf(1), math.Inf(1))()
	checkLimited(t, "the cgroup, limited to 0.5 GB, leaves 0.4 GB", func(args []string) (string, int) {
		var stderr strings.Builder
		code := run(t.Context(), args, nil, io.Discard, &stderr)
		return stderr.String(), code
	})
}

// TestGroup runs the commands in a real cgroup of 512 MiB. It is one of the user's service
// manager, or a new one in the directory that BOXSUM_CGROUP names, which must be one that
// limits memory and that groups may be made in. The test makes none where it was not told to:
// the groups of a machine belong to who manages it.
func TestGroup(t *testing.T) {
	if ref.Race {
		t.Skip("the race detector needs more memory than the limit: leave out -race")
	}
	const most = "536870912"
	script := "exec systemd-run --user --scope --quiet -p MemoryMax=" + most + ` -p MemorySwapMax=0 boxsum "$@"`
	if top := os.Getenv("BOXSUM_CGROUP"); top != "" {
		dir := filepath.Join(top, fmt.Sprintf("boxsum-test-%d", os.Getpid()))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(dir)
		err := os.WriteFile(filepath.Join(dir, "memory.max"), []byte(most), 0o600)
		if err != nil {
			err = os.WriteFile(filepath.Join(dir, "memory.limit_in_bytes"), []byte(most), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		script = "echo $$ >'" + filepath.Join(dir, "cgroup.procs") + `' && exec boxsum "$@"`
	} else if text, code := command(t, script, []string{"version"}); code != exitOK {
		ref.Missing(t, "no control group: BOXSUM_CGROUP must name a directory for one, or systemd-run --user must make one, which says: "+strings.TrimSpace(text))
	}
	checkLimited(t, "the cgroup, limited to 0.5 GB, leaves 0.", func(args []string) (string, int) { return command(t, script, args) })
}

// TestLargeFilePipe asks of a pipe that nobody writes to whether it is a large file: it is not opened for that.
func TestLargeFilePipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	if kind := imagefile.LargeFile(pipe); kind != "" {
		t.Errorf("a pipe is %s", kind)
	}
}
