// Package processor says which instruction sets this machine has and how large its
// caches are, and moves memory past the caches.
package processor

// A Level is an instruction set that kernels are written for: its index in the
// list of the architecture, slowest first.
type Level int

// Portable is plain Go, which runs on every machine.
const Portable Level = 0

type levelInfo struct {
	name string
	has  func() bool // whether this machine has it
}

// Best returns the fastest level of this machine, which has all levels below it too.
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
