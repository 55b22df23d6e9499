package volume

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Options are those of package boxsum, all of which have the same meaning here.
type Options = boxsum.Options

func options[S boxsum.Sum](o *Options) (engine.Options, float32, error) {
	if o == nil {
		return engine.Options{}, 0, nil
	}
	e := engine.Options{Workers: o.Workers, Level: o.Level.String(), Context: o.Context, Progress: o.Progress}
	return e, o.Offset, engine.CheckOffset[S](o.Offset)
}
