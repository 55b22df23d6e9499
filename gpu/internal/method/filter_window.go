package method

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/window"
)

// windowShape returns the window kernel for a job of bytes with one channel, or nil. See
// filter_window.h.
func (f *Filter) windowShape(job Job) *kernels.FilterWindowShape {
	s := f.reach(job.Width, job.Height)
	area := s.Width() * s.Height()
	if f.Kind == StatsFilter || area > kernels.FilterWindowArea || !aligned(job.In, 16, job.Count) || !aligned(job.Out, 16, job.Count) {
		return nil
	}
	decide, narrow := f.Kind == SauvolaFilter, kernels.FilterWindowMeans
	if decide {
		if _, _, low := f.doubtful(area); low == 0 {
			return nil
		}
		narrow = kernels.FilterWindowSquares
	}
	for i := range kernels.FilterWindowShapes {
		k := &kernels.FilterWindowShapes[i]
		if k.Decide == decide && max(s.Left, s.Right) <= k.Lead() && (k.Wide || area <= narrow) && k.Shared(s.Height()) <= kernels.FilterWindowShared {
			return k
		}
	}
	return nil
}

// doubtful returns the coefficients of half the threshold, (alpha + gamma·deviation)·mean/2, for
// twice the sum and 2n times the deviation of a window, and the lowest bits of the float 2^15 +
// (pixel - threshold)/2 that leave the decision in doubt because it is not exact; 0 if all
// decisions are in doubt.
func (f *Filter) doubtful(area int) (alpha, gamma float64, low uint32) {
	const white, u, least, most = 255.0, 0x1p-24, 0.001, 8000
	n, a, g := float64(area), 1-f.K, f.K*f.InverseR
	limit := white * (math.Abs(a) + math.Abs(g)*white/2)
	if !(f.K >= least && limit < most) {
		return 0, 0, 0
	}
	variance := 0.004 // error of variances: products of three numbers below 2^15, and
	if area <= kernels.FilterWindowSquares {
		variance += 1.05 / n // an error from the 2^23 that they contain
	}
	off := math.Sqrt(variance) + white/2*0x1p-21
	margin := 1.1*(math.Abs(g)*white*off+0.009+8*u*limit) + 0.0005
	return a / n / 4, g / n / n / 8, math.Float32bits(1<<15) - uint32(margin*256) - 2
}

// If all bands fit on the device at once, they have up to windowRows rows; otherwise they have
// windowTurns rows and take turns.
const windowRows, windowTurns = 200, 96

// windowBlocks returns the number of blocks, each one warp, to run on a multiprocessor at once, and
// the height of bands in the first and last strip relative to the others. Those have to process the
// border of the image, which is slowest for clipped windows. All values were measured on an H200 at
// 8192². A multiprocessor has four partitions, and wide windows keep them busy, so each should get
// the same number of blocks.
func (f *Filter) windowBlocks(shape *kernels.FilterWindowShape, shared int) (blocks, edge float64) {
	wide, box, clip := shape.Halves > 2, f.Kind == BoxFilter, f.Shape.Border == window.Clip
	switch {
	case wide && clip:
		blocks, edge = 12, 0.25
	case wide && box:
		blocks, edge = 12, 0.5
	case wide:
		blocks, edge = 8, 0.5
	case box && clip:
		blocks, edge = 11, 0.3
	case box:
		blocks, edge = 10, 0.7
	case clip:
		blocks, edge = 11.5, 0.2
	default:
		blocks, edge = 12, 0.7
	}
	if fit := kernels.FilterWindowProcessor / (shared + 1<<10); float64(fit) < blocks {
		blocks = float64(max(fit&^3, min(fit, 4)))
	}
	return blocks, edge
}

// onWindows plans a filter in one launch.
func (f *Filter) onWindows(job Job, shape *kernels.FilterWindowShape) (Plan, error) {
	b := job.Device.Backend.CUDA()
	kernel, err := b.Kernel(kernels.Module(shape.Kernel), shape.Kernel)
	if err != nil {
		return Plan{}, err
	}
	if err := b.PreferShared(kernel); err != nil {
		return Plan{}, err
	}
	s := f.reach(job.Width, job.Height)
	area := s.Width() * s.Height()
	n, shared := float64(area), shape.Shared(s.Height())
	each, first := shape.Columns()
	c := filterWindow{
		InStride: job.In.Stride, InDistance: job.In.Distance, OutStride: job.Out.Stride, OutDistance: job.Out.Distance,
		K: f.K, InverseR: f.InverseR, Width: int32(job.Width), Height: int32(job.Height),
		Left: int32(s.Left), Right: int32(s.Right), Up: int32(s.Up), Down: int32(s.Down), Border: int32(s.Border),
		Strips: int32(devmem.CeilDiv(job.Width-first, each)), Slots: int32(shape.Slots(s.Height())), Area: int32(area),
		N: float32(4 * n), NBias: float32(-n * n), Center: float32(1<<23 + 255*n), Middle: float32(255 * n),
	}
	if s.Border == window.Constant {
		c.Value = int32(s.Value)
	}
	c.Half, c.Multiplier, c.Place = roundedMean(uint64(area))
	c.Inverse, c.Bias = stripMean(area)
	if shape.Decide {
		alpha, gamma, low := f.doubtful(area)
		below := math.Float32bits(1<<15) - low
		c.Alpha, c.Gamma, c.Low, c.Range = float32(alpha), float32(gamma), low, below+below/2+2
		if !shape.Wide {
			c.NBias = float32((4<<23 - n) * n)
		}
	}
	processor, edge := f.windowBlocks(shape, shared)
	resident := int(processor * float64(max(1, job.Device.Info().Units)))
	launch := func(part Job) error {
		c := c
		c.In, c.Out = part.In.Address(), part.Out.Address()
		rows, work := FilterShape.Rows, int(c.Strips)*job.Height*part.Count
		if rows == 0 {
			for rows = max(stripLeast, work/resident); rows <= windowRows && cutBands(&c, rows, edge)*part.Count > resident; rows++ {
			}
			if rows > windowRows {
				rows = windowTurns
			}
		}
		blocks := cutBands(&c, rows, edge) * part.Count
		return b.Run(kernel, driver.Run{Stream: job.Stream, Blocks: blocks, Threads: 32, Shared: shared, Job: unsafe.Pointer(&c)})
	}
	return Plan{int(min(int64(job.Count), math.MaxInt32/(int64(c.Strips)*int64(job.Height)))), launch}, nil
}

// cutBands cuts strips into bands of about the given number of rows, and returns their number. The
// first and the last band of a strip are lower, as are all bands of the first and last strip.
func cutBands(c *filterWindow, rows int, edge float64) int {
	height, lower := int(c.Height), max(1, int(float64(rows)*edge))
	c.EdgeRows, c.EdgeBands = int32(lower), int32(devmem.CeilDiv(height, lower))
	rest := max(1, height-2*lower)
	rows = devmem.CeilDiv(rest, devmem.CeilDiv(rest, rows))
	c.BandRows, c.Bands = int32(rows), int32(1+devmem.CeilDiv(max(0, height-lower), rows))
	ends := min(int(c.Strips), 2)
	return ends*int(c.EdgeBands) + (int(c.Strips)-ends)*int(c.Bands)
}
