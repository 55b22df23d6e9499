//go:build race

package ref

import "testing"

// Race reports whether the race detector is on.
const Race = true

// Alone leaves a test out under the race detector, which takes ten times as long and has nothing to
// find where one goroutine works, or as many as in another test.
func Alone(t *testing.T) {
	t.Helper()
	t.Skip("nothing for the race detector")
}
