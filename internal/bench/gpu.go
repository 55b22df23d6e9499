package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
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
	var peers *gpuPeers
	if cfg.Python != "" {
		if peers, err = startGPUPeers(ctx, cfg.Python); err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
		defer func() { _ = peers.close() }()
	}
	m := &gpuMeasurement{cfg: cfg, plan: p, peers: peers, report: newGPUReport(cfg, p, peers)}
	err = p.each(func(c Case, size Size) error {
		return m.measure(ctx, c, size)
	}, func(c Case, size Size, why error) {
		r := leftOut(Boxsum, cfg.Device.Info().Kind.String(), c, size, cfg.Batch, why)
		m.results = append(m.results, r)
		m.report.line(r.line())
	})
	m.report.end()
	return m.results, errors.Join(cmp.Or(err, measured(m.results)), m.report.err, peers.wrong())
}

func (cfg *GPUConfig) defaults() (err error) {
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
	if err := cfg.matchSizes(); err != nil {
		return err
	}
	if cfg.Sizes == nil {
		if cfg.Sizes, err = ParseSizes(sizes); err != nil {
			return err
		}
	}
	if cfg.Cases == nil {
		if cfg.Cases, err = ParseTypes(types); err != nil {
			return err
		}
	}
	for _, c := range cfg.Cases {
		switch kind, err := c.kind(); {
		case err != nil:
			return fmt.Errorf("bench: %w", err)
		case kind.device == nil:
			return fmt.Errorf("bench: %s is measured on the CPU only: leave it out, or leave out --on", c)
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
	if err := fitsMemory(c, size, int64(m.cfg.Batch)); err != nil {
		return err
	}
	kind, err := c.kind()
	if err != nil {
		return err
	}
	w, err := kind.device(deviceJob{
		device: m.cfg.Device, opt: &gpu.Options{Kernels: m.cfg.Kernels}, size: size, channels: c.Channels, batch: m.cfg.Batch,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.check(); err != nil {
		return err
	}
	kernels, err := launch.Kernels(m.cfg.Device, w.integrate)
	if err != nil {
		return err
	}
	field, copies, err := w.field(c, m.peers != nil || m.cfg.Batch > 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copies.Close()) }()
	peers, err := m.peers.field(w, c, m.report)
	if err != nil {
		return err
	}
	results, err := m.plan.measure(ctx, c, size, append(field, peers...))
	if err != nil {
		return err
	}
	for i := range results {
		if results[i].Algorithm == Boxsum {
			results[i].Kernels = kernelsOf(kernels)
		}
	}
	m.results = append(m.results, results...)
	m.report.row(c, size, results, kernels)
	return nil
}
