package interop

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/method"
)

// A TensorJob is sums of batches of planes of floats that another library has on a CUDA device, where Float16 and BFloat16
// are floats too. Op is what is summed:
//
//   - "table" makes tables of planes, Out is their entries (0, 0);
//   - "suffix" sums what lies at each place and after it, to the right and below, which is the gradient of a table;
//   - "window" sums windows with zeros outside of the plane, times a factor. Out has any size.
//
// Floats are named as in kernels: f16, bf16, f32, f64.
type TensorJob struct {
	Op, Pixel, Sum          string
	In, Out                 Foreign // of tables: the sizes of the planes
	Across, Down, Left, Top int     // of windows
	Factor                  float64
	Shape                   int // of the kernel, for measurements; 0 is what suits
}

// MostAcross is how wide a window of a [TensorJob] may be.
const MostAcross = method.WindowMost

// Tensor queues a job on the stream of a device.
func Tensor(d *gpu.Device, j *TensorJob) error {
	m := inner(d)
	in, out := planesOf(&j.In), planesOf(&j.Out)
	types := kernels.Types{Pixel: j.Pixel, Sum: j.Sum}
	for _, p := range []method.TensorPlanes{in, out} {
		if p.Width < 0 || p.Height < 0 || p.Count < 0 || max(p.Width, p.Height, p.Count) > math.MaxInt32/2 {
			return fmt.Errorf("gpu: %w: %d planes of %d×%d", boxsum.ErrInvalid, p.Count, p.Width, p.Height)
		}
	}
	switch {
	case in.Count != out.Count || j.Op != "window" && (in.Width != out.Width || in.Height != out.Height):
		return fmt.Errorf("gpu: %w: %d planes of %d×%d for %d of %d×%d", boxsum.ErrInvalid, out.Count, out.Width, out.Height, in.Count, in.Width, in.Height)
	case j.Op == "window" && (j.Across <= 0 || j.Across > MostAcross || j.Down <= 0 || j.Down > math.MaxInt32/4):
		return fmt.Errorf("gpu: %w: a window of %d×%d: use 1 to %d pixels across", boxsum.ErrInvalid, j.Across, j.Down, MostAcross)
	case out.Width == 0 || out.Height == 0 || out.Count == 0:
		return nil
	}
	if j.Op == "table" { // the first sum lies after the zeros
		bytes := int64(4)
		if j.Sum == "f64" {
			bytes = 8
		}
		out.Address += uint64(out.Stride + bytes)
	}
	w := method.TensorWindow{Across: j.Across, Down: j.Down, Left: j.Left, Top: j.Top, Factor: j.Factor}
	return m.Use(func() error { return method.Tensor(m, j.Op, types, in, out, w, j.Shape) })
}

func planesOf(f *Foreign) method.TensorPlanes {
	return method.TensorPlanes{Address: uint64(f.Handle) + uint64(f.Offset), Width: f.Width, Height: f.Height, Count: f.Count, Stride: f.Stride, Distance: f.Distance}
}
