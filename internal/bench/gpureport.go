package bench

import (
	"fmt"
	"math"
	"slices"

	"github.com/boxsum/boxsum/gpu"
)

// A gpuReport is the text of [GPU], written as it comes.
type gpuReport struct {
	textTable
	peers   []string // who is there besides us
	alone   bool     // nothing goes from host to host
	last    Case
	kernels []kernelRow
}

// A kernelRow is a kernel and the first table that it was seen making.
type kernelRow struct {
	gpu.KernelInfo
	of string
}

func newGPUReport(cfg GPUConfig, p *plan, peers *gpuPeers) *gpuReport {
	r := &gpuReport{textTable: textTable{w: cfg.Out, lead: 14}, alone: cfg.Python != "" || cfg.Batch > 1}
	for _, c := range p.Cases {
		r.lead = max(r.lead, len(c.String()))
	}
	r.line(aboutDevice(cfg.Device))
	if peers != nil {
		for _, name := range gpuPeerNames {
			if about, ok := peers.Known[name]; ok {
				r.peers = append(r.peers, name)
				r.line(fmt.Sprintf("%s: %s", name, about.Version))
			}
		}
		for _, missing := range peers.Missing {
			r.line("left out, " + missing)
		}
	}
	r.line("")
	r.line(fmt.Sprintf("Times are in ms, median of %d after a warm-up. kernel is one call that stays on the device, between two events there;", p.Repeat))
	r.line("copy moves as many bytes on the device, half read and half written. × copy is kernel's time over copy's.")
	if slices.ContainsFunc(p.Cases, Case.Histogram) {
		r.line("fill, beside integral histograms, writes as many bytes as they have; × fill is kernel's time over fill's.")
	}
	if cfg.Batch > 1 {
		r.line(fmt.Sprintf("One call makes the tables of %d images.", cfg.Batch))
	}
	if !r.alone {
		r.line("host to host is from the caller's memory to the caller's memory, by the clock on the wall.")
	}
	if len(r.peers) > 0 {
		r.line("Others are timed by events too, in turn with us; × is their time over ours.")
	}
	r.line("Every table was compared with a plain reference first.")
	return r
}

// aboutDevice is a line that says what is measured.
func aboutDevice(d *gpu.Device) string {
	about := d.Info()
	versions := fmt.Sprintf("driver %s, OpenCL %s", about.Driver, about.Version)
	if about.Kind == gpu.CUDA {
		versions = fmt.Sprintf("driver for CUDA %s, compute capability %s", about.Driver, about.Version)
	}
	return fmt.Sprintf("%v: %s, %s, %d units, %.1f GiB", about.Kind, about.Name, versions, about.Units, float64(about.Memory)/(1<<30))
}

func (r *gpuReport) row(c Case, size Size, results []Result, kernels []gpu.KernelInfo) {
	if c != r.last {
		r.last = c
		limit := "copy"
		if c.Histogram() {
			limit = "fill"
		}
		columns := []string{"kernel", "GB/s", limit, "GB/s", "× " + limit}
		if !r.alone {
			columns = append(columns, "host to host", "GB/s")
		}
		for _, peer := range r.peers {
			columns = append(columns, peer, "×")
		}
		r.line("")
		r.head(c.String(), columns...)
	}
	find := func(algorithm string) Result {
		for _, result := range results {
			if result.Algorithm == algorithm || slices.Contains(gpuPeerNames, algorithm) && result.is(algorithm) {
				return result
			}
		}
		return Result{Median: math.NaN()}
	}
	ours, limit := find(Boxsum), find(LimitDevice)
	if c.Histogram() {
		limit = find(LimitDeviceFill)
	}
	cells := []string{
		fine(ours.Median), speed(ours), fine(limit.Median), speed(limit),
		number(ours.Median/limit.Median, "%.3f"),
	}
	if !r.alone {
		whole := find(EndToEnd)
		cells = append(cells, fine(whole.Median), speed(whole))
	}
	for _, peer := range r.peers {
		theirs := find(peer)
		cells = append(cells, fine(theirs.Median), number(theirs.Median/ours.Median, "%.1f"))
	}
	r.textTable.row(size.Name, cells...)
	for _, k := range kernels {
		if !slices.ContainsFunc(r.kernels, func(known kernelRow) bool { return known.Name == k.Name && known.Threads == k.Threads }) {
			r.kernels = append(r.kernels, kernelRow{k, fmt.Sprint(c, " ", size)})
		}
	}
}

// end is the table of kernels.
func (r *gpuReport) end() {
	if len(r.kernels) == 0 {
		return
	}
	r.lead = 0
	for _, k := range r.kernels {
		r.lead = max(r.lead, len(k.Name))
	}
	r.line("")
	r.head("kernel", "registers", "shared B", "local B", "threads", "blocks", "a unit", "occupancy", "of")
	for _, k := range r.kernels {
		known := func(text string) string {
			if k.Occupancy == 0 { // OpenCL does not tell
				return "–"
			}
			return text
		}
		r.textTable.row(k.Name, known(fmt.Sprint(k.Registers)), fmt.Sprint(k.Shared), known(fmt.Sprint(k.Local)), fmt.Sprint(k.Threads),
			fmt.Sprint(k.Blocks), known(fmt.Sprint(k.Resident)), known(percent(k.Occupancy, 1)), "  "+k.of)
	}
	r.line("")
	r.line("A unit is a multiprocessor: how many blocks it runs at once, and what part of the threads that it could run these are.")
}

// speed is in GB/s, of which fast devices need no decimals.
func speed(r Result) string {
	if r.GBPerSecond() < 100 {
		return number(r.GBPerSecond(), "%.1f")
	}
	return number(r.GBPerSecond(), "%.0f")
}

// fine is a time with four digits, as small as those of a device are.
func fine(t float64) string {
	if t < 1 {
		return number(t, "%.4f")
	}
	return ms(t)
}
