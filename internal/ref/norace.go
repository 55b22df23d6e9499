//go:build !race

package ref

// Race reports whether the race detector is on.
const Race = false
