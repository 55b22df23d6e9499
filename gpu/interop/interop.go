// Package interop lets package gpu use device memory and streams of other
// libraries, such as CuPy and PyTorch, in place.
package interop

import (
	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/internal/raster"
)

// A Foreign describes device memory of another library, such as an array of CuPy or
// PyTorch. It holds images for [ImageOver], or tables for [TableOver] and
// [TiltedTableOver]. Width and Height are always those of the images.
type Foreign struct {
	Handle           uintptr // a device pointer in CUDA's primary context, or a cl_mem in the context of the memory that Take returns
	Offset           int64   // bytes from Handle to the first value
	Width, Height    int
	Channels         int   // zero means one
	Count            int   // number of consecutive images or tables; zero means one
	Stride, Distance int64 // bytes between rows, and between images or tables
}

// ImageOver returns images in the memory of another library, which f describes. The
// memory must remain valid as long as the images are used. Closing the images does
// not free it.
func ImageOver[P boxsum.Pixel](d *gpu.Device, f Foreign) (*gpu.Image[P], error) {
	im := new(gpu.Image[P])
	return wrap(im, inside.ArrayOf(im), d, raster.TypeNamed[P](), f, 0, false)
}

// TableOver returns tables in the memory of another library, which f describes.
// The memory must remain valid as long as the tables are used. Closing the tables
// does not free it. Writing is fastest if every table starts one pixel before a
// multiple of 256 bytes and the stride is a multiple of 256 bytes.
func TableOver[S boxsum.Sum](d *gpu.Device, f Foreign) (*gpu.Table[S], error) {
	t := new(gpu.Table[S])
	return wrap(t, inside.ArrayOf(t), d, raster.TypeNamed[S](), f, 1, false)
}

// TiltedTableOver is like [TableOver] but returns a tilted table.
func TiltedTableOver[S boxsum.Sum](d *gpu.Device, f Foreign) (*gpu.TiltedTable[S], error) {
	t := new(gpu.TiltedTable[S])
	return wrap(t, inside.ArrayOf(t), d, raster.TypeNamed[S](), f, 1, false)
}

// VolumeOver returns a volume in the memory of another library, of f.Count slices
// that are f.Distance bytes apart.
func VolumeOver[P boxsum.Pixel](d *gpu.Device, f Foreign) (*gpu.Volume[P], error) {
	v := new(gpu.Volume[P])
	return wrap(v, inside.ArrayOf(v), d, raster.TypeNamed[P](), f, 0, true)
}

// VolumeTableOver returns the table of a volume in the memory of another library.
// The volume has f.Count slices; the table has one more.
func VolumeTableOver[S boxsum.Sum](d *gpu.Device, f Foreign) (*gpu.VolumeTable[S], error) {
	t := new(gpu.VolumeTable[S])
	return wrap(t, inside.ArrayOf(t), d, raster.TypeNamed[S](), f, 1, true)
}

// wrap initializes a value of package gpu with foreign memory.
func wrap[T any](t *T, inside *devmem.Array, d *gpu.Device, e raster.Type, f Foreign, border int, volume bool) (*T, error) {
	a, err := inner(d).ForeignArray(e, devmem.Foreign(f), border, volume)
	if err != nil {
		return nil, err
	}
	*inside = a
	return t, nil
}

// inner returns the memory device of d, or nil.
func inner(d *gpu.Device) *devmem.Device {
	if d == nil {
		return nil
	}
	return inside.Memory(d)
}

// OnStream returns a device that queues its work on the caller's stream instead of
// on d's own. The handle is a cl_command_queue or a CUstream, where 0 and 1 are the
// legacy default stream and 2 is the per-thread one. The work starts after
// everything queued on the stream before and precedes everything queued later; the
// host does not wait.
//
// CUDA has one context per process, but an OpenCL device works in a context of its
// own and rejects queues of any other. To share memory with an OpenCL device,
// create queues and buffers in its context, which clGetMemObjectInfo returns for
// the memory from [Take].
//
// Another call with the same handle returns the same device. That device keeps some
// memory for the stream until the device or d is closed; the stream itself remains
// the caller's. If memory is short, calls on other streams of d reclaim that
// memory, and wait for the work queued on this stream.
func OnStream(d *gpu.Device, handle uintptr) (*gpu.Device, error) {
	view, err := inner(d).OnStream(handle, inside.Wrap)
	if err != nil {
		return nil, err
	}
	return view.Outer.(*gpu.Device), nil
}

// Take allocates memory on the device, for use in a [Foreign]. The memory is freed
// by [Give], or when the device is closed.
func Take(d *gpu.Device, bytes int64) (handle uintptr, err error) {
	m := inner(d)
	if err := m.Enter(); err != nil {
		return 0, err
	}
	defer m.Leave()
	if bytes < 0 {
		return 0, raster.Invalid("size of memory is %d bytes, want 0 or more", bytes)
	}
	taken, err := m.NewBuffer(bytes)
	return uintptr(taken), err
}

// Give frees memory allocated by [Take] once all work that uses it is done.
func Give(d *gpu.Device, handle uintptr) error {
	m := inner(d)
	if err := m.Enter(); err != nil {
		return err
	}
	defer m.Leave()
	return m.FreeBuffer(driver.Memory(handle))
}

// DeviceOf returns the index of the CUDA device to which a pointer belongs.
func DeviceOf(pointer uintptr) (int, error) { return driver.DeviceOf(pointer) }
