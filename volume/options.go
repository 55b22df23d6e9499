// Code generated from options.tmpl. DO NOT EDIT.

package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options are those of package boxsum, all of which have the same meaning here.
type Options = boxsum.Options

func engineOptions(o *Options) *engine.Options {
	if o == nil {
		return nil
	}
	return &engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
}
