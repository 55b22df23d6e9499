package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/measure"
)

const (
	// GPUSizes and GPUTypes are what [GPU] measures by default, and
	// GPUPeerSizes and GPUPeerTypes what it compares with others.
	GPUSizes     = "1080p,2160p,4096x4096,8192x8192,16384x16384"
	GPUTypes     = "u8:u32,f32:f32,f32:f64,squares"
	GPUPeerSizes = "1024x1024,2048x2048,4096x4096,8192x8192,16384x16384,32768x32768"
	GPUPeerTypes = "u8:u32,f32:f32,squares"

	// GPURepeat is how many runs the median of a device rests on.
	GPURepeat = 25
)

// GPUConfig says what to measure on a device.
type GPUConfig struct {
	// Config says what to measure, with the defaults above. Workers and
	// Level are not used.
	Config

	// Device is where.
	Device *gpu.Device

	// Batch is how many images go into one launch; zero means one.
	Batch int

	// Kernels is which way the device makes tables.
	Kernels gpu.Kernels

	// Python, if not empty, is an interpreter: NPP, PyTorch and CuPy take
	// turns with us as far as it finds them.
	Python string

	// Out, if not nil, gets the report: one row as each size is done.
	Out io.Writer
}

// GPU measures tables on a device beside a copy of as many bytes there, and
// from host memory to host memory. Every table is compared with the reference
// before it is timed. A size that there is too little memory for is left out, and so
// are types that the device lacks: the report and the results say so.
func GPU(ctx context.Context, cfg GPUConfig) ([]Result, error) {
	if err := cfg.defaults(); err != nil {
		return nil, err
	}
	p, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	m := &gpuMeasurement{cfg: cfg, plan: p}
	if cfg.Python != "" {
		peers, err := measure.StartPeers(ctx, cfg.Python, true)
		if err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
		defer peers.Close()
		m.peers = &gpuPeers{Peers: peers, right: map[Case][]string{}}
	}
	m.report = newGPUReport(cfg, p, m.peers)
	err = p.each(func(c Case, size Size) error {
		return m.measure(ctx, c, size)
	}, func(c Case, size Size, why error) {
		r := leftOut(Boxsum, cfg.Device, c, size, cfg.Batch, why)
		m.results = append(m.results, r)
		m.report.line(r.line())
	})
	m.report.end()
	err = errors.Join(cmp.Or(err, measured(m.results)), m.report.err)
	if m.peers != nil {
		err = errors.Join(err, errors.Join(m.peers.wrong...))
	}
	return m.results, err
}

func (cfg *GPUConfig) defaults() error {
	if cfg.Batch < 0 {
		return fmt.Errorf("bench: a batch of %d images: at least 1 is needed", cfg.Batch)
	}
	cfg.Batch = cmp.Or(cfg.Batch, 1)
	cfg.Repeat = cmp.Or(cfg.Repeat, GPURepeat)
	cfg.Workers = []int{1}
	sizes, types := GPUSizes, GPUTypes
	if cfg.Python != "" {
		sizes, types = GPUPeerSizes, GPUPeerTypes
	}
	if err := cfg.fill(sizes, types); err != nil {
		return err
	}
	return cfg.allHave(Case.OnDevice, "%s is measured on the CPU only: leave it out, or leave out --on")
}

// allHave is an error about the first case that something does not have.
func (cfg *Config) allHave(has func(Case) (bool, error), without string) error {
	for _, c := range cfg.Cases {
		switch ok, err := has(c); {
		case err != nil:
			return fmt.Errorf("bench: %w", err)
		case !ok:
			return fmt.Errorf("bench: "+without, c)
		}
	}
	return nil
}

// A gpuMeasurement is a run of [GPU].
type gpuMeasurement struct {
	cfg     GPUConfig
	plan    *plan
	peers   *gpuPeers // nil without
	report  *gpuReport
	results []Result
}

// measure verifies and times one case at one size.
func (m *gpuMeasurement) measure(ctx context.Context, c Case, size Size) (err error) {
	batch, device := m.cfg.Batch, m.cfg.Device
	if err := c.FitMemory(size, int64(batch)); err != nil {
		return err
	}
	w, err := measure.DeviceJob{Device: device, Opt: &gpu.Options{Kernels: m.cfg.Kernels}, Size: size, Batch: batch}.Prepare(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	kernels, err := device.Kernels(w.Queue)
	if err != nil {
		return err
	}
	// Beside the kernels go a copy of as many bytes, or beside integral histograms a fill
	// of theirs, and where they are alone the way from host to host.
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
	field := []entry{{newResult(Boxsum, device, c, size, 0, batch, true), w.Contestant(false)}, {limit, memory}}
	switch {
	case m.peers == nil && batch == 1:
		field = append(field, entry{newResult(EndToEnd, device, c, size, 0, 1, true), w.Contestant(true)})
	case m.peers != nil && batch == 1:
		others, err := m.peers.field(ctx, w, c, size, m.report)
		if err != nil {
			return err
		}
		field = append(field, others...)
	}
	results, err := m.plan.measure(ctx, field)
	if err != nil {
		return err
	}
	results[0].Kernels = kernelsOf(kernels)
	m.results = append(m.results, results...)
	m.report.row(c, size, results, kernels)
	return nil
}

// maxCumsum is up to how many pixels everyone but NPP takes part: PyTorch and
// CuPy take whole tables of memory in between.
const maxCumsum = 16384 * 16384

// gpuPeerNames are those whom the script knows, in the order of the report.
var gpuPeerNames = []string{NPP, Torch, TorchCompile, CuPy}

// gpuPeers are libraries for CUDA. They are compared with ours on a small image once.
type gpuPeers struct {
	*measure.Peers
	right map[Case][]string // who made a right table of it
	wrong []error           // about those who did not
}

// field is the peers that can make the tables of a work, ready to take turns.
func (p *gpuPeers) field(ctx context.Context, w *measure.DeviceWork, c Case, size Size, report *gpuReport) ([]entry, error) {
	if _, ok := p.right[c]; !ok {
		if err := p.check(ctx, c); err != nil {
			return nil, err
		}
	}
	names := slices.DeleteFunc(slices.Clone(p.right[c]), func(name string) bool { return size.Pixels() > maxCumsum && name != NPP })
	if len(names) == 0 {
		return nil, nil
	}
	able, missing, err := p.Load(names, c, size, w.Pixels)
	if err != nil {
		return nil, err
	}
	for _, why := range missing {
		report.line(fmt.Sprint("left out, ", c, " ", size, ": ", why))
	}
	var field []entry
	for _, name := range able {
		r := newResult(name+" "+p.Known[name].Version, nil, c, size, 0, 1, true)
		r.On = gpu.CUDA.String()
		field = append(field, entry{r, p.Contestant(name, nil)})
	}
	return field, nil
}

// check finds out who makes a right table of a case, as seen on a small image.
func (p *gpuPeers) check(ctx context.Context, c Case) error {
	size := Size{Name: "509x383", Width: 509, Height: 383}
	w, err := measure.Prepare(c, size, []int{1}, Config{}.Level)
	if err != nil {
		return err
	}
	able, _, err := p.Load(gpuPeerNames, c, size, w.Pixels)
	if err != nil {
		return err
	}
	p.right[c] = nil
	for _, name := range able {
		differs := (*measure.DiffersError)(nil)
		switch err := p.Contestant(name, w).Verify(ctx); {
		case errors.As(err, &differs):
			p.wrong = append(p.wrong, fmt.Errorf("bench: %v %v: %w", c, size, err))
		case err != nil:
			return err
		default:
			p.right[c] = append(p.right[c], name)
		}
	}
	return nil
}
