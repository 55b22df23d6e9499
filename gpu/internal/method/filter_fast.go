package method

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// FilterShape overrides the kernel of filters in one launch, and the number of rows in a band.
// Zeros keep the default. Tests and measurements set it.
var FilterShape struct {
	Columns, Blocks, Rows int
	Strips                bool // use strips where a window kernel would be used
}

// filterShape returns the kernel for a kind.
func (f *Filter) filterShape() (columns, blocks int) {
	shape := kernels.FilterPassShapes[string(f.Kind)][0]
	if FilterShape.Columns != 0 {
		shape = [2]int{FilterShape.Columns, FilterShape.Blocks}
	}
	return shape[0], shape[1]
}

// Obstacle returns why a job cannot use the one-launch kernels, or "". See filter_pass.h.
func (f *Filter) Obstacle(job Job) string {
	if obstacle := cudaObstacle(job.Device); obstacle != "" {
		return obstacle
	}
	s, outs := f.reach(job.Width, job.Height), []devmem.Batch{job.Out}
	columns, _ := f.filterShape()
	unit, area, most := int64(columns), s.Width()*s.Height(), math.MaxUint16
	if f.Kind != BoxFilter {
		most = kernels.FilterPassArea
	}
	if f.Kind == StatsFilter {
		unit = 16
		if job.Square != 0 {
			outs = append(outs, job.Squares)
		}
	}
	switch {
	case job.Pixel != raster.U8 || job.Channels != 1:
		return "of filters support one channel of uint8 only"
	case s.Border == window.Constant && (FilterShape.Columns != 0 || FilterShape.Strips || f.windowShape(job) == nil):
		return "of filters do not support a constant border"
	case s.Width() > kernels.FilterPassReach*columns || area > most || area == 1:
		return "of filters do not support windows of this size"
	case s.Left >= job.Width || s.Right >= job.Width:
		return "of filters support windows up to the width of the image"
	case !aligned(job.In, int64(columns), job.Count):
		return "of filters need rows aligned to 16 bytes"
	}
	for _, out := range outs {
		if !aligned(out, unit, job.Count) {
			return "of filters need rows aligned to 16 bytes"
		}
	}
	return ""
}

// OnePass plans a filter in one launch, or in two for the strip kernels, which do not load pixels
// one by one.
func (f *Filter) OnePass(job Job) (Plan, error) {
	if shape := f.windowShape(job); shape != nil && FilterShape.Columns == 0 && !FilterShape.Strips {
		return f.onWindows(job, shape)
	}
	if name := f.stripKernel(job); name != "" && FilterShape.Columns == 0 {
		return f.onStrips(job, name)
	}
	b := job.Device.Backend.CUDA()
	columns, blocks := f.filterShape()
	name := kernels.FilterPassKernel(string(f.Kind), columns, blocks)
	kernel, err := b.Kernel(kernels.Module(name), name)
	if err != nil {
		return Plan{}, err
	}
	s := f.reach(job.Width, job.Height)
	skip := devmem.CeilDiv(s.Width()-1, columns)
	strips := devmem.CeilDiv(job.Width, (32-skip)*columns)
	area := uint64(s.Width()) * uint64(s.Height())
	c := filterPass{
		InStride: job.In.Stride, InDistance: job.In.Distance, OutStride: job.Out.Stride, OutDistance: job.Out.Distance,
		DevStride: job.Squares.Stride, DevDistance: job.Squares.Distance, K: f.K, InverseR: f.InverseR,
		Width: int32(job.Width), Height: int32(job.Height),
		Left: int32(s.Left), Right: int32(s.Right), Up: int32(s.Up), Down: int32(s.Down), Border: int32(s.Border),
		Strips: int32(strips), Skip: int32(skip), Area: int32(area),
		Inverse: float32(1 / float64(area)), Inverse2: float32(1 / (float64(area) * float64(area))),
	}
	c.Half, c.Multiplier, c.Place = roundedMean(area)
	if f.Kind == SauvolaFilter {
		const off = 255 * 0x1p-11 // error of the deviation in flat windows: variances are off by 2.25·2^-24 of 255²
		c.Alpha, c.Gamma, c.Margin = f.singles(off)
	}
	launch := func(part Job) error {
		c := c
		rows := FilterShape.Rows
		if rows == 0 { // measured on an H200: strips at the edge of an image are slow, and short bands distribute them
			rows = max(16, min(48, s.Height()/2))
		}
		rows = min(rows, job.Height)
		c.In, c.Count, c.BandRows, c.Bands = part.In.Address(), int32(part.Count), int32(rows), int32(devmem.CeilDiv(job.Height, rows))
		if !f.NoMean {
			c.Out = part.Out.Address()
		}
		if job.Square != 0 {
			c.Dev = part.Squares.Address()
		}
		tasks := int64(strips) * int64(c.Bands) * int64(part.Count)
		return b.Run(kernel, driver.Run{
			Stream: job.Stream, Blocks: int(devmem.CeilDiv(tasks, kernels.FilterPassWarps)), Threads: 32 * kernels.FilterPassWarps, Job: unsafe.Pointer(&c),
		})
	}
	return Plan{int(min(int64(job.Count), math.MaxInt32/(int64(strips)*int64(job.Height)))), launch}, nil
}

// singles returns the coefficients of the threshold mean·(alpha + gamma·deviation) in float32, and
// the distance from it beyond which a decision is certain. off is the error of deviations, which
// makes up most of it.
func (f *Filter) singles(off float64) (alpha, gamma, margin float32) {
	const white, u, least = 255.0, 0x1p-24, 0.001
	a, g := 1-f.K, f.K*f.InverseR
	m := 1.25 * (math.Abs(g)*white*off + 32*u*white*(1+math.Abs(a)+math.Abs(g)*white/2))
	if !(f.K >= least && m < white) { // rounding decides in flat windows
		m = math.Inf(1)
	}
	return float32(a), float32(g), float32(m)
}
