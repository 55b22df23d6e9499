//go:build !race

package ref

import "testing"

// Race reports whether the race detector is enabled.
const Race = false

// Alone skips a test under the race detector if the test has nothing for it to find.
func Alone(*testing.T) {}
