// Code generated from options.tmpl. DO NOT EDIT.

package volume

import (
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options are those of package boxsum, all of which have the same meaning here.
type Options = boxsum.Options

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
