package ref

import (
	"runtime"
	"testing"
)

// AllocatesNothing fails the test if f does again what it did once and allocates.
// The least of several tries counts: a helper goroutine that ends late makes the
// runtime allocate another one now and then. The race detector makes a pool
// forget at random, so there f is only run, once.
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

// Allocated is how many bytes f allocates, the first time and with no memory left from
// earlier calls.
func Allocated(t *testing.T, f func() error) int {
	t.Helper()
	runtime.GC() // which empties pools, the second time for good
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
