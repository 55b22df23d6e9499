package main

// #include "boxsum.h"
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
	"github.com/boxsum/boxsum/internal/grid"
)

// opened is the devices that were asked for, open for the life of the process.
// Their places are the numbers by which Python knows them.
var opened struct {
	sync.Mutex
	devices []*gpu.Device
}

// device opens a device by a name such as cuda, cuda:1 or opencl:0, unless it is
// open, and is its number.
func device(a arguments) (any, error) {
	name := a.text(0)
	kind, at, indexed := strings.Cut(strings.ToLower(name), ":")
	var kinds []gpu.Kind
	if kind != "gpu" {
		k, err := gpu.ParseKind(kind)
		if err != nil {
			return nil, invalid("no device is called %q: there are cpu, gpu, cuda, cuda:0, opencl, opencl:0 and so on", name)
		}
		kinds = append(kinds, k)
	}
	index := 0
	if indexed {
		var err error
		if index, err = strconv.Atoi(at); err != nil || index < 0 || len(kinds) == 0 {
			return nil, invalid("%q names no device: cuda:0 would", name)
		}
	}
	opened.Lock()
	defer opened.Unlock()
	for i, d := range opened.devices {
		info := d.Info()
		if (len(kinds) == 0 && !info.CPU || len(kinds) > 0 && info.Kind == kinds[0]) && (!indexed || info.Index == index) {
			return i, nil
		}
	}
	d, err := open(kinds, index, indexed)
	if err != nil {
		return nil, err
	}
	opened.devices = append(opened.devices, d)
	return len(opened.devices) - 1, nil
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

// mustDevice is the device of an argument, which must be one.
func (a arguments) mustDevice(i int) *gpu.Device {
	d, err := deviceOf(a.int(i))
	must(err)
	if d == nil {
		must(fmt.Errorf("gpu: %w: the processor has no arrays of a device", gpu.ErrNoDevice))
	}
	return d
}

// devices is the devices of the machine as JSON.
func devices(arguments) (any, error) {
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
	return string(data), err
}

// A flatArray is boxsum_flat_array: an array in one piece of memory.
type flatArray struct {
	kind, bytes, axes, address int
	shape, strides             [4]int
}

// flat is arrays of a device that a text describes, one behind the other.
func (a arguments) flat(i int) []flatArray {
	v := a.of(i, C.boxsum_text)
	return unsafe.Slice((*flatArray)(v.pointer), int(v.number)/grid.SizeOf[flatArray]())
}

func (f *flatArray) array() array {
	n := min(max(f.axes, 0), len(f.shape))
	return array{
		element: element{byte(f.kind), f.bytes},
		data:    unsafe.Add(unsafe.Pointer(nil), f.address), // of the device
		shape:   f.shape[:n], strides: f.strides[:n],
		flags: C.boxsum_aligned | C.boxsum_not_swapped | C.boxsum_writeable,
	}
}

// onDevice queues a table of an image or volume on a stream of its device, where
// all arrays are. It takes flat arrays of the image, its table and perhaps that of
// the squares, the kind of the table, and the numbers of the device and the stream.
func onDevice(a arguments) (any, error) {
	flat := a.flat(0)
	var second *array
	if len(flat) > 2 {
		squares := flat[2].array()
		second = &squares
	}
	j, p, err := newJob(flat[0].array(), flat[1].array(), second, a.int(1), 0)
	if err != nil {
		return nil, err
	}
	if j.device, err = a.mustDevice(2).OnStream(uintptr(a.int(3))); err != nil {
		return nil, err
	}
	return nil, j.runOnDevice(p)
}

// runOnDevice makes the tables where the arrays are.
func (j *job) runOnDevice(p *pair) error {
	if j.squares.bytes != 0 {
		return p.squaresOnDevice[j.squareType()](j)
	}
	return p.sumsOnDevice(j)
}

// foreign is an image, a volume or a table in device memory.
func (j *job) foreign(v view, border int) gpu.Foreign {
	f := gpu.Foreign{
		Handle: uintptr(v.data),
		Width:  v.width - border, Height: v.height - border, Channels: v.channels, Count: 1,
		Stride: int64(v.stride) * int64(v.bytes),
	}
	if j.kind == volumeTable {
		f.Count, f.Distance = v.depth-border, int64(v.sliceStride)*int64(v.bytes)
	}
	return f
}

// queue lays an image and a table over arrays of a device, and queues their work.
func queue[T, I any](j *job, to view, table func(*gpu.Device, gpu.Foreign) (T, error), image func(*gpu.Device, gpu.Foreign) (I, error), integrate func(T, I, *gpu.Options) error) error {
	src, err := image(j.device, j.foreign(j.image, 0))
	if err != nil {
		return err
	}
	dst, err := table(j.device, j.foreign(to, 1))
	if err != nil {
		return err
	}
	return integrate(dst, src, nil)
}

func sumsOnDevice[S boxsum.Sum, P boxsum.Pixel](j *job) error {
	switch j.kind {
	case volumeTable:
		return queue(j, j.sum, gpu.VolumeTableOver[S], gpu.VolumeOver[P], gpu.IntegrateVolumeInto[S, P])
	case tiltedTable:
		return queue(j, j.sum, gpu.TiltedTableOver[S], gpu.ImageOver[P], gpu.IntegrateTiltedInto[S, P])
	}
	return queue(j, j.sum, gpu.TableOver[S], gpu.ImageOver[P], gpu.IntegrateInto[S, P])
}

func squaresOnDevice[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](j *job) error {
	if j.kind == volumeTable {
		if err := sumsOnDevice[S, P](j); err != nil {
			return err
		}
		return queue(j, j.squares, gpu.VolumeTableOver[Q], gpu.VolumeOver[P], gpu.IntegrateVolumeSquaresInto[Q, P])
	}
	return queue(j, j.sum, gpu.TableOver[S], gpu.ImageOver[P], func(t *gpu.Table[S], im *gpu.Image[P], opt *gpu.Options) error {
		q, err := gpu.TableOver[Q](j.device, j.foreign(j.squares, 1))
		if err != nil {
			return err
		}
		return gpu.IntegrateSquaresInto(&gpu.SquaredTable[S, Q]{Sum: t, Squares: q}, im, opt)
	})
}

// wait waits for the work of a stream. It takes the numbers of device and stream.
func wait(a arguments) (any, error) {
	d, err := a.mustDevice(0).OnStream(uintptr(a.int(1)))
	if err != nil {
		return nil, err
	}
	return nil, d.Wait()
}

// take takes memory of a device, and is its address; give gives it back.
func take(a arguments) (any, error) {
	handle, err := a.mustDevice(0).Take(int64(a.int(1)))
	return int(handle), err
}

func give(a arguments) (any, error) { return nil, a.mustDevice(0).Give(uintptr(a.int(1))) }

// deviceOfAddress is the number of the CUDA device where an address is.
func deviceOfAddress(a arguments) (any, error) {
	index, err := gpu.DeviceOf(uintptr(a.int(0)))
	return index, err
}
