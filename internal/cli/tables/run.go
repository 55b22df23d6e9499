package tables

import (
	"cmp"
	"fmt"
	"runtime"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/flags"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/launch"
)

// makeTables makes the tables of a source. It returns the job and the time that integrating took.
func makeTables(sh *console.Shell, src *imagefile.Source, p pair, want tableChoice, opt *boxsum.Options) (job, time.Duration, error) {
	work, err := p.job(src, want)
	if err != nil {
		return nil, 0, err
	}
	sh.Progress.Begin("loading", work.read())
	if err := work.load(sh.Ctx, sh.Progress.Add); err != nil {
		return nil, 0, err
	}
	took, err := runJob(sh, src.Device, work, opt)
	return work, took, err
}

// runJob makes the tables of a job on a device, or on the CPU if d is nil, and returns the time.
func runJob(sh *console.Shell, d *gpu.Device, work job, opt *boxsum.Options) (time.Duration, error) {
	if d != nil && work.streamed() {
		return 0, fmt.Errorf("the table does not fit in memory, and only --on cpu can write it %[1]s by %[1]s", work.size().Part())
	}
	if !work.streamed() {
		opt = watched(sh, opt, "integrating", d)
	}
	start := time.Now()
	err := work.integrate(d, opt)
	took := time.Since(start)
	flags.TellFailed(sh, d)
	return took, cmp.Or(err, sh.Ctx.Err())
}

// watched returns options for work that Ctrl-C cancels and whose progress is shown. Devices do not
// report progress.
func watched(sh *console.Shell, opt *boxsum.Options, name string, d *gpu.Device) *boxsum.Options {
	watched := *opt
	watched.Context = sh.Ctx
	if sh.Progress.Begin(name, 0); d == nil {
		watched.Progress = sh.Progress.Share(name)
	}
	return &watched
}

// part returns options whose progress covers the fractions from one value to another.
func part(opt *boxsum.Options, from, to float64) *boxsum.Options {
	if opt == nil || opt.Progress == nil {
		return opt
	}
	of := *opt
	of.Progress = func(done float64) { opt.Progress(from + (to-from)*done) }
	return &of
}

// onDevice returns options for a device, or the given options if it is nil.
func onDevice(d *gpu.Device, opt *boxsum.Options) *boxsum.Options {
	if !launch.GPU || d == nil {
		return opt
	}
	on := &boxsum.Options{On: d}
	if opt != nil {
		on.Plain, on.Context = opt.Plain, opt.Context
	}
	return on
}

// work describes the tables to the planner of the engine.
func (t *tableSet) work(opt *boxsum.Options) engine.Work {
	return engine.Work{
		Rows: t.Height, N: t.Width * t.Channels, Channels: t.Channels,
		PixelBytes: t.pixelBytes, SumBytes: t.sumBytes(), Workers: cmp.Or(opt.Workers, runtime.GOMAXPROCS(0)),
	}
}
