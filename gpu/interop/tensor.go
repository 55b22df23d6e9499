package interop

import (
	"fmt"
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/method"
)

// A TensorJob is sums of batches of planes of floats that another library has on a CUDA device, where Float16 and BFloat16
// are floats too. Op is what is summed:
//
//   - "table" makes tables of planes, Out is their entries (0, 0);
//   - "suffix" sums what lies at each place and after it, to the right and below, which is the gradient of a table;
//   - "window" sums windows with zeros outside of the plane, times a factor, or divided by how much of each is in the plane. Out
//     has any size.
//
// Floats are named as in kernels: f16, bf16, f32, f64.
type TensorJob struct {
	Op, Pixel, Sum          string
	In, Out                 Foreign // of tables: the sizes of the planes
	Across, Down, Left, Top int     // of windows
	Factor                  float64
	Clip                    bool // divided, whatever the factor
	Gap                     bool // of tables: what lies between two rows may be written
	// BandRow cuts planes into bands of so many rows, from the first on, or from the last of a suffix. They are made at once, so that in the first
	// row of sums of each but the first must be what each column has in all bands before.
	BandRow int
}

// MostAcross is how wide a window of a [TensorJob] may be.
const MostAcross = method.WindowMost

// Tensor queues a job on the stream of a device.
func Tensor(d *gpu.Device, j *TensorJob) error {
	m := inner(d)
	return m.Use(func() error {
		b, c, err := j.call(d)
		if err != nil || b == nil {
			return err
		}
		return b.Run(c.Kernel, c.Run)
	})
}

// A Recipe is a launch that C code does by itself, as often as it likes: the functions of the driver, what to launch, and the
// job that follows, in which the addresses of pixels and sums come first.
type Recipe struct {
	Launch, Current, Function, Context uintptr // cuLaunchKernelEx and cuCtxGetCurrent
	Blocks, Threads, Shared, Cluster   int64
	Lead                               int64 // bytes from the memory of the sums to the address of the job
	InLow, OutLow                      int64 // the last four bits of the addresses for which it is
	Bytes                              int64 // of the job
}

// RecipeOf is the recipe of a job and its bytes, none where the driver cannot launch it so.
func RecipeOf(d *gpu.Device, j *TensorJob) (*Recipe, []byte, error) {
	b, c, err := j.call(d)
	if err != nil || b == nil {
		return nil, nil, err
	}
	r := &Recipe{
		Blocks: int64(c.Run.Blocks), Threads: int64(c.Run.Threads), Shared: int64(c.Run.Shared), Cluster: int64(c.Run.Cluster), Lead: j.lead(),
		InLow: int64(uint64(j.In.Handle)+uint64(j.In.Offset)) & 15, OutLow: (int64(uint64(j.Out.Handle)+uint64(j.Out.Offset)) + j.lead()) & 15,
		Bytes: int64(len(c.Job)),
	}
	if r.Launch, r.Current, r.Function, r.Context = b.Raw(c.Kernel); r.Launch == 0 || r.Current == 0 {
		return nil, nil, nil
	}
	return r, c.Job, nil
}

// lead is the bytes from the memory of the sums to the first row: that of a table lies after the zeros.
func (j *TensorJob) lead() int64 {
	if j.Op == "table" {
		return j.Out.Stride
	}
	return 0
}

// call checks a job and prepares its launch, none where there is nothing to do.
func (j *TensorJob) call(d *gpu.Device) (*driver.CUDABackend, method.TensorCall, error) {
	in, out := planesOf(&j.In), planesOf(&j.Out)
	var none method.TensorCall
	for _, p := range []method.TensorPlanes{in, out} {
		if p.Width < 0 || p.Height < 0 || p.Count < 0 || max(p.Width, p.Height, p.Count) > math.MaxInt32/16 {
			return nil, none, fmt.Errorf("gpu: %w: %d planes of %d×%d", boxsum.ErrInvalid, p.Count, p.Width, p.Height)
		}
	}
	switch {
	case in.Count != out.Count || j.Op != "window" && (in.Width != out.Width || in.Height != out.Height):
		return nil, none, fmt.Errorf("gpu: %w: %d planes of %d×%d for %d of %d×%d", boxsum.ErrInvalid, out.Count, out.Width, out.Height, in.Count, in.Width, in.Height)
	case j.Op == "window" && (j.Across <= 0 || j.Across > MostAcross || j.Down <= 0 || j.Down > math.MaxInt32/4):
		return nil, none, fmt.Errorf("gpu: %w: a window of %d×%d: use 1 to %d pixels across", boxsum.ErrInvalid, j.Across, j.Down, MostAcross)
	case j.BandRow < 0 || j.BandRow > 0 && j.Op == "window":
		return nil, none, fmt.Errorf("gpu: %w: bands of %d rows", boxsum.ErrInvalid, j.BandRow)
	case out.Width == 0 || out.Height == 0 || out.Count == 0:
		return nil, none, nil
	}
	out.Address, out.Gap, out.BandRow = out.Address+uint64(j.lead()), j.Gap, j.BandRow
	w := method.TensorWindow{Across: j.Across, Down: j.Down, Left: j.Left, Top: j.Top, Factor: j.Factor, Clip: j.Clip}
	return method.Tensor(inner(d), j.Op, kernels.Types{Pixel: j.Pixel, Sum: j.Sum}, in, out, w)
}

func planesOf(f *Foreign) method.TensorPlanes {
	return method.TensorPlanes{Address: uint64(f.Handle) + uint64(f.Offset), Width: f.Width, Height: f.Height, Count: f.Count, Stride: f.Stride, Distance: f.Distance}
}
