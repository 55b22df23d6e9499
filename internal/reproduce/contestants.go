package reproduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
)

// prepare makes a job of a published algorithm.
func (l *lab) prepare(s Spec, device *gpu.Device) (*papers.Job, error) {
	a, err := papers.Find(s.Algorithm)
	if err != nil {
		return nil, err
	}
	precision, err := papers.ParsePrecision(s.Precision)
	if err != nil {
		return nil, err
	}
	opt := &papers.Options{Precision: precision, Threads: s.Threads, Device: device, Group: s.Group, Rotation: rotation}
	switch p := l.pixels; p.kind {
	case "u8":
		return papers.Prepare(a, opt, repeated(p.bytes, s.Images)...)
	case "f64":
		return papers.Prepare(a, opt, repeated(p.double, s.Images)...)
	default:
		return papers.Prepare(a, opt, repeated(p.float, s.Images)...)
	}
}

// rotation is that of table 2's rotated tables: 26.57°.
var rotation = rotated.Rotation{A: 1, B: 2}

func repeated[P boxsum.Pixel](img boxsum.Image[P], n int) []boxsum.Image[P] {
	return slices.Repeat([]boxsum.Image[P]{img}, max(n, 1))
}

// paper is a published algorithm.
func (l *lab) paper(s Spec) (*contestant, error) {
	job, err := l.prepare(s, l.device)
	if err != nil {
		return nil, err
	}
	c := &contestant{run: onClock(job.Run), close: func() { _ = job.Close() }}
	run := job.Run
	switch {
	case s.Host:
		c.run, run = onClock(job.RunHost), job.RunHost
	case s.GPU:
		c.run = onEvents(l.device, job.Run)
	}
	c.verify = func() error {
		if err := run(); err != nil {
			return err
		}
		return job.Verify()
	}
	if s.Kernels {
		if c.Each, err = l.kernels(job); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// kernels is what each kernel of a job takes, those of one name together.
func (l *lab) kernels(job *papers.Job) ([]Kernel, error) {
	infos, err := l.device.Kernels(job.Run)
	if err != nil {
		return nil, err
	}
	var each []Kernel
	for _, step := range job.Steps() {
		times, err := onEvents(l.device, step.Run)(9, true)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(each, func(k Kernel) bool { return k.Name == step.Name })
		if i < 0 {
			i = len(each)
			each = append(each, Kernel{Name: step.Name})
			if j := slices.IndexFunc(infos, func(info gpu.KernelInfo) bool { return info.Name == step.Name }); j >= 0 {
				each[i] = kernelOf(infos[j])
			}
		}
		each[i].Median += median(times)
		each[i].Bytes += step.Bytes
	}
	return each, nil
}

func kernelOf(info gpu.KernelInfo) Kernel {
	return Kernel{Name: info.Name, Threads: info.Threads, Registers: info.Registers, Shared: info.Shared, Occupancy: info.Occupancy}
}

// cycles is so many runs of a published algorithm on a device that was just
// opened, from before its kernels are loaded, by the clock.
func (l *lab) cycles(s Spec) (*contestant, error) {
	once := func() (time.Duration, error) {
		d, err := gpu.Open(l.device.Info())
		if err != nil {
			return 0, err
		}
		defer d.Close()
		start := time.Now()
		job, err := l.prepare(s, d)
		if err != nil {
			return 0, err
		}
		defer job.Close()
		for range s.Cycles {
			if err := job.Run(); err != nil {
				return 0, err
			}
		}
		err = d.Wait()
		took := time.Since(start)
		if err == nil {
			err = job.Verify()
		}
		return took, err
	}
	return &contestant{Result: Result{Verified: true}, close: func() {}, run: func(n int, _ bool) ([]time.Duration, error) {
		times := make([]time.Duration, n)
		for i := range times {
			var err error
			if times[i], err = once(); err != nil {
				return nil, err
			}
		}
		return times, nil
	}}, nil
}

// copies is the memory's part alone.
func (l *lab) copies(s Spec) (*contestant, error) {
	bytes := map[string]int64{"f32": 8, "u32": 8, "f32x4": 32, "f64": 16, "u8": 5}[s.Precision]
	if bytes == 0 {
		return nil, fmt.Errorf("reproduce: no copy of %q", s.Precision)
	}
	c, err := l.device.NewCopy(max(1, bytes*int64(s.pixels())/2))
	if err != nil {
		return nil, err
	}
	return &contestant{run: onEvents(l.device, c.Run), close: func() { _ = c.Close() }}, nil
}

// boxsum is this library's own engine.
func (l *lab) boxsum(s Spec) (*contestant, error) {
	opt := &boxsum.Options{Workers: cmp.Or(s.Threads, l.setting.cores)}
	p := l.pixels
	switch {
	case s.Table == "tilted":
		return l.tilted(opt)
	case s.Table == "rotated":
		return l.rotated(opt)
	case s.GPU && s.Images > 0 && s.Precision == "u8":
		return ourPipeline(l.device, p.bytes, s.Images)
	case s.GPU && s.Images > 0:
		return ourPipeline(l.device, p.words, s.Images)
	case s.GPU && s.Precision == "u8":
		return onGPU[uint32](l.device, p.bytes, s)
	case s.GPU && s.Precision == "u32":
		return onGPU[uint32](l.device, p.words, s)
	case s.GPU && s.Precision == "f64":
		return onGPU[float64](l.device, p.double, s)
	case s.GPU:
		return onGPU[float32](l.device, p.float, s)
	case s.Precision == "u8":
		return onCPU[uint32](p.bytes, opt)
	case s.Precision == "u32":
		return onCPU[uint32](p.words, opt)
	case s.Precision == "f64":
		return onCPU[float64](p.double, opt)
	}
	return onCPU[float32](p.float, opt)
}

func onCPU[S boxsum.Sum, P boxsum.Pixel](img boxsum.Image[P], opt *boxsum.Options) (*contestant, error) {
	t, err := boxsum.NewTable[S](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, err
	}
	run := func() error { return boxsum.IntegrateInto(t, img, opt) }
	return &contestant{run: onClock(run), close: func() {}, verify: func() error {
		if err := run(); err != nil {
			return err
		}
		return check(t, img)
	}}, nil
}

func onGPU[S boxsum.Sum, P boxsum.Pixel](d *gpu.Device, img boxsum.Image[P], s Spec) (c *contestant, err error) {
	host, err := boxsum.NewTable[S](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, err
	}
	if s.Host {
		run := func() error { return gpu.IntegrateHostInto(d, host, img, nil) }
		return &contestant{run: onClock(run), close: func() {}, verify: func() error {
			if err := run(); err != nil {
				return err
			}
			return check(host, img)
		}}, nil
	}
	images, err := gpu.Upload(d, img)
	if err != nil {
		return nil, err
	}
	tables, err := gpu.NewTable[S](d, img.Width, img.Height, img.Channels, 1)
	if err != nil {
		return nil, errors.Join(err, images.Close())
	}
	run := func() error { return gpu.IntegrateInto(tables, images, nil) }
	c = &contestant{run: onEvents(d, run), close: func() { _, _ = images.Close(), tables.Close() }, verify: func() error {
		if err := run(); err != nil {
			return err
		}
		if err := tables.DownloadInto(0, host); err != nil {
			return err
		}
		return check(host, img)
	}}
	if s.Kernels {
		infos, err := d.Kernels(run)
		if err != nil {
			c.close()
			return nil, err
		}
		for _, info := range infos {
			c.Each = append(c.Each, kernelOf(info))
		}
	}
	return c, nil
}

// ourPipeline takes many images from page-locked memory to page-locked memory, as the
// published way does.
func ourPipeline[P boxsum.Pixel](d *gpu.Device, img boxsum.Image[P], count int) (*contestant, error) {
	var images []boxsum.Image[P]
	var frees []func() error
	free := func() {
		for _, f := range frees {
			_ = f()
		}
	}
	for range count {
		locked, release, err := gpu.NewHostImage[P](d, img.Width, img.Height, img.Channels)
		if err != nil {
			free()
			return nil, err
		}
		frees = append(frees, release)
		for y := range img.Height {
			copy(locked.Row(y), img.Row(y))
		}
		images = append(images, locked)
	}
	each := func(look func(*boxsum.Table[uint32]) error) error {
		for t, err := range gpu.Pipeline[uint32](context.Background(), d, slices.Values(images), &gpu.PipelineOptions{Reuse: true}) {
			if err != nil {
				return err
			}
			if err := look(t); err != nil {
				return err
			}
		}
		return nil
	}
	return &contestant{
		run:    onClock(func() error { return each(func(*boxsum.Table[uint32]) error { return nil }) }),
		verify: func() error { return each(func(t *boxsum.Table[uint32]) error { return check(t, img) }) },
		close:  free,
	}, nil
}

// tilted and rotated tables are compared with those of the work, which has
// compared them with its reference: every entry.
func (l *lab) tilted(opt *boxsum.Options) (*contestant, error) {
	l = &lab{pixels: l.pixels} // those of now
	img := l.pixels.float
	t, err := tilted.NewTable[float32](img.Width, img.Height, 1)
	if err != nil {
		return nil, err
	}
	run := func() error { return tilted.IntegrateInto(t, img, &tilted.Options{Workers: opt.Workers, Level: opt.Level}) }
	return &contestant{run: onClock(run), close: func() {}, verify: func() error {
		if err := run(); err != nil {
			return err
		}
		return l.compare("messom/twisted", func(x, y int) float32 { return t.At(x+1, y+1, 0) })
	}}, nil
}

func (l *lab) rotated(opt *boxsum.Options) (*contestant, error) {
	l = &lab{pixels: l.pixels} // those of now
	img := l.pixels.float
	t, err := rotated.NewTable[float32](img.Width, img.Height, 1, rotation)
	if err != nil {
		return nil, err
	}
	run := func() error { return rotated.IntegrateInto(t, img, &rotated.Options{Workers: opt.Workers, Level: opt.Level}) }
	all := t.Bounds()
	return &contestant{run: onClock(run), close: func() {}, verify: func() error {
		if err := run(); err != nil {
			return err
		}
		return l.compare("messom/rotated", func(x, y int) float32 {
			c, r := t.Cell(x, y)
			return t.Sum(rotated.Box{C0: c, R0: all.R0, C1: all.C1, R1: r + 1})
		})
	}}, nil
}

// compare compares every entry that belongs to a pixel with that of a published
// algorithm.
func (l *lab) compare(algorithm string, at func(x, y int) float32) error {
	job, err := l.prepare(Spec{Algorithm: algorithm, Precision: "f32"}, nil)
	if err != nil {
		return err
	}
	defer job.Close()
	if err := job.Run(); err != nil {
		return err
	}
	if err := job.Verify(); err != nil {
		return err
	}
	theirs, err := papers.Table[float32](job, 0)
	if err != nil {
		return err
	}
	entries := theirs.Inclusive()
	for y := range entries.Height {
		for x, want := range entries.Row(y) {
			if got := at(x, y); got != want {
				return fmt.Errorf("the sum for pixel (%d, %d) is %v and not %v", x, y, got, want)
			}
		}
	}
	return nil
}
