package ref

import (
	"runtime"
	"testing"
)

// AllocatesNothing fails the test if f allocates when it is called again. The minimum of several tries counts,
// because a helper goroutine that ends late occasionally makes the runtime allocate another one. Under the race
// detector pools drop items at random, so f is only called once.
func AllocatesNothing(t *testing.T, what string, f func() error) {
	t.Helper()
	run := func() {
		if err := f(); err != nil {
			t.Fatal(what, err)
		}
	}
	if Race {
		run()
		return
	}
	var least float64
	for range 5 {
		if least = testing.AllocsPerRun(3, run); least == 0 {
			return
		}
	}
	t.Errorf("%s allocates %v times", what, least)
}

// Allocated returns the number of bytes that f allocates in its first call, with pools emptied.
func Allocated(t *testing.T, f func() error) int {
	t.Helper()
	runtime.GC() // empties pools; two rounds are needed
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	return int(after.TotalAlloc - before.TotalAlloc)
}
