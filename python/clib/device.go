package main

// #include "array.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/interop"
)

// opened is the devices that were asked for, open for the life of the process.
// Their places are the numbers by which Python knows them.
var opened struct {
	sync.Mutex
	devices []*gpu.Device
}

// boxsum_device opens a device by a name such as cuda, cuda:1 or opencl:0, unless
// it is open, and says its number.
//
//export boxsum_device
func boxsum_device(name *C.char, number *C.int64_t) *C.char {
	return guard(func() error {
		kind, at, indexed := strings.Cut(strings.ToLower(C.GoString(name)), ":")
		var kinds []gpu.Kind
		if kind != "gpu" {
			k, err := gpu.ParseKind(kind)
			if err != nil {
				return fmt.Errorf("boxsum: %w: no device is called %q: there are cpu, gpu, cuda, cuda:0, opencl, opencl:0 and so on", boxsum.ErrInvalid, C.GoString(name))
			}
			kinds = append(kinds, k)
		}
		index := 0
		if indexed {
			var err error
			if index, err = strconv.Atoi(at); err != nil || index < 0 || len(kinds) == 0 {
				return fmt.Errorf("boxsum: %w: %q names no device: cuda:0 would", boxsum.ErrInvalid, C.GoString(name))
			}
		}
		opened.Lock()
		defer opened.Unlock()
		for i, d := range opened.devices {
			info := d.Info()
			if (len(kinds) == 0 && !info.CPU || len(kinds) > 0 && info.Kind == kinds[0]) && (!indexed || info.Index == index) {
				*number = C.int64_t(i)
				return nil
			}
		}
		d, err := open(kinds, index, indexed)
		if err != nil {
			return err
		}
		*number = C.int64_t(len(opened.devices))
		opened.devices = append(opened.devices, d)
		return nil
	})
}

func open(kinds []gpu.Kind, index int, indexed bool) (*gpu.Device, error) {
	if !indexed {
		return gpu.OpenBest(kinds...)
	}
	infos, err := gpu.Devices()
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		if info.Kind == kinds[0] && info.Index == index {
			return gpu.Open(info)
		}
	}
	return nil, fmt.Errorf("gpu: %w: there is no %v:%d", gpu.ErrNoDevice, kinds[0], index)
}

// deviceOf is the device of this number, and nil for -1.
func deviceOf(number int) (*gpu.Device, error) {
	if number == -1 {
		return nil, nil
	}
	opened.Lock()
	defer opened.Unlock()
	if number < 0 || number >= len(opened.devices) {
		return nil, fmt.Errorf("gpu: %w: no device has number %d", gpu.ErrNoDevice, number)
	}
	return opened.devices[number], nil
}

// boxsum_devices is the devices of the machine as JSON, in text for the caller to
// free.
//
//export boxsum_devices
func boxsum_devices(text **C.char) *C.char {
	return guard(func() error {
		type device struct {
			Name   string `json:"name"`
			Device string `json:"device"`
			Memory int64  `json:"memory"`
			CPU    bool   `json:"cpu"`
		}
		list := []device{}
		infos, _ := gpu.Devices() // none is an empty list
		for _, i := range infos {
			list = append(list, device{i.Name, fmt.Sprintf("%v:%d", i.Kind, i.Index), i.Memory, i.CPU})
		}
		data, err := json.Marshal(list)
		if err == nil {
			*text = C.CString(string(data))
		}
		return err
	})
}

// A flatArray is an array in one piece of memory: it is faster to make in Python.
type flatArray struct {
	kind, bytes, axes, address int
	shape, strides             [4]int
}

func (f *flatArray) array() array {
	n := min(max(f.axes, 0), len(f.shape))
	return array{
		element: element{byte(f.kind), f.bytes},
		data:    unsafe.Add(unsafe.Pointer(nil), f.address), // of the device
		shape:   f.shape[:n], strides: f.strides[:n],
		flags: aligned | notSwapped | writeable,
	}
}

// boxsum_on_device queues a table of an image or volume on a stream of its device,
// where all arrays are: the image, its table, and perhaps that of the squares.
// Addresses are the device's.
//
//export boxsum_on_device
func boxsum_on_device(arrays *C.int64_t, count, kind, device C.int64_t, stream C.uintptr_t) *C.char {
	return guard(func() error {
		if count < 2 || count > 3 {
			return fmt.Errorf("boxsum: %w: %d arrays", boxsum.ErrInvalid, count)
		}
		var described [3]array
		flat := unsafe.Slice((*flatArray)(unsafe.Pointer(arrays)), count)
		for i := range flat {
			described[i] = flat[i].array()
		}
		var squares *array
		if count == 3 {
			squares = &described[2]
		}
		axes := 2
		if kind == volumeTable {
			axes = 3
		}
		j, m, err := jobOf(described[0], described[1], squares, axes, 0)
		if err != nil {
			return err
		}
		d, err := deviceOf(int(device))
		if err != nil {
			return err
		}
		if d == nil {
			return fmt.Errorf("gpu: %w: the processor has no arrays of a device", gpu.ErrNoDevice)
		}
		if j.device, err = interop.OnStream(d, uintptr(stream)); err != nil {
			return err
		}
		j.kind = int(kind)
		return m.onDevice(j)
	})
}

// foreign is a grid in device memory.
func foreign(a array, g grid, border int) interop.Foreign {
	return interop.Foreign{
		Handle: uintptr(a.data),
		Width:  g.width - border, Height: g.height - border, Channels: g.channels, Count: 1,
		Stride: int64(g.stride) * int64(a.bytes),
	}
}

// foreignSolid is a volume, or its table, in device memory.
func foreignSolid(a array, g grid, border int) interop.Foreign {
	f := foreign(a, g, border)
	f.Count, f.Distance = g.depth-border, int64(g.sliceStride)*int64(a.bytes)
	return f
}

// solidTable is the table of a volume in device memory.
func solidTable[S boxsum.Sum](j *job, to array, g grid) (*gpu.VolumeTable[S], error) {
	return interop.VolumeTableOver[S](j.device, foreignSolid(to, g, 1))
}

func onDevice[S boxsum.Sum, P boxsum.Pixel](j *job) error {
	if j.kind == volumeTable {
		v, err := interop.VolumeOver[P](j.device, foreignSolid(j.image, j.from, 0))
		if err != nil {
			return err
		}
		t, err := solidTable[S](j, j.sum, j.to)
		if err != nil {
			return err
		}
		return gpu.IntegrateVolumeInto(t, v, nil)
	}
	im, err := interop.ImageOver[P](j.device, foreign(j.image, j.from, 0))
	if err != nil {
		return err
	}
	if j.kind == tiltedTable {
		t, err := interop.TiltedTableOver[S](j.device, foreign(j.sum, j.to, 1))
		if err != nil {
			return err
		}
		return gpu.IntegrateTiltedInto(t, im, nil)
	}
	t, err := interop.TableOver[S](j.device, foreign(j.sum, j.to, 1))
	if err != nil {
		return err
	}
	return gpu.IntegrateInto(t, im, nil)
}

func onDeviceSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](j *job) error {
	if j.kind == volumeTable {
		v, err := interop.VolumeOver[P](j.device, foreignSolid(j.image, j.from, 0))
		if err != nil {
			return err
		}
		t, err := solidTable[S](j, j.sum, j.to)
		if err != nil {
			return err
		}
		q, err := solidTable[Q](j, j.squares, j.squaresTo)
		if err != nil {
			return err
		}
		return gpu.IntegrateVolumeSquaresInto(&gpu.SquaredVolumeTable[S, Q]{Sum: t, Squares: q}, v, nil)
	}
	im, err := interop.ImageOver[P](j.device, foreign(j.image, j.from, 0))
	if err != nil {
		return err
	}
	t, err := interop.TableOver[S](j.device, foreign(j.sum, j.to, 1))
	if err != nil {
		return err
	}
	q, err := interop.TableOver[Q](j.device, foreign(j.squares, j.squaresTo, 1))
	if err != nil {
		return err
	}
	return gpu.IntegrateSquaresInto(&gpu.SquaredTable[S, Q]{Sum: t, Squares: q}, im, nil)
}

// boxsum_wait waits for the work of a stream.
//
//export boxsum_wait
func boxsum_wait(device C.int64_t, stream C.uintptr_t) *C.char {
	return guard(func() error {
		d, err := deviceOf(int(device))
		if err != nil || d == nil {
			return err
		}
		if d, err = interop.OnStream(d, uintptr(stream)); err != nil {
			return err
		}
		return d.Wait()
	})
}

// boxsum_take takes memory of a device, and boxsum_give gives it back.
//
//export boxsum_take
func boxsum_take(device, bytes C.int64_t, at *C.uintptr_t) *C.char {
	return guard(func() error {
		d, err := deviceOf(int(device))
		if err != nil || d == nil {
			return err
		}
		handle, err := interop.Take(d, int64(bytes))
		*at = C.uintptr_t(handle)
		return err
	})
}

//export boxsum_give
func boxsum_give(device C.int64_t, at C.uintptr_t) *C.char {
	return guard(func() error {
		d, err := deviceOf(int(device))
		if err != nil || d == nil {
			return err
		}
		return interop.Give(d, uintptr(at))
	})
}

// boxsum_device_of says on which CUDA device an address is.
//
//export boxsum_device_of
func boxsum_device_of(at unsafe.Pointer, index *C.int64_t) *C.char {
	return guard(func() error {
		i, err := interop.DeviceOf(uintptr(at))
		*index = C.int64_t(i)
		return err
	})
}
