package method

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
)

// stripKernel returns the name of the strip kernel for a job without a [Filter.Obstacle], or ""
// if none supports it. See filter_strip.h.
func (f *Filter) stripKernel(job Job) string {
	s := f.reach(job.Width, job.Height)
	area := s.Width() * s.Height()
	switch {
	case s.Width() > kernels.FilterStripReach || !aligned(job.In, 16, job.Count) || !aligned(job.Out, 16, job.Count):
		return ""
	case f.Kind == SauvolaFilter && area <= kernels.FilterStripArea:
		return kernels.FilterStripDecide
	case f.Kind != BoxFilter || s.Height() > kernels.FilterStripRows || meanSkip(s.Width(), s.Right) >= kernels.FilterStripLanes:
		return ""
	case area <= kernels.FilterStripSmall && s.Height() <= kernels.FilterStripRing && s.Width() <= kernels.FilterStripReach/2:
		return kernels.FilterStripMean
	}
	return kernels.FilterStripWide
}

// meanSkip returns the number of lanes of a strip without means, because the windows of their
// pixels begin before the strip.
func meanSkip(width, right int) int {
	const lane = kernels.FilterStripMeans
	return 1 + devmem.CeilDiv(width-1-right%lane, lane)
}

// stripMean returns constants to divide sums s of small windows, which are the low bits of the
// float 2^23+s: the mean is the second byte of (2^23+s)·inverse + bias, rounded down.
func stripMean(area int) (inverse, bias float32) {
	inverse = float32(1 / float64(area))
	half := (float64(area/2) + 0.5) / float64(area)
	return inverse, float32(1<<15 + half - (1<<23)*float64(inverse))
}

// roundedMean returns constants to divide larger sums: the mean is a byte of the upper half of
// (s+half)·multiplier; place selects it.
func roundedMean(area uint64) (half, multiplier, place uint32) {
	half, multiplier, place = uint32(area/2), uint32((1<<32+area-1)/area), 0x40
	if area > 4100 { // beyond this the multiplication is not exact
		multiplier, place = uint32((1<<40+area-1)/area), 0x51
	}
	return half, multiplier, place
}

// Bands have at least stripLeast rows, and at most stripMost if that keeps all warps busy, as
// measured on an H200.
const stripLeast, stripMost = 16, 128

// onStrips plans a filter by strips: one launch copies the edges of the images together with their
// borders, and another filters.
func (f *Filter) onStrips(job Job, name string) (Plan, error) {
	b := job.Device.Backend.CUDA()
	kernel, err := b.Kernel(kernels.Module(name), name)
	if err != nil {
		return Plan{}, err
	}
	edges, err := b.Kernel(kernels.Module(name), kernels.FilterStripEdges)
	if err != nil {
		return Plan{}, err
	}
	s := f.reach(job.Width, job.Height)
	area := s.Width() * s.Height()
	left := devmem.CeilDiv(s.Left, kernels.FilterStripChunks)
	beside := left + 1 + devmem.CeilDiv(s.Right, kernels.FilterStripChunks)
	if job.Width%kernels.FilterStripChunks != 0 {
		beside++
	}
	stride := int64(kernels.FilterStripChunks * beside)
	c := filterStrip{
		InStride: job.In.Stride, InDistance: job.In.Distance, OutStride: job.Out.Stride, OutDistance: job.Out.Distance,
		EdgeStride: stride, EdgeDistance: stride * int64(job.Height),
		K: f.K, InverseR: f.InverseR, Width: int32(job.Width), Height: int32(job.Height),
		Left: int32(s.Left), Right: int32(s.Right), Up: int32(s.Up), Down: int32(s.Down), Border: int32(s.Border),
		EdgeLeft: int32(left), Area: int32(area), N: float32(area),
	}
	c.Half, c.Multiplier, c.Place = roundedMean(uint64(area))
	c.Inverse, c.Bias = stripMean(area)
	each, blocks := 0, 0 // pixels of a strip, and blocks on a multiprocessor
	for _, s := range kernels.FilterStripShapes {
		if s.Kernel == name {
			blocks = s.Blocks
		}
	}
	if f.Kind == SauvolaFilter {
		const lane = kernels.FilterStripLane
		skip := devmem.CeilDiv(s.Width()-1, lane)
		c.Skip, each = int32(skip), (kernels.FilterStripLanes-1-skip)*lane
		const off = 0.07 // error of the deviation in flat windows: variances, which are sums of three numbers below 2^15, are off by 2.5·2^-9
		alpha, gamma, margin := f.singles(off)
		c.Alpha, c.Gamma, c.Margin = alpha, gamma*float32(1/float64(area)), margin*c.N
	} else {
		skip := meanSkip(s.Width(), s.Right)
		c.Skip, each = int32(skip), 2*(kernels.FilterStripLanes-skip)*kernels.FilterStripMeans
	}
	c.Strips = int32(devmem.CeilDiv(job.Width, each))
	launch := func(part Job) error {
		c := c
		rows := FilterShape.Rows
		if rows == 0 { // keep all warps busy at once, unless bands would become too low or too high
			rows = devmem.CeilDiv(int(c.Strips)*job.Height*part.Count, kernels.FilterStripWarps*blocks*max(1, job.Device.Info().Units))
			rows = max(stripLeast, min(stripMost, rows))
		}
		c.In, c.Out, c.Count = part.In.Address(), part.Out.Address(), int32(part.Count)
		c.BandRows, c.Bands = int32(rows), int32(devmem.CeilDiv(job.Height, rows))
		space, _, err := job.Device.Workspace(job.Stream, "edges", c.EdgeDistance*int64(part.Count))
		if err != nil {
			return err
		}
		c.Edge = uint64(space)
		pieces := int64(beside) * int64(job.Height) * int64(part.Count)
		if err := b.Run(edges, driver.Run{Stream: job.Stream, Blocks: int(devmem.CeilDiv(pieces, 128)), Threads: 128, Job: unsafe.Pointer(&c)}); err != nil {
			return err
		}
		tasks := int64(c.Strips) * int64(c.Bands) * int64(part.Count)
		return b.Run(kernel, driver.Run{
			Stream: job.Stream, Blocks: int(devmem.CeilDiv(tasks, kernels.FilterStripWarps)), Threads: 32 * kernels.FilterStripWarps, Job: unsafe.Pointer(&c),
		})
	}
	return Plan{int(min(int64(job.Count), math.MaxInt32/(int64(beside+int(c.Strips))*int64(job.Height)))), launch}, nil
}
