//go:build amd64 || arm64

package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestHistogramMemory asks for a table of 7 terabytes of a file that is nearly all
// hole: what is wrong is said before memory is taken for anything.
func TestHistogramMemory(t *testing.T) {
	const header = "\x93NUMPY\x01\x00\x47\x00{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 60000), }   \n"
	path := filepath.Join(t.TempDir(), "hole.npy")
	if err := os.WriteFile(path, []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(header)+60000*60000)); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var stderr strings.Builder
	if code := run(t.Context(), []string{"histogram", path, "--bins", "256", "--weights", path}, nil, t.Output(), &stderr); code != exitError {
		t.Errorf("exit code %d, want %d", code, exitError)
	}
	runtime.ReadMemStats(&after)
	if got := stderr.String(); !strings.HasPrefix(got, "boxsum: error: out of memory: a table of 60000×60000 pixels and 256 bins: ") {
		t.Errorf("error is %q", got)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%d bytes were taken", took)
	}
}

// TestFewBoxesTakeNoMemory asks for a box of an image of 3.6 GB, nearly all of which is a
// hole of its file.
func TestFewBoxesTakeNoMemory(t *testing.T) {
	const header = "\x93NUMPY\x01\x00\x47\x00{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 60000), }   \n"
	path := filepath.Join(t.TempDir(), "hole.npy")
	if err := os.WriteFile(path, []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(header)+60000*60000)); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var stdout strings.Builder
	if code := run(t.Context(), []string{"query", path, "--box", "59990,59990,60000,60000"}, nil, &stdout, t.Output()); code != exitOK {
		t.Errorf("exit code %d, want %d", code, exitOK)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("%d bytes were taken", after.TotalAlloc-before.TotalAlloc)
	}
	if !strings.HasSuffix(stdout.String(), " 100\n") {
		t.Errorf("answer is %q", stdout.String())
	}
}
