// Code generated from options.tmpl. DO NOT EDIT.

package boxsum

import (
	"context"

	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
)

// Options says how to integrate; nil and the zero value mean the best for the
// machine.
type Options struct {
	// Workers is how many goroutines may work at once, at most. Zero stands
	// for GOMAXPROCS. Small images use fewer.
	Workers int

	// Level is the instruction set to use; the zero Level is the best.
	Level Level

	// Batch is how many images of this size are integrated in turn, if this is one of
	// many: where their tables together are too much for the nearer caches, each is
	// written past them.
	Batch int

	// Offset is subtracted from every pixel before summing and squaring, and put
	// back by box queries. Taking the mean away keeps sums of floats small and so
	// nearly exact. It is for float pixels, and for float32 sums of any.
	//
	// Tables of squares of float pixels choose one by themselves where it is zero
	// and all pixels lie far from zero, as a few of them tell. Plain keeps them
	// from it: then the entries are the sums of the pixels as they are.
	Offset float32
	Plain  bool

	// Context stops the work when it is done. The call then returns an error
	// that wraps the context's, and what it was to fill holds nothing of use.
	// Nil never stops.
	Context context.Context

	// Progress is called from time to time, on the goroutine of the call, with
	// how much is done, from 0 to 1. The last call, when all is done, is with 1.
	Progress func(done float64)
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
	return &engine.Options{Workers: o.Workers, Level: o.Level.String(), Batch: o.Batch, Context: o.Context, Progress: o.Progress}
}
