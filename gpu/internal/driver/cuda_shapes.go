package driver

import (
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/kernels/jobs"
	"github.com/boxsum/boxsum/internal/raster"
)

// A PlaneKey identifies a one-pass kernel for images: a path of package kernels, the types, and the
// number of channels. Square is 0 without squares.
type PlaneKey struct {
	Path               string
	Pixel, Sum, Square raster.Type
	Channels           int
}

// A PlaneKernel is a loaded one-pass kernel for images and its shape.
type PlaneKernel struct {
	*Kernel // nil if there is no kernel for the key
	jobs.PlaneShape
}

// PlaneKernel returns the kernel for a key, and loads it on first use. It remembers kernels by key:
// composing a name would take longer than a launch.
func (b *CUDABackend) PlaneKernel(key PlaneKey) (k PlaneKernel, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, ok := b.planes[key]
	if ok {
		return k, nil
	}
	if kernels.HasPath(key.Path, key.types(), key.Channels) {
		k.Kernel, err = b.load(key.Module(), key.String())
		if err == nil {
			err = b.readShape(k.Kernel, unsafe.Slice((*byte)(unsafe.Pointer(&k.PlaneShape)), unsafe.Sizeof(k.PlaneShape)))
		}
		if err == nil {
			err = b.prepare(k.Kernel, int(k.Threads), int(k.Shared), int(k.JobBytes), unsafe.Sizeof(jobs.PlanePass{}))
		}
	}
	if err != nil {
		return PlaneKernel{}, err
	}
	b.planes[key] = k
	return k, nil
}

// Module returns the module of the kernel.
func (k PlaneKey) Module() string {
	switch {
	case k.Path != kernels.TilePath:
		return "small"
	case k.Square != 0:
		return "squares"
	}
	return "sums"
}

// String returns the name of the kernel.
func (k PlaneKey) String() string { return kernels.PlaneKernel(k.Path, k.types(), k.Channels) }

// types returns the names of the types in kernels, where i64 and u64 are the same sums.
func (k PlaneKey) types() kernels.Types {
	t := kernels.Types{Pixel: k.Pixel.Short(), Sum: k.Sum.Bits().Short()}
	if k.Square != 0 {
		t.Square = k.Square.Bits().Short()
	}
	return t
}

// A VolumeKernel is a loaded one-pass kernel for volumes and its shape.
type VolumeKernel struct {
	*Kernel
	jobs.VolumeShape
	Planes *Kernel // adds up slabs along z
}

// VolumeKernel returns the kernel with a name, and loads it on first use.
func (b *CUDABackend) VolumeKernel(name string) (k VolumeKernel, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, ok := b.volumes[name]
	if ok {
		return k, nil
	}
	module := kernels.Module(name)
	k.Kernel, err = b.load(module, name)
	if err == nil {
		err = b.readShape(k.Kernel, unsafe.Slice((*byte)(unsafe.Pointer(&k.VolumeShape)), unsafe.Sizeof(k.VolumeShape)))
	}
	if err == nil {
		err = b.prepare(k.Kernel, int(k.Threads), int(k.Shared), int(k.JobBytes), unsafe.Sizeof(jobs.VolumePass{}))
	}
	if err == nil {
		k.Planes, err = b.load(module, kernels.VolumePassPlanes(name))
	}
	if err != nil {
		return VolumeKernel{}, err
	}
	b.volumes[name] = k
	return k, nil
}

// readShape reads the shape of a kernel, which the module holds in the variable shape_NAME.
func (b *CUDABackend) readShape(k *Kernel, shape []byte) error {
	return b.do("ask for the shape of "+k.Name, func() error {
		return cuda.WithRelaxedCapture(func() error { return k.module.Global("shape_"+k.Name, shape) })
	})
}

// prepare reserves what the blocks of a kernel need, and determines how many of them the device
// runs at once. takes is the size of the kernel's job and must be that of ours.
func (b *CUDABackend) prepare(k *Kernel, threads, shared, takes int, job uintptr) error {
	if takes != int(job) {
		return deviceError("CUDA: %s has arguments of %d bytes: run make kernels", k.Name, takes)
	}
	if shared > 0 { // up to 48 KiB need no attribute
		if err := b.do("reserve shared memory", func() error { return k.function.SetAttribute(cuda.MaxDynamicShared, shared) }); err != nil {
			return err
		}
	}
	return b.occupy(k, threads, shared)
}
