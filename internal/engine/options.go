package engine

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/raster"
)

// Options are the options of all kinds of tables; each package exports those that make
// sense for it.
type Options struct {
	Workers  int    // maximum number of workers; 0 means GOMAXPROCS
	Batch    int    // number of images in the batch; 0 and 1 mean no batch
	Level    string // one of [Levels]; "auto" and "" select the last
	Context  context.Context
	Progress func(done float64)

	On       device.Device // nil selects the processor
	BandRows int           // rows that a device processes at a time; 0 leaves the choice to the device
}

// Settings are checked options.
type Settings struct {
	Level kernel.Level

	workers  int // 0 means GOMAXPROCS
	batch    int
	context  context.Context // nil if it is never done
	progress func(done float64)

	on       device.Runner // nil for the processor
	bandRows int
	portable bool // use the portable kernels of a device
}

// Auto is the name that selects the best level.
const Auto = "auto"

// Levels returns the names of the levels of this machine, slowest first.
func Levels() []string {
	var names []string
	for _, l := range kernel.Levels() {
		names = append(names, l.String())
	}
	return names
}

// Check validates the options and returns them as settings, with defaults filled in. It
// returns an error if an option is invalid or the context is done.
func (o *Options) Check() (s Settings, err error) {
	err = o.check(&s)
	return s, err
}

func (o *Options) check(s *Settings) error {
	s.Level = kernel.Best()
	if o == nil {
		return nil
	}
	if o.Workers < 0 {
		return raster.Invalid("workers is %d, want 1 or more, or 0 for one per processor", o.Workers)
	}
	if o.Batch < 0 {
		return raster.Invalid("batch is %d, want 1 or more, or 0 for a single image", o.Batch)
	}
	s.workers, s.batch, s.progress = o.Workers, o.Batch, o.Progress
	if o.On != nil {
		return s.checkOn(o)
	}
	if o.Level != "" && o.Level != Auto {
		for s.Level.String() != o.Level {
			if s.Level == kernel.Portable {
				return raster.Invalid("level is %q, want %s or one of %s on this machine", o.Level, Auto, strings.Join(Levels(), ", "))
			}
			s.Level--
		}
	}
	s.setContext(o.Context)
	return s.Stopped()
}

// checkOn is like Check for work on a device.
func (s *Settings) checkOn(o *Options) (err error) {
	switch o.Level {
	case "", Auto:
	case kernel.Portable.String():
		s.portable = true
	default:
		return raster.Invalid("level is %q, want %s or %v on a device", o.Level, Auto, kernel.Portable)
	}
	if o.BandRows < 0 {
		return raster.Invalid("band is %d rows, want 1 or more, or 0 for the device's default", o.BandRows)
	}
	s.setContext(o.Context)
	if err := s.Stopped(); err != nil {
		return err
	}
	s.bandRows = o.BandRows
	s.on, err = device.Open(o.On)
	return err
}

// setContext sets the context unless it can never be done.
func (s *Settings) setContext(ctx context.Context) {
	if ctx != nil && ctx.Done() != nil {
		s.context = ctx
	}
}

// On returns the device to use, or nil for the processor.
func (s *Settings) On() device.Runner { return s.on }

// OnDevice returns the settings for work on a device.
func (s *Settings) OnDevice() device.Options {
	return device.Options{Portable: s.portable, BandRows: s.bandRows, Context: s.context, Progress: s.progress}
}

// ProcessorOnly returns an error if a device is selected for work that no device
// supports.
func (s *Settings) ProcessorOnly(what string) error {
	if s.on != nil {
		return raster.Invalid("%s are not supported on a device (use the CPU)", what)
	}
	return nil
}

// Workers returns the maximum number of goroutines that may work at once.
func (s *Settings) Workers() int { return atOnce(s.workers) }

// atOnce limits a number of workers to GOMAXPROCS, which it also returns for 0. More
// workers would only make others wait: a worker that others depend on would itself wait
// for a processor. The call takes a lock of the scheduler, so callers that need a single
// worker avoid it.
func atOnce(workers int) int {
	all := runtime.GOMAXPROCS(0)
	if workers == 0 {
		return all
	}
	return min(workers, all)
}

// Stopped returns the error of the context if it is done, and nil otherwise.
func (s *Settings) Stopped() error {
	if s.context == nil {
		return nil
	}
	if err := s.context.Err(); err != nil {
		return fmt.Errorf("stopped before the end: %w", err)
	}
	return nil
}

// Quiet returns the settings without Progress: a stream has no known end.
func (s Settings) Quiet() Settings {
	s.progress = nil
	return s
}

// Report calls Progress with the fraction done, from 0 to 1. Only the caller's
// goroutine may call it.
func (s *Settings) Report(done float64) {
	if s.progress != nil {
		s.progress(done)
	}
}

// CheckOffset returns an error if an offset cannot be subtracted from pixels of this
// type for these sums.
func CheckOffset(pixel, sum raster.Type, offset float32) error {
	if offset-offset != 0 {
		return raster.Invalid("offset is %v, want a finite number", offset)
	}
	if offset != 0 && sum != raster.F32 && !(sum.Float() && pixel.Float()) {
		return raster.Unsupported("offset is %v, want 0 for sums of %v pixels in %v (offsets require float pixels or float32 sums)", offset, pixel, sum)
	}
	return nil
}
