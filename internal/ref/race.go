//go:build race

package ref

import "testing"

// Race reports whether the race detector is enabled.
const Race = true

// SkipRace skips a test under the race detector, which takes ten times as long and finds nothing in a test with one
// goroutine, or with the same goroutines as another test.
func SkipRace(t *testing.T) {
	t.Helper()
	t.Skip("the race detector finds nothing here: leave out -race")
}
