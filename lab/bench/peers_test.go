package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/lab/measure"
)

// withModule makes a Python module take precedence over installed ones.
func withModule(t *testing.T, path, source string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(source), 0o666)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", dir)
}

// comparePeers runs a comparison and returns the contestants in order.
func comparePeers(t *testing.T, sizes, types string) (field []string, report string, err error) {
	t.Helper()
	var out strings.Builder
	cfg := Config{Python: ref.Python(t), Out: &out}
	cfg.Repeat = 3
	if cfg.Sizes, err = measure.ParseSizes(sizes); err != nil {
		t.Fatal(err)
	}
	if cfg.Cases, err = measure.ParseTypes(types); err != nil {
		t.Fatal(err)
	}
	results, err := Peers(t.Context(), cfg)
	for _, r := range results {
		if strings.HasPrefix(r.Algorithm, "limit: ") {
			continue
		}
		name, _, _ := strings.Cut(r.Algorithm, " ")
		field = append(field, fmt.Sprint(r.Case(), " ", r.Size, " ", name))
		// The difference of two times of a small table may be anything.
		if !r.Verified || r.Repeat != 3 || r.Min <= 0 && !r.Case().Tilted() {
			t.Errorf("odd result %+v", r)
		}
	}
	return slices.Compact(field), out.String(), err
}

// TestPeers compares everything that is compared by default, and pairs that OpenCV lacks.
func TestPeers(t *testing.T) {
	got, report, err := comparePeers(t, "64x48,1x1,131x7", PeerTypes+",u8:f32,u16:f64,f64:f64,u32:u32,i32:i64")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, test := range []struct{ types, peers string }{
		{"u8:u32", "opencv,scikit-image"},
		{"u8:f64", "opencv,scikit-image"},
		{"f32:f32", "opencv,scikit-image"},
		{"f32:f64", "opencv,scikit-image"},
		{"u8:u32+u64", "opencv"},
		{"u8:u32x3", "opencv"},
		{"u8:u32-tilted", "upright,cv2.integral3,cv2.integral2,opencv"},
		{"u8:f32", "opencv,scikit-image"},
		{"u16:f64", "opencv,scikit-image"},
		{"f64:f64", "opencv,scikit-image"},
		{"u32:u32", "scikit-image"},
		{"i32:i64", "scikit-image"},
	} {
		for _, size := range []string{" 64x48 ", " 1x1 ", " 131x7 "} {
			want = append(want, test.types+size+"boxsum")
			for peer := range strings.SplitSeq(test.peers, ",") {
				want = append(want, test.types+size+peer)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, text := range []string{"opencv: ", "scikit-image: ", "\nu8:u32+u64 ", "\n131x7 ", "–"} {
		if !strings.Contains(report, text) {
			t.Errorf("the report lacks %q:\n%s", text, report)
		}
	}
}

func TestPeersMissingModule(t *testing.T) {
	withModule(t, "cv2.py", `raise ImportError("no OpenCV here")`)
	got, report, err := comparePeers(t, "5x4", "u8:u32")
	want := []string{"u8:u32 5x4 boxsum", "u8:u32 5x4 scikit-image"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if !strings.Contains(report, "\nleft out, opencv: no OpenCV here\n") {
		t.Errorf("the report does not say who was left out:\n%s", report)
	}
}

// TestPeersWrongTable tests that a peer with wrong tables is not timed, and that the others are.
func TestPeersWrongTable(t *testing.T) {
	withModule(t, "cv2.py", `
import numpy as np
__version__ = "wrong"
CV_32S, CV_32F, CV_64F = 4, 5, 6
def getNumThreads(): return 1
def integral(image, table, depth):
    table[:] = 0
    table[1:, 1:] = image.cumsum(0).cumsum(1)
    table[2, 3] += image.shape[1] == 9
    return table
`)
	got, _, err := comparePeers(t, "5x4,9x4", "u8:u32")
	want := []string{
		"u8:u32 5x4 boxsum", "u8:u32 5x4 opencv", "u8:u32 5x4 scikit-image",
		"u8:u32 9x4 boxsum", "u8:u32 9x4 scikit-image",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err == nil || !strings.Contains(err.Error(), "u8:u32 9x4: opencv: entry (3, 2) of channel 0 is ") {
		t.Errorf("a wrong entry gives %v", err)
	}
}

func TestPeersPythonDies(t *testing.T) {
	for name, test := range map[string]struct{ source, want string }{
		"at once": {`raise SystemExit("OpenCV is broken")`, "ended early: exit status 1: OpenCV is broken"},
		"at work": {`
__version__, CV_32S, CV_32F, CV_64F = "broken", 4, 5, 6
def getNumThreads(): return 1
def integral(*_): raise ValueError("cannot integrate")
`, "ValueError: cannot integrate"},
		"mid-table": {`
import os
__version__, CV_32S, CV_32F, CV_64F = "broken", 4, 5, 6
def getNumThreads(): return 1
def integral(*_): os._exit(3)
`, "ended early: exit status 3: it said nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			withModule(t, "cv2.py", test.source)
			if _, _, err := comparePeers(t, "5x4", "u8:u32"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestPeersNoPython(t *testing.T) {
	_, err := Peers(t.Context(), Config{Python: filepath.Join(t.TempDir(), "python")})
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "cannot start Python: ") {
		t.Errorf("no interpreter gives %v", err)
	}
}

func TestPeersCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := Config{Python: ref.Python(t)}
	cfg.Sizes = []Size{{Name: "64x48", Width: 64, Height: 48}}
	cfg.Progress = func(Progress) { cancel() }
	if _, err := Peers(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled run gives %v", err)
	}
}

// TestWithExtra tests that OpenCV's cost of a tilted table is the difference of its two times.
func TestWithExtra(t *testing.T) {
	results := withExtra([]Result{{Algorithm: OpenCVTilted + " 5.0", Times: measure.Times{Min: 7}, Verified: true}, {Algorithm: OpenCVUpright + " 5.0", Times: measure.Times{Min: 4}}})
	if len(results) != 3 || results[2].Algorithm != "opencv 5.0" || results[2].Min != 3 || !results[2].is(OpenCV) {
		t.Errorf("%+v", results)
	}
	if results := withExtra(results[:1]); len(results) != 1 {
		t.Errorf("%+v", results)
	}
}
