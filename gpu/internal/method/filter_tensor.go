package method

import (
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/internal/window"
)

// tensorShift is how many columns before the first window of a strip its chunks begin, which
// start at multiples of 16.
func tensorShift(s *window.Shape) int { return -s.Left & 15 }

// tensorChunks is how many chunks a lane takes on tensor cores, see filter_tensor.h, and 0 where
// there is no kernel. The job has no [Filter.Obstacle].
func (f *Filter) tensorChunks(job Job) int {
	s := f.reach(job.Width, job.Height)
	area, most := s.Width()*s.Height(), kernels.FilterTensorArea
	if f.Kind == BoxFilter {
		most = kernels.FilterTensorMean
	}
	chunks := devmem.CeilDiv(tensorShift(&s)+kernels.FilterTensorStrip+s.Width()-1, kernels.FilterTensorChunk)
	for _, k := range kernels.FilterTensorShapes {
		if k.Kind == string(f.Kind) && k.Chunks == chunks && area <= most && aligned(job.In, 16, job.Count) && aligned(job.Out, 4, job.Count) {
			return chunks
		}
	}
	return 0
}

// tensorWarps is how many warps a processor has at once, and bands have so many rows: as measured
// on an H200.
const tensorWarps, tensorLeast, tensorMost, tensorMostWide = 16, 24, 96, 128

// onTensors makes a filter on tensor cores: a launch copies the edges of the images with what
// lies beside them, and another does the rest.
func (f *Filter) onTensors(job Job, chunks int) (Plan, error) {
	b := job.Device.Backend.(*driver.CUDABackend)
	name := kernels.FilterTensorKernel(string(f.Kind), chunks)
	kernel, err := b.Kernel(kernels.Module(name), name)
	if err != nil {
		return Plan{}, err
	}
	edges, err := b.Kernel(kernels.Module(name), kernels.FilterTensorEdges)
	if err != nil {
		return Plan{}, err
	}
	s := f.reach(job.Width, job.Height)
	shift, area := tensorShift(&s), s.Width()*s.Height()
	left := (s.Left + shift) / 16
	beside := left + 1 + devmem.CeilDiv(s.Right, 16)
	if job.Width%16 != 0 {
		beside++
	}
	c := filterTensor{
		InStride: job.In.Stride, InDistance: job.In.Distance, OutStride: job.Out.Stride, OutDistance: job.Out.Distance,
		EdgeStride: int64(16 * beside), EdgeDistance: int64(16*beside) * int64(job.Height),
		K: f.K, InverseR: f.InverseR, Width: int32(job.Width), Height: int32(job.Height),
		Left: int32(s.Left), Right: int32(s.Right), Up: int32(s.Up), Down: int32(s.Down), Border: int32(s.Border),
		Strips: int32(devmem.CeilDiv(job.Width, kernels.FilterTensorColumns)), Shift: int32(shift), EdgeLeft: int32(left), Area: int32(area),
		N: float32(area), Inverse: float32(1 / float64(area)), Bias: float32((float64(area/2) + 0.5) / float64(area)),
	}
	if f.Kind == SauvolaFilter {
		alpha, gamma, margin := f.singles()
		c.Alpha, c.Gamma, c.Margin = alpha, gamma*c.Inverse, margin*c.N
	}
	launch := func(part Job) error {
		c := c
		rows := FilterShape.Rows
		if rows == 0 { // all warps at once, if bands do not become too low or too high for that
			rows = devmem.CeilDiv(int(c.Strips)*job.Height*part.Count, tensorWarps*max(1, job.Device.Info().Units))
			most := tensorMost
			if chunks > 1 {
				most = tensorMostWide
			}
			rows = max(tensorLeast, min(most, rows))
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
			Stream: job.Stream, Blocks: int(devmem.CeilDiv(tasks, kernels.FilterTensorWarps)), Threads: 32 * kernels.FilterTensorWarps, Job: unsafe.Pointer(&c),
		})
	}
	return Plan{int(min(int64(job.Count), math.MaxInt32/(int64(beside+int(c.Strips))*int64(job.Height)))), launch}, nil
}
