package reproduce

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
	images "github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/lab/measure"
	"github.com/boxsum/boxsum/papers"
	"github.com/boxsum/boxsum/rotated"
)

// pixels holds an image whose sums are exact in its precision, for all contestants of a group.
type pixels struct {
	Size
	kind    string                                                                          // f32, f32x4, f64 or u8
	own     map[string]func(*lab, Spec) (*measure.Contestant, error)                        // boxsum's own table, by precision
	prepare func(a *papers.Algorithm, opt *papers.Options, images int) (*papers.Job, error) // a published algorithm
}

// pixelType returns the pixel type of a precision: integers use the same bytes as u8.
func pixelType(precision string) string {
	if precision == "u32" {
		return "u8"
	}
	return precision
}

func newPixels(size Size, precision string) (p pixels, err error) {
	p.Size, p.kind = size, pixelType(precision)
	switch p.kind {
	case "f32":
		_, err = draw[float32, float32](&p, papers.Float)
	case "f32x4":
		_, err = draw[float32, float32](&p, papers.Float4)
	case "f64":
		_, err = draw[float64, float64](&p, papers.Double)
	case "u8":
		var bytes boxsum.Image[uint8]
		if bytes, err = draw[uint32, uint8](&p, papers.Int); err != nil {
			return p, err
		}
		var words boxsum.Image[uint32]
		if words, err = boxsum.NewImage[uint32](size.Width, size.Height, 1); err != nil {
			return p, err
		}
		for y := range size.Height {
			row := words.Row(y)
			for x, b := range bytes.Row(y) {
				row[x] = uint32(b)
			}
		}
		p.own["u32"] = ownTable(raster.U32, images.Of(words))
	default:
		err = fmt.Errorf("unknown precision %q", precision)
	}
	return p, err
}

// draw draws the image.
func draw[S boxsum.Sum, P boxsum.Pixel](p *pixels, precision papers.Precision) (boxsum.Image[P], error) {
	img, err := papers.ExactImage[P](p.Width, p.Height, precision)
	p.own = map[string]func(*lab, Spec) (*measure.Contestant, error){p.kind: ownTable(raster.TypeOf[S](), images.Of(img))}
	p.prepare = func(a *papers.Algorithm, opt *papers.Options, images int) (*papers.Job, error) {
		return papers.Prepare(a, opt, slices.Repeat([]boxsum.Image[P]{img}, max(images, 1))...)
	}
	return img, err
}

// rotation is that of the rotated tables in table 2: 26.57°.
var rotation = rotated.Rotation{A: 1, B: 2}

// contestant returns a spec ready to run, with its kernels if requested.
func (l *lab) contestant(s Spec) (c *measure.Contestant, each []Kernel, err error) {
	switch {
	case s.Cycles > 0:
		return l.cycles(s), nil, nil
	case s.Algorithm == DeviceCopy:
		bytes := map[string]int64{"f32": 8, "u32": 8, "f32x4": 32, "f64": 16, "u8": 5}[s.Precision]
		if bytes == 0 {
			return nil, nil, fmt.Errorf("unknown precision %q", s.Precision)
		}
		c, err = measure.DeviceCopy(l.device, bytes*int64(s.Pixels()))
		return c, nil, err
	case s.Algorithm != Boxsum:
		return l.published(s)
	}
	c, err = l.pixels.own[s.Precision](l, s)
	if err == nil && s.Kernels {
		var infos []launch.KernelInfo
		infos, err = launch.Kernels(l.device, c.Queue)
		for _, info := range infos {
			each = append(each, kernelOf(info))
		}
	}
	return c, each, err
}

// ownTable returns this library's own table.
func ownTable(sum raster.Type, img raster.Array) func(*lab, Spec) (*measure.Contestant, error) {
	return func(l *lab, s Spec) (*measure.Contestant, error) {
		own := measure.Own{Sum: sum, Rotation: rotation, Images: s.Images, Host: s.Host, Options: measure.Options{Workers: cmp.Or(s.Threads, l.setting.cores)}}
		own.Kind = map[string]papers.Kind{"tilted": papers.Tilted, "rotated": papers.Rotated}[s.Table]
		if s.GPU {
			own.Device = l.device
		}
		return own.Contestant(img)
	}
}

// prepare prepares the job of a published algorithm.
func (l *lab) prepare(s Spec, device *gpu.Device) (*papers.Job, error) {
	a, err := papers.Find(s.Algorithm)
	if err != nil {
		return nil, err
	}
	precision, err := papers.ParsePrecision(s.Precision)
	if err != nil {
		return nil, err
	}
	return l.pixels.prepare(a, &papers.Options{Precision: precision, Threads: s.Threads, Device: device, Group: s.Group, Rotation: rotation}, s.Images)
}

// published returns a published algorithm as a contestant.
func (l *lab) published(s Spec) (c *measure.Contestant, each []Kernel, err error) {
	job, err := l.prepare(s, l.device)
	if err != nil {
		return nil, nil, err
	}
	device := l.device
	if !s.GPU {
		device = nil
	}
	if s.Kernels {
		each, err = l.kernels(job)
	}
	return measure.Published(job, device, s.Host), each, err
}

// kernels measures each kernel of a job; those of the same name are combined.
func (l *lab) kernels(job *papers.Job) ([]Kernel, error) {
	infos, err := launch.Kernels(l.device, job.Run)
	if err != nil {
		return nil, err
	}
	var each []Kernel
	for _, step := range job.Steps() {
		times, err := measure.OnEvents(l.device, step.Run)(9, 1)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(each, func(k Kernel) bool { return k.Name == step.Name })
		if i < 0 {
			i = len(each)
			each = append(each, Kernel{Name: step.Name})
			if j := slices.IndexFunc(infos, func(info launch.KernelInfo) bool { return info.Name == step.Name }); j >= 0 {
				each[i] = kernelOf(infos[j])
			}
		}
		each[i].Median += measure.Median(times)
		each[i].Bytes += step.Bytes
	}
	return each, nil
}

func kernelOf(info launch.KernelInfo) Kernel {
	return Kernel{Name: info.Name, Threads: info.Threads, Registers: info.Registers, Shared: info.Shared, Occupancy: info.Occupancy}
}

// cycles returns a contestant that times several runs of a published algorithm together, by the
// clock, on a newly opened device, from before its kernels are loaded. Each run is checked.
func (l *lab) cycles(s Spec) *measure.Contestant {
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
		return took, cmp.Or(err, job.Verify())
	}
	return &measure.Contestant{Run: func(n, _ int) ([]time.Duration, error) {
		times := make([]time.Duration, n)
		for i := range times {
			var err error
			if times[i], err = once(); err != nil {
				return nil, err
			}
		}
		return times, nil
	}}
}
