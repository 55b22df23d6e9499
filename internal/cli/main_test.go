package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode"

	"github.com/boxsum/boxsum/gpu"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestHistogramInterrupted cancels while the table is written.
func TestHistogramInterrupted(t *testing.T) {
	for _, extension := range []string{".npy", ".npz", ".png"} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if code := run(ctx, []string{"histogram", "../../docs/images/boxsum.png", "-o", filepath.Join(dir, "out"+extension)}, nil, t.Output(), t.Output()); code != exitInterrupted {
			t.Errorf("%s: exit code %d, want %d", extension, code, exitInterrupted)
		}
		wantNothing(t, dir)
	}
}

var update = flag.Bool("update", false, "rewrite the outputs that the scripts compare with")

// TestMain makes this binary also the commands that the scripts run.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"boxsum": Main, "npy": npyMain})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			// Under the race detector every process would linger for a second.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			data, err := filepath.Abs("testdata")
			if err != nil {
				return err
			}
			env.Setenv("TESTDATA", data)
			// Kernels that were compiled once need not be again.
			if cache, err := os.UserCacheDir(); err == nil {
				env.Setenv("XDG_CACHE_HOME", cache)
			}
			return nil
		},
		Condition: hasDevice,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"validjson": validJSON,
			"base64":    fromBase64,
		},
	})
}

var devices = sync.OnceValues(gpu.Devices)

// hasDevice is the conditions [cuda] and [opencl] of scripts. CI has OpenCL, on
// its processor.
func hasDevice(name string) (bool, error) {
	kind, err := gpu.ParseKind(name)
	if err != nil {
		return false, err
	}
	infos, err := devices()
	if slices.ContainsFunc(infos, func(info gpu.Info) bool { return info.Kind == kind }) {
		return true, nil
	}
	if kind == gpu.OpenCL && os.Getenv("CI") == "true" {
		return false, fmt.Errorf("no OpenCL device: %w", err)
	}
	return false, nil
}

// validJSON is the script command validjson FILE; stdout is a file too.
func validJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: validjson FILE")
	}
	if !json.Valid([]byte(ts.ReadFile(args[0]))) {
		ts.Fatalf("%s is not JSON", args[0])
	}
}

// fromBase64 is the script command base64 FROM TO.
func fromBase64(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: base64 FROM TO")
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

// TestExitCodes also holds that a failure says one line, and only on stderr.
func TestExitCodes(t *testing.T) {
	tests := []struct {
		args []string
		want int
	}{
		{nil, exitOK},
		{[]string{"--help"}, exitOK},
		{[]string{"query", "--help"}, exitOK},
		{[]string{"--version"}, exitOK},
		{[]string{"devices"}, exitOK},
		{[]string{"nonsense"}, exitUsage},
		{[]string{"query"}, exitUsage},
		{[]string{"query", "missing.png", "--box", "0,0,1"}, exitUsage},
		{[]string{"integrate", "missing.png"}, exitError},
		{[]string{"integrate", "\x1b[2Jmissing\r\n.png"}, exitError},
		{[]string{"integrate", "-"}, exitError},
		{[]string{"integrate"}, exitUsage},
		{[]string{"integrate", "--demo", "-o", "out.tiff"}, exitUsage},
		{[]string{"query", "missing.png"}, exitError},
		{[]string{"integrate", "--demo", "--on", "tpu"}, exitUsage},
		{[]string{"integrate", "--demo", "--level", "sse"}, exitUsage},
		{[]string{"bench", "--types", "u8"}, exitUsage},
	}
	for _, test := range tests {
		var stdout, stderr strings.Builder
		if code := run(t.Context(), test.args, strings.NewReader(""), &stdout, &stderr); code != test.want {
			t.Errorf("%q: exit code %d, want %d", test.args, code, test.want)
		}
		said, quiet := stdout.String(), stderr.String()
		if test.want != exitOK {
			said, quiet = quiet, said
			if !strings.HasPrefix(said, "boxsum: error: ") || strings.IndexFunc(said, unicode.IsControl) != len(said)-1 {
				t.Errorf("%q: %q is not an error in one line", test.args, said)
			}
		}
		if said == "" || quiet != "" {
			t.Errorf("%q: stdout %q and stderr %q", test.args, &stdout, &stderr)
		}
	}
}

// TestBrokenOutput is for standard output that does not take what is said.
func TestBrokenOutput(t *testing.T) {
	full := writerFunc(func([]byte) (int, error) {
		return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	})
	for _, args := range [][]string{{"--help"}, {"version"}, {"devices"}, {"angles"}, {"integrate", "--demo"}, {"integrate", "--demo", "-o", "-"}} {
		var stderr strings.Builder
		if code := run(t.Context(), args, nil, full, &stderr); code != exitError || !strings.HasSuffix(stderr.String(), "boxsum: error: writing standard output: no space left on device\n") {
			t.Errorf("%q: exit code %d, %q", args, code, &stderr)
		}
	}
}

// TestInterruptReading cancels commands that wait for their input.
func TestInterruptReading(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"integrate", "-", "-o", filepath.Join(dir, "out.npy")},
		{"query", "-", "--box", "0,0,1,1"},
		{"query", "missing.png", "--boxes", "-"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		pipe, _ := io.Pipe() // nobody ever writes to it
		stdin := readerFunc(func(b []byte) (int, error) {
			cancel()
			return pipe.Read(b)
		})
		if code := run(ctx, args, stdin, t.Output(), t.Output()); code != exitInterrupted {
			t.Errorf("%q: exit code %d, want %d", args, code, exitInterrupted)
		}
	}
	wantNothing(t, dir)
}

// TestInterruptStalledPipe cancels while nobody takes the output.
func TestInterruptStalledPipe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, pipe := io.Pipe() // nobody ever reads from it
	stdout := writerFunc(func(b []byte) (int, error) {
		cancel()
		return pipe.Write(b)
	})
	if code := run(ctx, []string{"integrate", "--demo", "-o", "-"}, nil, stdout, t.Output()); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func wantNothing(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s was left behind", e.Name())
	}
}
