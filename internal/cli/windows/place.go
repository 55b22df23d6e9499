package windows

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/flags"
)

// A place holds the flags that select a device or limit the CPU.
type place struct {
	On      flags.DeviceName `words:"auto,cpu,cuda,opencl,all" default:"auto" help:"Device to use: cpu, cuda, opencl, one of several devices such as cuda:1, a list such as cuda:0,cuda:1, or all GPUs. auto is the CPU. ${gpuhas}"`
	Workers int              `placeholder:"N" help:"Maximum number of threads (default: one per processor)."`
	Level   string           `enum:"auto,portable,avx2,avx512,neon" default:"auto" help:"Instruction set: auto (the best available), portable, avx2 or avx512, or neon on arm64."`
}

// onGPU reports whether a GPU was requested.
func (p *place) onGPU() bool { return (&flags.Place{On: p.On}).OnGPU() }

// check returns an error for flags that cannot be combined.
func (p *place) check() error {
	if err := (&flags.Place{On: p.On}).Check(); err != nil {
		return err
	}
	if p.Workers < 0 {
		return console.Usage("--workers %d: want 1 or more (without --workers, all processors work)", p.Workers)
	}
	if p.onGPU() && (p.Workers != 0 || p.Level != "auto") {
		return console.Usage("--workers and --level are for the CPU: leave them out with --on %s", p.On)
	}
	return nil
}

// open opens the selected device, which stays open until the process ends. It returns nil for the
// CPU.
func (p *place) open() (*gpu.Device, error) { return (&flags.Place{On: p.On}).Open() }

// A processor is what a place selects: a device, or an instruction set of the CPU.
type processor struct {
	device  boxsum.Device // nil for the CPU
	level   boxsum.Level
	workers int
}

// choose checks the flags and opens the selected device.
func (p *place) choose() (c processor, err error) {
	if err := p.check(); err != nil {
		return c, err
	}
	c.workers = p.Workers
	if c.level, err = boxsum.ParseLevel(p.Level); err != nil {
		return c, err
	}
	d, err := p.open()
	if d != nil {
		c.device = d
	}
	return c, err
}

// report returns the report of a device, and nothing for the CPU.
func (c *processor) report() placeReport { return placeReportOf(c.device, 0) }

// A placeReport names the device, or the number of workers.
type placeReport struct {
	On      string `json:"on,omitempty"`
	Device  string `json:"device,omitempty"`
	Workers int    `json:"workers,omitempty"`
}

// String returns the device or the number of workers.
func (r placeReport) String() string {
	if r.On != "" {
		return fmt.Sprintf("%s on %s", r.On, console.Escape(r.Device))
	}
	return display.Count(r.Workers, "worker")
}

// ending returns the device after a comma, or nothing for the CPU.
func (r placeReport) ending() string {
	if r.On == "" {
		return ""
	}
	return ", " + r.String()
}

// A pagesReport is the number of pages that were written, unless it is 1.
type pagesReport struct {
	Pages int `json:"pages,omitempty"`
}

func (r *pagesReport) count(pages int) {
	if pages > 1 {
		r.Pages = pages
	}
}

// String returns the number of pages after a comma, or nothing for a single page.
func (r pagesReport) String() string {
	if r.Pages == 0 {
		return ""
	}
	return ", " + display.Count(r.Pages, "page")
}

// placeReportOf returns the report for a device, or for the number of workers if on is nil.
func placeReportOf(on boxsum.Device, workers int) placeReport {
	if d, ok := on.(*gpu.Device); ok {
		r := placeReport{}
		r.On, r.Device = flags.PlaceOf(d)
		return r
	}
	return placeReport{Workers: workers}
}

// tellFailed notes which of several devices failed and left their work to the others.
func tellFailed(sh *console.Shell, on boxsum.Device) {
	if d, ok := on.(*gpu.Device); ok {
		flags.TellFailed(sh, d)
	}
}
