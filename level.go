package boxsum

import (
	"strings"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
)

// Level is an instruction set that the engine can use. Tables of integers and of
// floats are the same bits at every level. The zero Level stands for the best
// that the machine has.
type Level struct{ name string }

// String is the level's name, as [ParseLevel] takes it.
func (l Level) String() string {
	if l.name == "" {
		return engine.Auto
	}
	return l.name
}

// ParseLevel is the level of that name: auto, which is the zero Level, portable
// for plain Go, or another that this machine has: avx2 (with BMI2) or avx512 (F,
// BW, DQ and VL; VNNI where there is) on amd64, neon on arm64. The build tag noasm leaves portable
// alone.
func ParseLevel(name string) (Level, error) {
	if name == engine.Auto {
		return Level{}, nil
	}
	if _, err := (&engine.Options{Level: name}).Check(); err != nil || name == "" {
		return Level{}, grid.Invalid("unknown level %q: this machine has %s, %s", name, engine.Auto, strings.Join(engine.Levels(), ", "))
	}
	return Level{name}, nil
}

// Levels is what this machine has, slowest first: plain Go comes first, and the
// zero Level stands for the last.
func Levels() []Level {
	var list []Level
	for _, name := range engine.Levels() {
		list = append(list, Level{name})
	}
	return list
}
