package method

import (
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/kernels/jobs"
)

// A TensorPlanes is planes of floats on a CUDA device, one after the other, Stride bytes from row to row.
type TensorPlanes struct {
	Address              uint64
	Width, Height, Count int
	Stride, Distance     int64
}

// aligned reports whether groups of four values of so many bytes can be read at once, from the first on or from the last.
func (p *TensorPlanes) aligned(bytes int, reverse bool) int32 {
	unit, last := int64(min(4*bytes, 16)), int64(0)
	if reverse {
		last = int64(p.Width * bytes)
	}
	return flag((int64(p.Address)+last)%unit == 0 && p.Stride%unit == 0 && (p.Count == 1 || p.Distance%unit == 0))
}

// A TensorWindow is which window a pixel has: it begins Left and Top before it.
type TensorWindow struct {
	Across, Down, Left, Top int
	Factor                  float64
}

// What kernels of windows take, see tensor.h.
const (
	windowWarps = 4
	windowWide  = 256
	// WindowMost is how wide a window may be.
	WindowMost = 192
)

// Tensor queues sums of planes, without checks: those of types and sizes are the caller's. Name is "table", where the sums are
// those of a table after its zeros, "suffix" or "window". Shape counts those of [kernels.TensorShapes] from 1; 0 is what suits.
func Tensor(d *devmem.Device, name string, t kernels.Types, in, out TensorPlanes, w TensorWindow, shape int) error {
	b, ok := d.Backend.(*driver.CUDABackend)
	if obstacle := cudaObstacle(d); !ok || obstacle != "" {
		return fmt.Errorf("gpu: %w: kernels of tensors %s", boxsum.ErrTypes, obstacle)
	}
	bytes := map[string]int{"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
	if name == "window" {
		return windowLaunch(d, b, t.Pixel, in, out, w)
	}
	shapes := kernels.TensorShapes(t.Sum)
	if shape == 0 {
		shape = 1
		if len(shapes) > 1 && in.Width <= 256 {
			shape = 2
		}
	}
	s := shapes[min(shape, len(shapes))-1]
	k, err := b.Kernel("tensor", kernels.TensorKernel(name, t, s))
	if err != nil {
		return err
	}
	reverse := name == "suffix"
	job := jobs.Tensor{
		In: in.Address, Out: out.Address, InStride: in.Stride, InBatch: in.Distance, OutStride: out.Stride, OutBatch: out.Distance,
		Width: int32(in.Width), Height: int32(in.Height), Count: int32(in.Count),
		InAligned: in.aligned(bytes[t.Pixel], reverse), OutAligned: out.aligned(bytes[t.Sum], reverse), Border: flag(!reverse),
	}
	return b.Run(k, driver.Run{Stream: d.Stream, Blocks: in.Count, Threads: 32 * s.Warps, Job: unsafe.Pointer(&job)})
}

func windowLaunch(d *devmem.Device, b *driver.CUDABackend, pixel string, in, out TensorPlanes, w TensorWindow) error {
	k, err := b.Kernel("tensor", kernels.TensorWindow(pixel))
	if err != nil {
		return err
	}
	rows := max(32, min(128, 2*w.Down))
	results := windowWide - w.Across + 1
	if pixel == "f64" { // whose windows do not go on from the row above
		rows = 8
	}
	job := jobs.TensorWindow{
		In: in.Address, Out: out.Address, InStride: in.Stride, InBatch: in.Distance, OutStride: out.Stride, OutBatch: out.Distance, Factor: w.Factor,
		Width: int32(in.Width), Height: int32(in.Height), Columns: int32(out.Width), Rows: int32(out.Height),
		Across: int32(w.Across), Down: int32(w.Down), Left: int32(w.Left), Top: int32(w.Top), Count: int32(in.Count),
		Strips: int32(devmem.CeilDiv(out.Width, results)), Bands: int32(devmem.CeilDiv(out.Height, rows)), BandRow: int32(rows),
	}
	tasks := int64(job.Strips) * int64(job.Bands) * int64(in.Count)
	return b.Run(k, driver.Run{Stream: d.Stream, Blocks: int(devmem.CeilDiv(tasks, windowWarps)), Threads: 32 * windowWarps, Job: unsafe.Pointer(&job)})
}
