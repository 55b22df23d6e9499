package match

import (
	"context"
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
)

// Pixel is what images and templates hold.
type Pixel interface {
	uint8 | uint16 | float32 | float64
}

// A Method is a way to score.
type Method uint8

const (
	// ZNCC is normalised cross correlation of what differs from the mean: brightness
	// and contrast do not matter.
	ZNCC Method = iota
	// NCC is normalised cross correlation: exposure does not matter.
	NCC
	// SSD is the sum of squared differences: everything matters, and the least is the best.
	SSD
	methods
)

var methodNames = [methods]string{"zncc", "ncc", "ssd"}

// String is the method's name in lower case.
func (m Method) String() string {
	if m < methods {
		return methodNames[m]
	}
	return fmt.Sprintf("method %d", uint8(m))
}

// ParseMethod is the method of that name: zncc, ncc or ssd.
func ParseMethod(name string) (Method, error) {
	for m, n := range methodNames {
		if n == name {
			return Method(m), nil
		}
	}
	return 0, grid.Invalid("unknown method %q: use one of %v", name, methodNames)
}

func (m Method) check() error {
	if m >= methods {
		return grid.Invalid("unknown %v: use one of %v", m, methodNames)
	}
	return nil
}

// Better reports whether score a is better than b: more, or for SSD less. NaN is never
// better.
func (m Method) Better(a, b float32) bool {
	if b != b {
		return a == a
	}
	if m == SSD {
		return a < b
	}
	return a > b
}

// Options says how to match; nil and the zero value mean without a mask, and the best for
// the machine.
type Options struct {
	// Mask has the size of the template and one channel. Where it is zero, pixels of
	// the template do not count. The zero Image stands for no mask.
	Mask boxsum.Image[uint8]

	Workers  int                // goroutines at once, at most; 0 stands for GOMAXPROCS
	Level    boxsum.Level       // the instruction set; the zero Level is the best
	Context  context.Context    // stops the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // is told how much is done, see [boxsum.Options]
}

func engineOptions(o *Options) *engine.Options {
	if o == nil {
		return nil
	}
	return &engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}
