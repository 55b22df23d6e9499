package boxsum

import (
	"strings"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Level is an instruction set that the engine can use. Tables are bit-identical at
// every level. The zero Level selects the best one that the machine supports.
type Level struct{ name string }

// String returns the name of the level, which [ParseLevel] accepts.
func (l Level) String() string {
	if l.name == "" {
		return engine.Auto
	}
	return l.name
}

// ParseLevel returns the level with the given name: auto (the zero Level), portable
// (plain Go), or, if this machine supports it, avx2 (with BMI2) or avx512 (F, BW, DQ
// and VL; VNNI if available) on amd64 and neon on arm64. It returns an error that
// wraps [ErrInvalid] for any other name. Programs built with the tag noasm support
// only auto and portable.
func ParseLevel(name string) (Level, error) {
	if name == engine.Auto {
		return Level{}, nil
	}
	if _, err := (&engine.Options{Level: name}).Check(); err != nil || name == "" {
		return Level{}, raster.Invalid("unknown level %q, want one of %s, %s on this machine", name, engine.Auto, strings.Join(engine.Levels(), ", "))
	}
	return Level{name}, nil
}

// Levels returns the levels that this machine supports, slowest first. The first is
// plain Go, and the last is the one that the zero Level selects.
func Levels() []Level {
	var list []Level
	for _, name := range engine.Levels() {
		list = append(list, Level{name})
	}
	return list
}
