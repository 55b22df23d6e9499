package kernel

//go:generate go run -C _gen . -dir ..

// A Level is an instruction set that kernels are written for: its place in the
// list of the architecture, slowest first.
type Level int

// Portable is plain Go, which every machine has.
const Portable Level = 0

type levelInfo struct {
	name string
	has  func() bool // whether this machine has it
}

// Best is the fastest level of this machine; every one below it is there too.
func Best() Level { return best }

var best = func() (best Level) {
	for l := best + 1; l < levelCount && levels[l].has(); l++ {
		best = l
	}
	return best
}()

// Levels is those of this machine, slowest first.
func Levels() []Level {
	var all []Level
	for l := range best + 1 {
		all = append(all, l)
	}
	return all
}

// String is the level's name in lower case.
func (l Level) String() string { return levels[l].name }
