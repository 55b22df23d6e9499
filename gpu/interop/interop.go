// Package interop lets package gpu use memory and streams of other libraries on a device,
// such as those of CuPy and PyTorch, where they are.
package interop

import (
	"fmt"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/pairs"
)

// A Foreign is memory of a device that another library has, such as an array of
// CuPy or PyTorch: images for [ImageOver], or room for their tables for
// [TableOver] and [TiltedTableOver]. Sizes are those of the images, in both.
type Foreign struct {
	Handle           uintptr // a device pointer in the primary context of CUDA, or a cl_mem in the context of what Take gives
	Offset           int64   // bytes from there to the first value
	Width, Height    int
	Channels         int   // zero stands for one
	Count            int   // of images or tables, one after the other; zero stands for one
	Stride, Distance int64 // bytes from row to row, and from one image or table to the next
}

// ImageOver is images in memory that another library has, which stays theirs:
// closing the image does not free it.
func ImageOver[P boxsum.Pixel](d *gpu.Device, f Foreign) (*gpu.Image[P], error) {
	im := new(gpu.Image[P])
	return over(im, im.Inner(launch.Key{}), d, pairs.Of[P](), f, 0, false)
}

// TableOver is tables in memory that another library has. Those that start a
// pixel before a multiple of 256 bytes, with rows of such a multiple, are
// written fastest.
func TableOver[S boxsum.Sum](d *gpu.Device, f Foreign) (*gpu.Table[S], error) {
	t := new(gpu.Table[S])
	return over(t, t.Inner(launch.Key{}), d, pairs.Of[S](), f, 1, false)
}

// TiltedTableOver is [TableOver] for tilted tables.
func TiltedTableOver[S boxsum.Sum](d *gpu.Device, f Foreign) (*gpu.TiltedTable[S], error) {
	t := new(gpu.TiltedTable[S])
	return over(t, t.Inner(launch.Key{}), d, pairs.Of[S](), f, 1, false)
}

// VolumeOver is a volume in memory that another library has: Count slices, Distance
// bytes from one to the next.
func VolumeOver[P boxsum.Pixel](d *gpu.Device, f Foreign) (*gpu.Volume[P], error) {
	v := new(gpu.Volume[P])
	return over(v, v.Inner(launch.Key{}), d, pairs.Of[P](), f, 0, true)
}

// VolumeTableOver is the table of a volume in memory that another library has.
// Count is the slices of the volume: the table has one more.
func VolumeTableOver[S boxsum.Sum](d *gpu.Device, f Foreign) (*gpu.VolumeTable[S], error) {
	t := new(gpu.VolumeTable[S])
	return over(t, t.Inner(launch.Key{}), d, pairs.Of[S](), f, 1, true)
}

// over puts foreign memory inside of something of package gpu.
func over[T any](t *T, inside *devmem.Array, d *gpu.Device, e pairs.Type, f Foreign, border int, volume bool) (*T, error) {
	a, err := inner(d).Over(e, devmem.Foreign(f), border, volume)
	if err != nil {
		return nil, err
	}
	*inside = a
	return t, nil
}

// inner is what is inside of a device, nil for none.
func inner(d *gpu.Device) *devmem.Device {
	if d == nil {
		return nil
	}
	return *d.Inner(launch.Key{})
}

// OnStream is the device with its work on a stream of the caller's, instead of
// one of its own: a CUstream, where 0 and 1 are the legacy default stream and 2
// is that of the thread, or a cl_command_queue. What is queued there before is
// done before, and what follows comes after, without waiting in between.
//
// CUDA has one context for the whole process. OpenCL has not: a device of OpenCL
// works in a context of its own, and refuses queues of any other. Those who want to
// share memory with it make their queue and their buffers in its context, which
// clGetMemObjectInfo tells of what [Take] gives.
//
// The same handle gives the same device again. It keeps some memory for that
// stream until it, or d, is closed; the stream itself stays the caller's. Where memory
// is short, calls on other streams of the device take that back, and wait for what is
// queued here.
func OnStream(d *gpu.Device, handle uintptr) (*gpu.Device, error) {
	view, err := inner(d).OnStream(handle, func(view *devmem.Device) any {
		outer := new(gpu.Device)
		*outer.Inner(launch.Key{}) = view
		return outer
	})
	if err != nil {
		return nil, err
	}
	return view.Outer.(*gpu.Device), nil
}

// Take is memory of the device of this many bytes, for a [Foreign] of the caller's
// own. It stays until [Give], or until the device is closed.
func Take(d *gpu.Device, bytes int64) (handle uintptr, err error) {
	m := inner(d)
	if err := m.Enter(); err != nil {
		return 0, err
	}
	defer m.Leave()
	if bytes < 0 {
		return 0, fmt.Errorf("gpu: %w: %d bytes of memory", boxsum.ErrInvalid, bytes)
	}
	taken, err := m.Take(bytes)
	return uintptr(taken), err
}

// Give frees what [Take] took, after the work that uses it.
func Give(d *gpu.Device, handle uintptr) error {
	m := inner(d)
	if err := m.Enter(); err != nil {
		return err
	}
	defer m.Leave()
	return m.Give(driver.Memory(handle))
}

// DeviceOf is the index of the CUDA device on which a pointer is.
func DeviceOf(pointer uintptr) (int, error) { return driver.DeviceOf(pointer) }
