package main

// #include "boxsum.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/interop"
	"github.com/boxsum/boxsum/internal/raster"
)

// opened holds the devices that have been requested, which stay open for the life of the process.
// Python identifies a device by its index.
var opened struct {
	sync.Mutex
	devices []*gpu.Device
	all     int // 1 + the index of the device that combines all GPUs; 0 if not opened yet
}

// device returns the number of a device, and opens it if necessary. Its argument is a name such as
// cuda, cuda:1 or opencl:0, or all to combine all GPUs.
func device(a arguments) any {
	name := a.text(0)
	if strings.EqualFold(name, "all") {
		return everyDevice()
	}
	kind, at, indexed := strings.Cut(strings.ToLower(name), ":")
	var kinds []gpu.Kind
	if kind != "gpu" {
		k, err := gpu.ParseKind(kind)
		if err != nil {
			must(invalid("unknown device %q, want cpu, gpu, all, cuda or opencl, or a name with an index such as cuda:0", name))
		}
		kinds = append(kinds, k)
	}
	index := 0
	if indexed {
		var err error
		if index, err = strconv.Atoi(at); err != nil || index < 0 || len(kinds) == 0 {
			must(invalid("unknown device %q, want cuda or opencl before the colon and an index of 0 or more after it", name))
		}
	}
	opened.Lock()
	defer opened.Unlock()
	for i, d := range opened.devices {
		info := d.Info()
		if i+1 != opened.all && (len(kinds) == 0 && !info.CPU || len(kinds) > 0 && info.Kind == kinds[0]) && (!indexed || info.Index == index) {
			return i
		}
	}
	opened.devices = append(opened.devices, open(kinds, index, indexed))
	return len(opened.devices) - 1
}

// everyDevice returns the number of the device that combines all GPUs.
func everyDevice() int {
	opened.Lock()
	defer opened.Unlock()
	if opened.all == 0 {
		opened.devices = append(opened.devices, got(gpu.OpenAll()))
		opened.all = len(opened.devices)
	}
	return opened.all - 1
}

func open(kinds []gpu.Kind, index int, indexed bool) *gpu.Device {
	if !indexed {
		return got(gpu.OpenBest(kinds...))
	}
	for _, info := range got(gpu.Devices()) {
		if info.Kind == kinds[0] && info.Index == index {
			return got(gpu.Open(info))
		}
	}
	must(fmt.Errorf("%w: there is no %v:%d", gpu.ErrNoDevice, kinds[0], index))
	return nil
}

// device returns the device whose number is an argument, or nil for -1.
func (a arguments) device(i int) *gpu.Device {
	number := a.int(i)
	if number == -1 {
		return nil
	}
	opened.Lock()
	defer opened.Unlock()
	if number < 0 || number >= len(opened.devices) {
		must(fmt.Errorf("%w: no device has handle %d", gpu.ErrNoDevice, number))
	}
	return opened.devices[number]
}

func (a arguments) mustDevice(i int) *gpu.Device {
	d := a.device(i)
	if d == nil {
		must(fmt.Errorf("%w: the CPU has no device arrays", gpu.ErrNoDevice))
	}
	return d
}

// devices lists the devices of the machine as JSON.
func devices(arguments) any {
	type device struct {
		Name   string `json:"name"`
		Device string `json:"device"`
		Memory int64  `json:"memory"`
		CPU    bool   `json:"cpu"`
	}
	list := []device{}
	infos, _ := gpu.Devices() // no device gives an empty list
	for _, i := range infos {
		list = append(list, device{i.Name, fmt.Sprintf("%v:%d", i.Kind, i.Index), i.Memory, i.CPU})
	}
	return string(got(json.Marshal(list)))
}

// A flatArray is boxsum_flat_array: an array described in one piece of memory.
type flatArray struct {
	kind, bytes, axes, address int
	shape, strides             [4]int
}

// flat returns the arrays of a device that are described by a text, one after the other.
func (a arguments) flat(i int) []flatArray {
	v := a.get(i, C.boxsum_text)
	return unsafe.Slice((*flatArray)(v.pointer), int(v.number)/raster.SizeOf[flatArray]())
}

func (f *flatArray) array() array {
	n := min(max(f.axes, 0), len(f.shape))
	return array{
		element: element{byte(f.kind), f.bytes},
		data:    unsafe.Add(unsafe.Pointer(nil), f.address), // an address of the device
		shape:   f.shape[:n], strides: f.strides[:n],
		flags: C.boxsum_aligned | C.boxsum_not_swapped | C.boxsum_writeable,
	}
}

// onDevice queues the table of an image or volume on a stream of its device, which holds all arrays.
// Its arguments are flat arrays of the image, its table and optionally the squares, the kind of the
// table, and the numbers of the device and the stream.
func onDevice(a arguments) any {
	flat := a.flat(0)
	var second *array
	if len(flat) > 2 {
		squares := flat[2].array()
		second = &squares
	}
	j := newJob(flat[0].array(), flat[1].array(), second, a.int(1), 0)
	j.device = got(interop.OnStream(a.mustDevice(2), uintptr(a.int(3))))
	j.resident = true
	j.run()
	return nil
}

// A plan is a queued table, from which tables of the same size, types and strides can be queued with
// as little overhead as possible.
type plan struct {
	job
	owner  *gpu.Device
	tensor *interop.TensorJob  // a job for float tensors, instead of the table
	spare  atomic.Pointer[job] // a copy that can be reused
}

// plans holds the plans by number. Numbers are not reused.
var plans struct {
	sync.RWMutex
	all  map[int]*plan
	old  map[int]*plan // plans forgotten once, because a thread may be about to use one that it has just made
	last int
}

// planOnDevice returns the number of a plan. Its arguments are those of onDevice without the stream and the squares.
func planOnDevice(a arguments) any {
	flat := slices.Clone(a.flat(0)) // they contain shapes and strides
	p := &plan{owner: a.mustDevice(2)}
	if tensorOps[a.int(1)] != "" {
		p.tensor = newTensor(a)
	} else {
		image, sum := flat[0].array(), flat[1].array()
		p.set(&image, &sum, nil, a.int(1), 0)
		p.resident = true
	}
	plans.Lock()
	defer plans.Unlock()
	if plans.all == nil {
		plans.all = map[int]*plan{}
	}
	plans.last++
	plans.all[plans.last] = p
	return plans.last
}

// forgetPlans forgets all plans. Calls with the number of a forgotten plan take the slow path.
func forgetPlans(arguments) any {
	plans.Lock()
	defer plans.Unlock()
	plans.old, plans.all = plans.all, nil
	return nil
}

// planOf returns a plan by its number, if it has not been forgotten.
func planOf(number int) *plan {
	plans.RLock()
	defer plans.RUnlock()
	p := plans.all[number]
	if p == nil {
		p = plans.old[number]
	}
	if p == nil {
		must(errLayout)
	}
	return p
}

// queuePlanned queues a table from a plan.
func queuePlanned(number int, image, table, stream uintptr) {
	p := planOf(number)
	if p.tensor != nil {
		j := *p.tensor
		j.In.Handle, j.Out.Handle = image, table
		must(interop.Tensor(got(interop.OnStream(p.owner, stream)), &j))
		return
	}
	j := p.spare.Swap(nil)
	if j == nil {
		j = new(job)
		*j = p.job
	}
	j.image.data, j.sum.data = unsafe.Add(unsafe.Pointer(nil), image), unsafe.Add(unsafe.Pointer(nil), table)
	j.device = got(interop.OnStream(p.owner, stream))
	j.run()
	p.spare.Store(j)
}

// foreign returns an image, a volume or a table in device memory.
func (j *job) foreign(v *view, border int) interop.Foreign {
	f := interop.Foreign{
		Handle: uintptr(v.data),
		Width:  v.width - border, Height: v.height - border, Channels: v.channels, Count: 1,
		Stride: int64(v.stride) * int64(v.bytes),
	}
	if j.planes {
		f.Count, f.Distance = v.depth, int64(v.sliceStride)*int64(v.bytes)
	}
	if j.kind == volumeTable {
		f.Count, f.Distance = v.depth-border, int64(v.sliceStride)*int64(v.bytes)
	}
	return f
}

// queue queues the tables of arrays on a device.
func (j *job) queue() {
	t := interop.TableJob{Kind: deviceKinds[j.kind], Pixel: j.types[0].Short(), Sum: j.types[1].Short()}
	t.Image, t.Sums = j.foreign(&j.image, 0), j.foreign(&j.sum, 1)
	if j.types[2] != 0 {
		t.Square, t.Squares = j.types[2].Short(), j.foreign(&j.squares, 1)
	}
	must(interop.Tables(j.device, &t))
}

// wait waits for the work of a stream. Its arguments are the numbers of the device and the stream.
func wait(a arguments) any {
	must(got(interop.OnStream(a.mustDevice(0), uintptr(a.int(1)))).Wait())
	return nil
}

// take allocates memory on a device and returns its address; give frees it.
func take(a arguments) any { return int(got(interop.Take(a.mustDevice(0), int64(a.int(1))))) }

func give(a arguments) any {
	must(interop.Give(a.mustDevice(0), uintptr(a.int(1))))
	return nil
}

// deviceOfAddress returns the number of the CUDA device that owns an address.
func deviceOfAddress(a arguments) any { return got(interop.DeviceOf(uintptr(a.int(0)))) }

// timeHost makes a table many times and returns the shortest time in nanoseconds, for comparison with
// calls from Python. Its arguments are an image, a table, its squares or None, and the number of runs.
func timeHost(a arguments) any {
	best := time.Duration(1 << 62)
	for range a.int(3) {
		start := time.Now()
		usual(a)
		best = min(best, time.Since(start))
	}
	return int(best)
}

// collect returns unused memory to the system, so that the remaining use can be observed.
func collect(arguments) any {
	runtime.GC() // pools are emptied in the second round
	debug.FreeOSMemory()
	return nil
}

// timeDevice returns the median time in nanoseconds that a device takes for a uint32 table of 8-bit
// pixels, using only package gpu. Its arguments are width, height, the device's number and the number
// of runs. With no runs, it returns how long the caller waits for one.
func timeDevice(a arguments) any {
	width, height, d, runs := a.int(0), a.int(1), a.mustDevice(2), a.int(3)
	im := got(gpu.NewImage[uint8](d, width, height, 1, 1))
	defer im.Close()
	t := got(gpu.NewTable[uint32](d, width, height, 1, 1))
	defer t.Close()
	var times []time.Duration
	if runs > 0 {
		times = got(d.Time(runs, func() error { return gpu.IntegrateInto(t, im, nil) }))
	}
	for i := 0; i < 20 && runs == 0; i++ {
		start := time.Now()
		must(gpu.IntegrateInto(t, im, nil))
		must(d.Wait())
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return int(times[len(times)/2])
}
