package boxsum_test

import (
	"context"
	"errors"
	"testing"

	"github.com/boxsum/boxsum"
)

// TestProgressAndContext tests that a call reports its progress and stops when its
// context is done, and that the next call of the same kind works.
func TestProgressAndContext(t *testing.T) {
	img, err := boxsum.NewImage[uint8](1500, 1100, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range img.Pix {
		img.Pix[i] = uint8(i)
	}
	want, err := boxsum.Integrate[uint32](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	for workers := 1; workers <= 3; workers++ {
		ctx, cancel := context.WithCancel(t.Context())
		stop := func(float64) { cancel() }
		if _, err := boxsum.Integrate[uint32](img, &boxsum.Options{Workers: workers, Context: ctx, Progress: stop}); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("stopped while at work: %v", err)
		}
		if table, err := boxsum.Integrate[uint32](img, &boxsum.Options{Workers: workers, Context: ctx}); table != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("stopped before: %v", err)
		}
		last := 0.0
		got, err := boxsum.Integrate[uint32](img, &boxsum.Options{Workers: workers, Context: t.Context(), Progress: func(done float64) {
			if done <= last || done > 1 {
				t.Errorf("%v after %v", done, last)
			}
			last = done
		}})
		if err != nil || last != 1 {
			t.Fatalf("ended at %v with %v", last, err)
		}
		equal(t, "after one that was stopped", got, want)
	}
}
