package driver

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/boxsum/boxsum/gpu/internal/opencl"
	"github.com/boxsum/boxsum/internal/raster"
)

// openCLDrivers is held while devices are listed, opened and closed: PoCL initializes its devices
// when they are first listed, may release them with the last context, and crashes if another thread
// queries them meanwhile.
var openCLDrivers sync.Mutex

// openCLDevices lists the devices of all OpenCL drivers.
func openCLDevices() ([]Info, error) {
	openCLDrivers.Lock()
	defer openCLDrivers.Unlock()
	var infos []Info
	_, err := eachOpenCL(func(_ opencl.Device, info Info) bool {
		infos = append(infos, info)
		return true
	})
	return infos, err
}

// eachOpenCL calls f for every device that the kernels can run on, until f returns false. The error
// is about devices and drivers that were skipped. The caller holds openCLDrivers.
func eachOpenCL(f func(opencl.Device, Info) bool) (*opencl.Driver, error) {
	driver, err := opencl.Load()
	if err != nil {
		return nil, err
	}
	platforms, err := driver.Platforms()
	if err != nil {
		return nil, err
	}
	if len(platforms) == 0 {
		return nil, errors.New("no OpenCL driver is installed")
	}
	var reasons []error
	index := 0
	for i, p := range platforms {
		devices, err := driver.Devices(p)
		if err != nil { // without its name: the driver may fail to report that too
			reasons = append(reasons, fmt.Errorf("driver %d of %d: %w", i+1, len(platforms), err))
		}
		for _, d := range devices {
			info, err := describeOpenCL(driver, d)
			if err != nil {
				reasons = append(reasons, err)
				continue
			}
			info.Index = index
			index++
			if !f(d, info) {
				return driver, nil
			}
		}
	}
	if index == 0 && len(reasons) == 0 {
		reasons = append(reasons, errors.New("the OpenCL drivers report no devices"))
	}
	return driver, errors.Join(reasons...)
}

func describeOpenCL(driver *opencl.Driver, d opencl.Device) (Info, error) {
	info := Info{Kind: OpenCL}
	var err error
	text := func(what uint32) (s string) {
		if err == nil {
			s, err = driver.DeviceString(d, what)
		}
		return s
	}
	number := func(what uint32) (n int64) {
		if err == nil {
			n, err = driver.DeviceNumber(d, what)
		}
		return n
	}
	info.Name, info.Vendor, info.Driver = text(opencl.DeviceName), text(opencl.DeviceVendor), text(opencl.DriverVersion)
	info.Memory, info.Units = number(opencl.DeviceGlobalMemSize), int(number(opencl.DeviceMaxComputeUnits))
	info.CPU = number(opencl.DeviceType)&opencl.DeviceTypeCPU != 0
	usable := number(opencl.DeviceAvailable) != 0 && number(opencl.DeviceCompilerAvailable) != 0
	version := text(opencl.DeviceVersion) // "OpenCL 3.0 " followed by vendor-specific text
	if err != nil {
		return info, err
	}
	if !usable {
		return info, fmt.Errorf("%s: the device or its compiler is not available", info.Name)
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "OpenCL %d.%d", &major, &minor); err != nil || major*10+minor < 12 {
		return info, fmt.Errorf("%s: %s, want OpenCL 1.2 or newer", info.Name, version)
	}
	info.Version = fmt.Sprintf("%d.%d", major, minor)
	return info, nil
}

// An OpenCLBackend is an OpenCL device in a context of its own.
type OpenCLBackend struct {
	tracer
	about    Info
	driver   *opencl.Driver
	device   opencl.Device
	context  opencl.Context
	queue    opencl.Queue // for mapping memory
	maxAlloc int64
	maxGroup int
	float64  bool // supports 64-bit floats

	mu       sync.Mutex
	sizes    map[Memory]int64 // sizes of allocated memory
	taken    int64            // their sum
	pinned   []HostMemory
	programs programs
}

func openOpenCL(info Info) (Backend, error) {
	openCLDrivers.Lock()
	defer openCLDrivers.Unlock()
	var found opencl.Device
	driver, err := eachOpenCL(func(d opencl.Device, i Info) bool {
		if i.Index == info.Index {
			found, info = d, i
		}
		return found == 0
	})
	if found == 0 {
		if err == nil {
			err = fmt.Errorf("no device %d", info.Index)
		}
		return nil, fmt.Errorf("%w: OpenCL: %w", ErrNoDevice, OneLine{err})
	}
	b := &OpenCLBackend{about: info, driver: driver, device: found, sizes: map[Memory]int64{}, programs: newPrograms()}
	if err := b.open(); err != nil {
		return nil, FirstError(openCLError("open the device", err), b.release())
	}
	return b, nil
}

func (b *OpenCLBackend) open() (err error) {
	if b.maxAlloc, err = b.driver.DeviceNumber(b.device, opencl.DeviceMaxMemAllocSize); err != nil {
		return err
	}
	group, err := b.driver.DeviceNumber(b.device, opencl.DeviceMaxWorkGroupSize)
	if err != nil {
		return err
	}
	b.maxGroup = int(min(max(group, 0), math.MaxInt32))
	extensions, err := b.driver.DeviceString(b.device, opencl.DeviceExtensions)
	if err != nil {
		return err
	}
	b.float64 = slices.Contains(strings.Fields(extensions), "cl_khr_fp64")
	if b.context, err = b.driver.CreateContext(b.device); err != nil {
		return err
	}
	b.queue, err = b.driver.CreateQueue(b.context, b.device, 0)
	return err
}

// CheckStream rejects queues of other contexts: the backend's memory is in a context of its own,
// which they cannot access.
func (b *OpenCLBackend) CheckStream(s Stream) error {
	context, err := b.driver.QueueContext(opencl.Queue(s))
	if err != nil {
		return openCLError("query a queue", err)
	}
	if context != b.context {
		return fmt.Errorf("%w: OpenCL: the queue belongs to another context (make it in the context of memory from interop.Take)", ErrNoDevice)
	}
	return nil
}

// openCLError adds what failed, and wraps ErrMemory if memory was short.
func openCLError(what string, err error) error {
	if err == nil {
		return nil
	}
	var failed *opencl.Error
	if errors.As(err, &failed) {
		switch failed.Code {
		case opencl.MemObjectAllocation, opencl.OutOfResources, opencl.OutOfHostMemory, opencl.InvalidBufferSize:
			return raster.OutOfMemory("OpenCL: %s: %w", what, err)
		}
	}
	return deviceError("OpenCL: %s: %w", what, err)
}

// CUDA returns nil.
func (b *OpenCLBackend) CUDA() *CUDABackend { return nil }

// Follow calls WaitFor: OpenCL has no graphs.
func (b *OpenCLBackend) Follow(s Stream, e Event) (graph bool, err error) {
	if e == 0 {
		return false, nil
	}
	return false, b.WaitFor(s, e)
}

// AllocInGraph calls Alloc: OpenCL has no graphs.
func (b *OpenCLBackend) AllocInGraph(_ Stream, bytes int64) (Memory, error) { return b.Alloc(bytes) }

// FreeInGraph calls Free: OpenCL has no graphs.
func (b *OpenCLBackend) FreeInGraph(_ Stream, m Memory) error { return b.Free(m) }
