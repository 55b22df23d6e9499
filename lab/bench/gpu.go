package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/lab/measure"
)

const (
	// GPUSizes and GPUTypes are the default sizes and types of [GPU]. GPUPeerSizes and GPUPeerTypes
	// are the defaults for comparisons with other libraries.
	GPUSizes     = "1080p,2160p,4096x4096,8192x8192,16384x16384"
	GPUTypes     = "u8:u32,f32:f32,f32:f64,squares"
	GPUPeerSizes = "1024x1024,2048x2048,4096x4096,8192x8192,16384x16384,32768x32768"
	GPUPeerTypes = "u8:u32,f32:f32,squares"

	// GPURepeat is the default number of runs of a device.
	GPURepeat = 25
)

// GPU measures tables on a device next to a copy of as many bytes, and from host memory to host
// memory. Every table is compared with the reference before it is timed. Sizes that do not fit in
// memory and types that the device does not support are left out; the report and the results say
// so. If an interpreter is given, NPP, PyTorch and CuPy take turns with boxsum.
func GPU(ctx context.Context, cfg Config) ([]Result, error) {
	sizes, types := GPUSizes, GPUTypes
	if cfg.Python != "" {
		sizes, types = GPUPeerSizes, GPUPeerTypes
	}
	if cfg.Batch < 0 {
		return nil, fmt.Errorf("batch is %d images, want 1 or more", cfg.Batch)
	}
	cfg.Repeat = cmp.Or(cfg.Repeat, GPURepeat)
	p, err := cfg.onDevice(sizes, types, Case.OnDevice, "%s is measured on the CPU only: leave it out, or leave out --on")
	if err != nil {
		return nil, err
	}
	if cfg.Python != "" {
		if err := p.startPeers(ctx, true); err != nil {
			return nil, err
		}
		defer p.Peers.Close()
	}
	p.lead, p.checked = 14, map[Case][]string{}
	for _, c := range p.Cases {
		p.lead = max(p.lead, len(c.String()))
	}
	p.text("gpu", p)
	err = p.each(Boxsum, func(c Case, size Size) error { return p.gpu(ctx, c, size) })
	p.writeKernels()
	return p.end(err)
}

// onDevice returns a plan for a device. It returns an error if has is false for a case.
func (cfg Config) onDevice(sizes, types string, has func(Case) (bool, error), without string) (*plan, error) {
	cfg.Workers = []int{1}
	p, err := cfg.plan(sizes, types)
	if err != nil {
		return nil, err
	}
	for _, c := range p.Cases {
		switch ok, err := has(c); {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf(without, c)
		}
	}
	return p, nil
}

// job returns the work to prepare on the device.
func (p *plan) job(size Size, images int) measure.DeviceSetup {
	return measure.DeviceSetup{Device: p.Device, Opt: &gpu.Options{Kernels: p.Kernels}, Size: size, Batch: images}
}

// A kernelRow is a kernel and the first table that it made.
type kernelRow struct {
	launch.KernelInfo
	of string
}

// HostToHost reports whether transfers from host to host are measured: only without peers and batches.
func (p *plan) HostToHost() bool { return p.Peers == nil && p.Batch == 1 }

// gpu verifies and times one case at one size.
func (p *plan) gpu(ctx context.Context, c Case, size Size) (err error) {
	batch, device := p.Batch, p.Device
	copies := batch
	if c.Tilted() || c.Rotated() {
		copies *= 2 // an upright one
	}
	if err := c.FitMemory(size, int64(copies)); err != nil {
		return err
	}
	w, err := p.job(size, batch).Prepare(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	ours := w.Contestant(false)
	kernels, err := launch.Kernels(device, ours.Queue)
	if err != nil {
		return err
	}
	// Next to the kernels, measure a copy of as many bytes or, for integral histograms, a fill; without
	// peers and batches also the transfer from host to host.
	limit := newResult(LimitDevice, device, c, size, 0, batch, false)
	newLimit := measure.DeviceCopy
	if c.Histogram() {
		_, written := c.Bytes(size)
		limit.Algorithm, limit.Bytes, newLimit = LimitDeviceFill, int64(batch)*written, measure.DeviceFill
	}
	memory, err := newLimit(device, limit.Bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	first := newResult(Boxsum, device, c, size, 0, batch, true)
	first.Kernels = kernelsOf(kernels)
	field := []entry{{first, ours}, {limit, memory}}
	if w.Upright != nil {
		field = append(field, entry{newResult(Upright, device, c, size, 0, batch, true), w.Upright.Contestant(false)})
	}
	switch {
	case p.HostToHost():
		field = append(field, entry{newResult(EndToEnd, device, c, size, 0, 1, true), w.Contestant(true)})
	case batch == 1 && w.Upright == nil: // peers make only upright ones
		others, err := p.others(ctx, w.Host.Pixels, c, size)
		if err != nil {
			return err
		}
		field = append(field, others...)
	}
	results, err := p.measure(ctx, field)
	if err != nil {
		return err
	}
	p.headOf(c, func() []column { return p.gpuColumns(limit.Algorithm, w.Upright != nil) })
	p.row(size.Name, results)
	for _, k := range kernels {
		if !slices.ContainsFunc(p.kernels, func(known kernelRow) bool { return known.Name == k.Name && known.Threads == k.Threads }) {
			p.kernels = append(p.kernels, kernelRow{k, fmt.Sprint(c, " ", size)})
		}
	}
	return nil
}

func (p *plan) gpuColumns(limited string, upright bool) []column {
	ours, limit, name := runner{Boxsum, 0}, runner{limited, 0}, limited[len(LimitDevice)-len("copy"):]
	columns := []column{
		took("kernel", fine, ours), p95("p95", fine, ours), speed(ours),
		took(name, fine, limit), p95(name+" p95", fine, limit), speed(limit), ratio("× "+name, digits("%.3f"), ours, limit),
	}
	if upright {
		beside := runner{Upright, 0}
		columns = append(columns, took("upright", fine, beside), p95("upright p95", fine, beside), ratio("× upright", digits("%.2f"), ours, beside))
	}
	if p.HostToHost() {
		columns = append(columns, took("host to host", fine, runner{EndToEnd, 0}), speed(runner{EndToEnd, 0}))
	}
	for _, peer := range p.Others() {
		columns = append(columns, took(peer, fine, runner{peer, 0}), ratio("×", digits("%.1f"), runner{peer, 0}, ours))
	}
	return columns
}

// writeKernels writes the table of kernels.
func (p *plan) writeKernels() {
	if len(p.kernels) == 0 {
		return
	}
	p.lead = 0
	for _, k := range p.kernels {
		p.lead = max(p.lead, len(k.Name))
	}
	p.line("")
	p.names("kernel", "registers", "shared B", "local B", "threads", "blocks", "a unit", "occupancy", "of")
	for _, k := range p.kernels {
		cells := []string{fmt.Sprint(k.Registers), fmt.Sprint(k.Shared), fmt.Sprint(k.Local), fmt.Sprint(k.Threads),
			fmt.Sprint(k.Blocks), fmt.Sprint(k.Resident), percent(k.Occupancy), "  " + k.of}
		if k.Occupancy == 0 { // OpenCL does not report it
			cells[0], cells[2], cells[5], cells[6] = "–", "–", "–", "–"
		}
		p.cells(k.Name, cells...)
	}
	p.text("kernels", nil)
}

// maxCumsum is the maximum number of pixels for peers other than NPP: PyTorch and CuPy allocate
// whole tables for intermediate results.
const maxCumsum = 16384 * 16384

// gpuPeerNames lists the peers that the script supports, in the order of the report.
var gpuPeerNames = []string{NPP, Torch, TorchCompile, CuPy}

// others returns the peers that can make the tables of pixels, as contestants. Each is compared with
// ours once, on a small image.
func (p *plan) others(ctx context.Context, pixels []byte, c Case, size Size) ([]entry, error) {
	if _, ok := p.checked[c]; !ok {
		small := Size{Name: "509x383", Width: 509, Height: 383}
		w, err := measure.Prepare(c, small, []int{1}, measure.Options{Context: ctx})
		if err != nil {
			return nil, err
		}
		if p.checked[c], err = p.right(ctx, gpuPeerNames, c, small, w); err != nil {
			return nil, err
		}
	}
	names := slices.DeleteFunc(slices.Clone(p.checked[c]), func(name string) bool { return size.Pixels() > maxCumsum && name != NPP })
	if len(names) == 0 {
		return nil, nil
	}
	able, missing, err := p.Peers.Load(names, c, size, pixels)
	if err != nil {
		return nil, err
	}
	for _, why := range missing {
		p.line(fmt.Sprint("left out, ", c, " ", size, ": ", why))
	}
	return p.peers(able, c, size), nil
}
