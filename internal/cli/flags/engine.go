package flags

import (
	"cmp"
	"runtime"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/cli/console"
)

// Engine selects a device, or the instruction set of the CPU.
type Engine struct {
	Place
	Level string `enum:"auto,portable,avx2,avx512,neon" default:"auto" help:"Instruction set of the CPU: auto (the best available), portable, avx2 or avx512, or neon on arm64."`
}

// Options returns the options for the CPU with a number of workers.
func (f *Engine) Options(workers int) (*boxsum.Options, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if workers < 0 {
		return nil, console.Usage("--workers %d: want 1 or more (without --workers, all processors work)", workers)
	}
	if f.OnGPU() && (workers != 0 || f.Level != "auto") {
		return nil, console.Usage("--workers and --level are for the CPU: leave them out with --on %s", f.On)
	}
	level, err := boxsum.ParseLevel(f.Level)
	if err != nil {
		return nil, err
	}
	return &boxsum.Options{Workers: cmp.Or(workers, runtime.GOMAXPROCS(0)), Level: level, Plain: true}, nil
}
