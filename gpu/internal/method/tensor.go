package method

import (
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/kernels/jobs"
	"github.com/boxsum/boxsum/internal/raster"
)

// TensorPlanes are consecutive planes of floats on a CUDA device.
type TensorPlanes struct {
	Address              uint64
	Width, Height, Count int
	Stride, Distance     int64
	Gap                  bool // the gaps between rows may be written
	BandRow              int  // rows of the bands into which planes are cut; zero to leave planes whole
}

// aligned reports whether groups of four values of the given size can be read at once, starting
// from the first value or, if reverse, from the last.
func (p *TensorPlanes) aligned(bytes int, reverse bool) int32 {
	unit, last := int64(min(4*bytes, 16)), int64(0)
	if reverse {
		last = int64(p.Width * bytes)
	}
	return flag((int64(p.Address)+last)%unit == 0 && p.Stride%unit == 0 && (p.Count == 1 || p.Distance%unit == 0))
}

// A TensorWindow describes the window of a pixel, which begins Left and Top before it. Its sum is
// multiplied by Factor or, if Clip is set, divided by the number of its pixels inside the plane.
type TensorWindow struct {
	Across, Down, Left, Top int
	Factor                  float64
	Clip                    bool
}

// Limits of the window kernels; see tensor.h.
const (
	windowThreads = 256
	windowWide    = 4 * windowThreads
	// WindowMost is the greatest width of a window.
	WindowMost = windowWide / 2
)

// A TensorCall is a launch of a kernel for planes of floats, which needs no arguments except
// its job. The job begins with the addresses of pixels and sums.
type TensorCall struct {
	Kernel *driver.Kernel
	Run    driver.Run
	Job    []byte
}

// Tensor prepares sums of planes without checks: the caller is responsible for types and sizes.
// name is "table", whose sums start after the table's row of zeros, "suffix" or "window".
func Tensor(d *devmem.Device, name string, t kernels.Types, in, out TensorPlanes, w TensorWindow) (*driver.CUDABackend, TensorCall, error) {
	b := d.Backend.CUDA()
	if obstacle := cudaObstacle(d); obstacle != "" {
		return nil, TensorCall{}, raster.Unsupported("kernels of tensors %s", obstacle)
	}
	c, ready, err := downCall(b, d, name, t, in, out)
	if err == nil && !ready {
		if name == "window" {
			c = windowCall(d, t.Pixel, in, out, w)
		} else {
			c = planeCall(d, name, t, in, out)
		}
		c.Kernel, err = b.Kernel("tensor", c.Kernel.Name)
	}
	if err != nil {
		return nil, TensorCall{}, err
	}
	if c.Run.Cluster > 1 && !(b.Major == 9 && c.Kernel.Machine) { // chips that run PTX have no clusters
		c.Run.Blocks, c.Run.Cluster = c.Run.Blocks/c.Run.Cluster, 1
	}
	c.Run.Stream, c.Run.Job = d.Stream, unsafe.Pointer(&c.Job[0])
	return b, c, nil
}

func bytesOf[T any](job *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(job)), unsafe.Sizeof(*job))
}

var floatBytes = map[string]int{"f16": 2, "bf16": 2, "f32": 4, "f64": 8}

func planeCall(d *devmem.Device, name string, t kernels.Types, in, out TensorPlanes) TensorCall {
	reverse := name == "suffix"
	bytes := int64(floatBytes[t.Sum])
	job := &jobs.Tensor{
		In: in.Address, Out: out.Address, InStride: in.Stride, InBatch: in.Distance, OutStride: out.Stride, OutBatch: out.Distance,
		Width: int32(in.Width), Height: int32(in.Height), Count: int32(in.Count),
		InAligned: in.aligned(floatBytes[t.Pixel], reverse), OutAligned: out.aligned(floatBytes[t.Sum], reverse),
	}
	const sector = 32
	row := int64(in.Width) * bytes
	whole := (int64(out.Address)|out.Stride|out.Distance|row)%sector == 0 && out.Stride >= row+sector
	job.Gap = flag(!reverse && out.Gap && whole)
	high := in.Height
	if out.BandRow > 0 {
		high = min(high, out.BandRow)
	}
	bands := devmem.CeilDiv(in.Height, high)
	job.Bands, job.BandRow = int32(bands), int32(high)
	shapes := kernels.TensorShapes(t)
	shape := shapes[0]
	if in.Width > 128*shape.Chunks {
		shape = shapes[1]
	}
	// Blocks share a plane if there are fewer planes than blocks that run at once.
	cluster := 1
	for 2*cluster <= kernels.TensorCluster && 2*cluster*bands*in.Count <= shape.Blocks*d.About.Units && cluster*shape.Warps*shape.Rows < high {
		cluster *= 2
	}
	return TensorCall{
		Kernel: &driver.Kernel{Name: kernels.TensorKernel(name, t, shape)},
		Run:    driver.Run{Blocks: bands * in.Count * cluster, Threads: 32 * shape.Warps, Cluster: cluster},
		Job:    bytesOf(job),
	}
}

// downCall returns a launch of a kernel that processes planes from top to bottom. ok is false if
// there are too few planes, or they are too wide, or the device has no such kernel.
func downCall(b *driver.CUDABackend, d *devmem.Device, name string, t kernels.Types, in, out TensorPlanes) (c TensorCall, ok bool, err error) {
	if b.Major != 9 || t.Sum != "f32" || in.Count < d.About.Units/2 || out.BandRow > 0 {
		return c, false, nil
	}
	bytes := floatBytes[t.Pixel]
	for _, s := range kernels.TensorDowns(name, t.Pixel) {
		if in.Width > 128*s.Chunks {
			continue
		}
		c = planeCall(d, name, t, in, out)
		c.Kernel, err = b.Reserve("tensor", s.Kernel(name, t.Pixel), s.Shared(bytes))
		if err != nil || !c.Kernel.Machine { // chips that run PTX copy differently
			return c, false, err
		}
		c.Run = driver.Run{Blocks: in.Count, Threads: 32 * s.Warps, Shared: s.Shared(bytes)}
		return c, true, nil
	}
	return c, false, nil
}

func windowCall(d *devmem.Device, pixel string, in, out TensorPlanes, w TensorWindow) TensorCall {
	threads := min(windowThreads, 32*devmem.CeilDiv(in.Width, 128))
	strips, results := 1, out.Width
	if in.Width > windowWide {
		results = (windowWide - w.Across - 2) &^ 3
		strips = devmem.CeilDiv(out.Width, results)
	}
	// A band starts by reading all rows of a window, so many bands are slow, but few leave
	// multiprocessors idle.
	bands := devmem.CeilDiv(out.Height, 8) // f64 windows do not continue from the row above
	if pixel != "f64" {
		rows := max(32, min(128, 4*w.Down))
		bands = max((out.Height+rows/2)/rows, 1)
		for out.Height > 32*bands && strips*bands*in.Count < 4*d.About.Units {
			bands *= 2
		}
	}
	rows := devmem.CeilDiv(out.Height, bands)
	job := &jobs.TensorWindow{
		In: in.Address, Out: out.Address, InStride: in.Stride, InBatch: in.Distance, OutStride: out.Stride, OutBatch: out.Distance, Factor: w.Factor,
		Width: int32(in.Width), Height: int32(in.Height), Columns: int32(out.Width), Rows: int32(out.Height),
		Across: int32(w.Across), Down: int32(w.Down), Left: int32(w.Left), Top: int32(w.Top), Count: int32(in.Count),
		Strips: int32(strips), Results: int32(results), Bands: int32(devmem.CeilDiv(out.Height, rows)), BandRow: int32(rows),
		Aligned: in.aligned(floatBytes[pixel], false), Clip: flag(w.Clip),
	}
	return TensorCall{
		Kernel: &driver.Kernel{Name: kernels.TensorWindow(pixel)},
		Run:    driver.Run{Blocks: strips * int(job.Bands) * in.Count, Threads: threads},
		Job:    bytesOf(job),
	}
}
