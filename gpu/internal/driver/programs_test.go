package driver

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// eachOpenCLCache runs a test for every OpenCL device. build opens the device anew and looks up a
// kernel, which builds its program or loads it from the cache.
func eachOpenCLCache(t *testing.T, cache string, body func(t *testing.T, build func())) {
	t.Setenv(cacheVariable, cache)
	eachOpenCLDevice(t, func(t *testing.T, info Info) {
		body(t, func() {
			t.Helper()
			b, err := openOpenCL(info)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if _, err := b.(*OpenCLBackend).LargestGroup([]string{"portable_boxes_u32"}, 256); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestDamagedProgramIsRebuilt(t *testing.T) {
	damages := map[string]func(whole []byte) []byte{
		"nothing":   func([]byte) []byte { return nil },
		"truncated": func(whole []byte) []byte { return whole[:len(whole)/2] },
		"a bit":     func(whole []byte) []byte { whole[len(whole)/2] ^= 4; return whole },
		"another's, with a right checksum": func([]byte) []byte {
			binary := []byte("no program of any driver")
			sum := sha256.Sum256(binary)
			return append(sum[:], binary...)
		},
	}
	folder := t.TempDir()
	eachOpenCLCache(t, folder, func(t *testing.T, build func()) {
		build()
		files, err := filepath.Glob(filepath.Join(folder, "*.bin"))
		if err != nil || len(files) != 1 {
			t.Fatalf("after one program the cache holds %v, %v", files, err)
		}
		file := files[0]
		defer os.Remove(file) // the next device has a file of its own
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, damage := range damages {
			if err := os.WriteFile(file, damage(append([]byte(nil), whole...)), 0o600); err != nil {
				t.Fatal(err)
			}
			build()
			if binary := readCache(file); len(binary) < len(whole)/2 {
				t.Errorf("%s: the program was not kept anew", name)
			}
		}
		if rest, _ := filepath.Glob(filepath.Join(folder, "*.tmp")); len(rest) > 0 {
			t.Errorf("left behind: %v", rest)
		}
	})
}

func TestNoProgramCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{"off", filepath.Join(file, "under a file")} {
		eachOpenCLCache(t, cache, func(t *testing.T, build func()) { build() })
	}
	if _, err := os.Stat("off"); err == nil {
		t.Error("off is a folder")
	}
}

// TestBuildError checks that an empty log adds nothing to the error.
func TestBuildError(t *testing.T) {
	failed := errors.New("failed")
	for log, want := range map[string]string{"": "failed", "one\ntwo": "failed: one; two"} {
		if err := buildError(failed, log); !errors.Is(err, failed) || err.Error() != want {
			t.Errorf("the log %q gives %q, want %q", log, err, want)
		}
	}
}
