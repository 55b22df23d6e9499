package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/launch"
)

// engineFlags choose what integrates, and by which instructions.
type engineFlags struct {
	placeFlag
	Level string `enum:"auto,portable,avx2,avx512,neon" default:"auto" help:"Instructions to use on the CPU: auto (the best there are), portable, avx2 or avx512, or neon on arm64."`
}

// options are the CPU's, for a number of workers.
func (f *engineFlags) options(workers int) (*boxsum.Options, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if workers < 0 {
		return nil, usage("--workers %d is negative: give a positive number, or leave it out to use all processors", workers)
	}
	if f.onGPU() && (workers != 0 || f.Level != "auto") {
		return nil, usage("--workers and --level are for the CPU: leave them out with --on %s", f.On)
	}
	level, err := boxsum.ParseLevel(f.Level)
	if err != nil {
		return nil, err
	}
	return &boxsum.Options{Workers: cmp.Or(workers, runtime.GOMAXPROCS(0)), Level: level, Plain: true}, nil
}

// tables makes the tables of a source, and is how long integrating took.
func (sh *shell) tables(src *source, p pair, want tableChoice, opt *boxsum.Options) (job, time.Duration, error) {
	work, err := p.job(src, want)
	if err != nil {
		return nil, 0, err
	}
	sh.progress.begin("loading", work.read())
	if err := work.load(sh.ctx, sh.progress.add); err != nil {
		return nil, 0, err
	}
	took, err := sh.integrate(src.device, work, opt)
	return work, took, err
}

// integrate makes the tables of a job on a device, or on the CPU where that is nil, and
// is how long that took.
func (sh *shell) integrate(d *gpu.Device, work job, opt *boxsum.Options) (time.Duration, error) {
	if d != nil && work.streamed() {
		return 0, fmt.Errorf("the table does not fit in memory, and only --on cpu can write it %[1]s by %[1]s", work.size().part())
	}
	if !work.streamed() {
		opt = sh.watched(opt, "integrating", d)
	}
	start := time.Now()
	err := work.integrate(d, opt)
	took := time.Since(start)
	sh.tellFailed(d)
	return took, cmp.Or(err, sh.ctx.Err())
}

// watched is options for work that Ctrl-C stops and whose progress is shown. A device
// does not tell how far it is.
func (sh *shell) watched(opt *boxsum.Options, name string, d *gpu.Device) *boxsum.Options {
	watched := *opt
	watched.Context = sh.ctx
	if sh.progress.begin(name, 0); d == nil {
		watched.Progress = sh.progress.share(name)
	}
	return &watched
}

// part is options for a part of the work, from one share of it to another.
func part(opt *boxsum.Options, from, to float64) *boxsum.Options {
	if opt == nil || opt.Progress == nil {
		return opt
	}
	of := *opt
	of.Progress = func(done float64) { opt.Progress(from + (to-from)*done) }
	return &of
}

// onDevice returns options for a device, or the same options if that is nil.
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

// work is what the engine plans for.
func (t *tableSet) work(opt *boxsum.Options) engine.Work {
	return engine.Work{
		Rows: t.Height, N: t.Width * t.Channels, Channels: t.Channels,
		PixelBytes: t.pixelBytes, SumBytes: t.sumBytes(), Workers: cmp.Or(opt.Workers, runtime.GOMAXPROCS(0)),
	}
}
