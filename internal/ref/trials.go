package ref

import (
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Trials yields the numbers of a test's random cases: 0 to n-1, or fewer with -short and under
// the race detector. If BOXSUM_TRIALS is set to a duration, such as 2m, the cases go on until
// that much time has passed.
func Trials(t testing.TB, n int) iter.Seq[int] {
	t.Helper()
	var end time.Time
	if text := os.Getenv("BOXSUM_TRIALS"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("BOXSUM_TRIALS: %v", err)
		}
		end = time.Now().Add(d)
	} else if Race {
		n = max(1, n/8)
	} else if testing.Short() {
		n = max(1, n/4)
	}
	return func(yield func(int) bool) {
		for i := 0; i < n || time.Now().Before(end); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// Seed returns the seed of a test's random cases: usual, so that they are the same every time,
// or, with BOXSUM_TRIALS, a new one for each run. A test that fails prints it, and BOXSUM_SEED
// sets it.
func Seed(t testing.TB, usual uint64) uint64 {
	t.Helper()
	seed, ok := seedOfRun()
	if !ok {
		return usual
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("BOXSUM_SEED=%d BOXSUM_TRIALS=%s repeats these cases", seed, os.Getenv("BOXSUM_TRIALS"))
		}
	})
	return seed
}

var seedOfRun = sync.OnceValues(func() (seed uint64, ok bool) {
	if text := os.Getenv("BOXSUM_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			panic("BOXSUM_SEED: " + err.Error())
		}
		return seed, true
	}
	return rand.Uint64(), os.Getenv("BOXSUM_TRIALS") != ""
})
