package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

func FuzzParseRange(f *testing.F) {
	for _, text := range []string{"0,1", "-5, 1e3", "1,2,3", "NaN,0", "0x1p-3,2", "3,2", "0,1e999", "", ","} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRange(text)
		if err != nil {
			return
		}
		if !(r.low < r.high) || !r.given {
			t.Errorf("%q became %+v", text, r)
		}
		if again, err := parseRange(fmt.Sprintf("%v,%v", r.low, r.high)); err != nil || again != r {
			t.Errorf("%q became %+v and then %+v, %v", text, r, again, err)
		}
	})
}

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
