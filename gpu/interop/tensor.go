package interop

import (
	"math"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/raster"
)

// A TensorJob sums batches of float planes that another library has on a CUDA device. Op selects
// the operation:
//
//   - "table" computes the tables of planes. Out starts at their entries (0, 0).
//   - "suffix" replaces each value by the sum of the values at its position and after it, to the right and below, which is the gradient of a table.
//   - "window" sums windows, with zeros outside the plane, and multiplies the sums by Factor or divides them by the number of pixels of the window inside the plane. Out may have any size.
//
// Pixel and Sum are types: f16 (Float16), bf16 (BFloat16), f32 or f64.
type TensorJob struct {
	Op, Pixel, Sum          string
	In, Out                 Foreign // for tables, Width and Height of both are the size of the planes
	Across, Down, Left, Top int     // size of a window, and how far it extends to the left and above
	Factor                  float64 // for windows
	Clip                    bool    // for windows: divide by the number of pixels, and ignore Factor
	Gap                     bool    // for tables: the memory between rows may be overwritten
	// BandRow divides planes into bands of this many rows, counted from the first row, or from the
	// last for "suffix". Bands are computed at the same time. The first row of sums of each band
	// except the first must therefore contain, for every column, its sum over all bands before.
	BandRow int
}

// MostAcross is the maximum width of a window in a [TensorJob].
const MostAcross = method.WindowMost

// Tensor checks a job and queues it on the device's stream. It returns when the work is queued.
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

// A Recipe describes the launch of a kernel so that C code can repeat it without calling Go: the
// addresses of the driver's functions, the kernel and its grid, and the size of the job that is its
// argument. The job starts with the addresses of the pixels and of the sums.
type Recipe struct {
	Launch, Current, Function, Context uintptr // cuLaunchKernelEx and cuCtxGetCurrent
	Blocks, Threads, Shared, Cluster   int64
	Lead                               int64 // bytes from the memory of the sums to the address in the job
	InLow, OutLow                      int64 // the last four bits of the addresses for which the recipe is valid
	Bytes                              int64 // size of the job
}

// RecipeOf returns the recipe of a job and the bytes of the kernel's argument. Both are nil if
// there is nothing to do or if the driver cannot launch kernels in this way.
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

// lead returns the number of bytes from the memory of the sums to the first row. In
// a table, that row follows the zeros.
func (j *TensorJob) lead() int64 {
	if j.Op == "table" {
		return j.Out.Stride
	}
	return 0
}

// call validates a job and prepares its launch. The backend is nil if there is
// nothing to do.
func (j *TensorJob) call(d *gpu.Device) (*driver.CUDABackend, method.TensorCall, error) {
	in, out := planesOf(&j.In), planesOf(&j.Out)
	var none method.TensorCall
	for _, p := range []method.TensorPlanes{in, out} {
		if p.Width < 0 || p.Height < 0 || p.Count < 0 || max(p.Width, p.Height, p.Count) > math.MaxInt32/16 {
			return nil, none, raster.Invalid("tensor has %d planes of %d×%d, want sizes from 0 to below 2^27", p.Count, p.Width, p.Height)
		}
	}
	switch {
	case in.Count != out.Count || j.Op != "window" && (in.Width != out.Width || in.Height != out.Height):
		return nil, none, raster.Invalid("result has %d planes of %d×%d, want %d of %d×%d", out.Count, out.Width, out.Height, in.Count, in.Width, in.Height)
	case j.Op == "window" && (j.Across <= 0 || j.Across > MostAcross || j.Down <= 0 || j.Down > math.MaxInt32/4):
		return nil, none, raster.Invalid("window is %d×%d, want sides of 1 to %d", j.Across, j.Down, MostAcross)
	case j.BandRow < 0 || j.BandRow > 0 && j.Op == "window":
		return nil, none, raster.Invalid("band is %d rows, want 1 or more", j.BandRow)
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
