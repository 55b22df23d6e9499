// Package processor reports which instruction sets this machine has and how large its caches are,
// and moves memory with non-temporal stores.
package processor

// A Level is an instruction set for which there are kernels. The levels of an architecture are
// numbered from the slowest to the fastest.
type Level int

// Portable is plain Go, which runs on every machine.
const Portable Level = 0

type levelInfo struct {
	name string
	has  func() bool // reports whether this machine supports the level
}

// Best returns the fastest level of this machine, which also supports all levels below it.
func Best() Level { return best }

var best = func() (best Level) {
	for l := best + 1; l < Count && levels[l].has(); l++ {
		best = l
	}
	return best
}()

// Levels returns the levels of this machine, slowest first.
func Levels() []Level {
	var all []Level
	for l := range best + 1 {
		all = append(all, l)
	}
	return all
}

// String returns the level's name in lower case.
func (l Level) String() string { return levels[l].name }
