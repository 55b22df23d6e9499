package boxsum

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/kernel"
)

// Level is an instruction set that the engine can use. Integer tables are the
// same bits at every level, and so are float tables.
type Level int

// The levels, from the one that every machine has to the fastest.
const (
	Auto     Level = iota // the best that the machine has
	Portable              // plain Go
	AVX2                  // with BMI2
	AVX512                // F, BW, DQ, VL and VNNI
)

var levelNames = [...]string{Auto: "auto", Portable: "portable", AVX2: "avx2", AVX512: "avx512"}

// String is the level's name, as [ParseLevel] takes it.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return levelNames[l]
}

// ParseLevel is the level of that name.
func ParseLevel(name string) (Level, error) {
	for l, n := range levelNames {
		if n == name {
			return Level(l), nil
		}
	}
	return 0, fmt.Errorf("boxsum: unknown level %q: use auto, portable, avx2 or avx512", name)
}

// Levels is what this machine has, slowest first; Auto stands for the last.
func Levels() []Level {
	all := []Level{Portable, AVX2, AVX512}
	return all[:kernel.Best()+1]
}

// kernelLevel is the engine's name for a level that this machine has.
func (l Level) kernelLevel() (kernel.Level, error) {
	if l == Auto {
		return kernel.Best(), nil
	}
	k := kernel.Level(l - Portable)
	if k < 0 || k > kernel.Best() {
		return 0, fmt.Errorf("boxsum: this machine has no %v: use one of %v", l, Levels())
	}
	return k, nil
}
