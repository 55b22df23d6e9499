// Code generated from options.tmpl. DO NOT EDIT.

package tilted

import (
	"context"

	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options says how to integrate; nil and the zero value mean the best for the
// machine. There is no offset: float32 pixels are best summed in float64.
type Options struct {
	Workers  int                // goroutines at once, at most; 0 stands for GOMAXPROCS
	Level    boxsum.Level       // the instruction set; the zero Level is the best
	Context  context.Context    // stops the work, see [boxsum.Options]; nil never does
	Progress func(done float64) // is told how much is done, see [boxsum.Options]
}

// aside is options for a function that the compiler does not see, and that keeps what is in
// them, but not themselves: they may stay on the stack of the caller.
func aside(o *Options) (same *Options) {
	if seen {
		kept = *o
	}
	*(*uintptr)(unsafe.Pointer(&same)) = uintptr(unsafe.Pointer(o))
	return same
}

// What the compiler has to believe of such a function. It never happens.
var (
	seen bool
	kept Options
)

func engineOptions(o *Options) *engine.Options {
	if o == nil {
		return nil
	}
	return &engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}
