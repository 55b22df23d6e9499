package gpu

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/internal/opencl"
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
func ImageOver[P boxsum.Pixel](d *Device, f Foreign) (*Image[P], error) {
	a, err := d.over(elementOf[P](), f, 0)
	if err != nil {
		return nil, err
	}
	return &Image[P]{a}, nil
}

// TableOver is tables in memory that another library has. Those that start a
// pixel before a multiple of 256 bytes, with rows of such a multiple, are
// written fastest.
func TableOver[S boxsum.Sum](d *Device, f Foreign) (*Table[S], error) {
	a, err := d.over(elementOf[S](), f, 1)
	if err != nil {
		return nil, err
	}
	return &Table[S]{array: a}, nil
}

// TiltedTableOver is [TableOver] for tilted tables.
func TiltedTableOver[S boxsum.Sum](d *Device, f Foreign) (*TiltedTable[S], error) {
	a, err := d.over(elementOf[S](), f, 1)
	if err != nil {
		return nil, err
	}
	return &TiltedTable[S]{a}, nil
}

// VolumeOver is a volume in memory that another library has: Count slices, Distance
// bytes from one to the next.
func VolumeOver[P boxsum.Pixel](d *Device, f Foreign) (*Volume[P], error) {
	s, err := d.solidOver(elementOf[P](), f, 0)
	if err != nil {
		return nil, err
	}
	return &Volume[P]{s}, nil
}

// VolumeTableOver is the table of a volume in memory that another library has.
// Count is the slices of the volume: the table has one more.
func VolumeTableOver[S boxsum.Sum](d *Device, f Foreign) (*VolumeTable[S], error) {
	s, err := d.solidOver(elementOf[S](), f, 1)
	if err != nil {
		return nil, err
	}
	return &VolumeTable[S]{solid: s}, nil
}

func (d *Device) solidOver(e element, f Foreign, border int) (solid, error) {
	depth := f.Count
	if depth < 0 || depth > math.MaxInt32-2 {
		return solid{}, fmt.Errorf("gpu: %w: a volume of %d slices", boxsum.ErrInvalid, depth)
	}
	f.Count = depth + border
	a, err := d.over(e, f, border)
	return solid{slices: a, depth: depth}, err
}

// over checks foreign memory as far as that is possible.
func (d *Device) over(e element, f Foreign, border int) (array, error) {
	if err := d.enter(); err != nil {
		return array{}, err
	}
	defer d.leave()
	a := array{device: d, element: e, width: f.Width, height: f.Height, channels: f.Channels, count: f.Count, border: border}
	if a.count == 0 {
		a.count = 1
	}
	if _, err := a.lay(); err != nil {
		return array{}, err
	}
	row, rows, value := a.rowBytes(), int64(a.height+border), int64(e.bytes())
	if rows < 2 && f.Stride == 0 {
		f.Stride = row
	}
	image, ok := extent(f.Stride, max(rows-1, 0), row)
	all := image
	if ok && a.count > 1 {
		all, ok = extent(f.Distance, int64(a.count-1), image)
	}
	switch {
	case f.Handle == 0 && row*rows > 0 || f.Offset < 0:
		return array{}, fmt.Errorf("gpu: %w: %s at no address", boxsum.ErrInvalid, &a)
	case f.Stride%value != 0 || f.Distance%value != 0 || (int64(f.Handle)+f.Offset)%value != 0:
		return array{}, fmt.Errorf("gpu: %w: %s must start, and have rows, on multiples of %d bytes", boxsum.ErrInvalid, &a, value)
	case f.Stride < row || a.count > 1 && f.Distance < image:
		return array{}, fmt.Errorf("gpu: %w: %s with rows %d bytes apart and images %d apart, which overlap", boxsum.ErrInvalid, &a, f.Stride, f.Distance)
	case !ok || all > math.MaxInt64-f.Offset || uint64(f.Handle) > uint64(math.MaxInt64-f.Offset-all):
		return array{}, fmt.Errorf("gpu: %w: %s with rows %d bytes apart and images %d apart, which is more than memory can hold", boxsum.ErrInvalid, &a, f.Stride, f.Distance)
	}
	a.at = batch{plane{memory(f.Handle), f.Offset, f.Stride}, f.Distance}
	if d.about.Kind == CUDA {
		// Kernels take it that memory itself starts on such a multiple.
		address := int64(f.Handle) + f.Offset
		a.at.memory, a.at.offset = memory(address&^(tableLine-1)), address&(tableLine-1)
	}
	if f.Handle == 0 { // nothing to read: it only must not look closed
		a.at.memory = 1
	}
	return a, nil
}

// extent is the bytes from the beginning of the first of several things to the end of
// the last, and whether they fit: the last begins so many distances on.
func extent(distance, last, bytes int64) (int64, bool) {
	before, ok := product(distance, last)
	if !ok || before > math.MaxInt64-bytes {
		return 0, false
	}
	return before + bytes, true
}

// OnStream is the device with its work on a stream of the caller's, instead of
// one of its own: a CUstream, where 0 and 1 are the legacy default stream and 2
// is that of the thread, or a cl_command_queue. What is queued there before is
// done before, and what follows comes after, without waiting in between.
//
// CUDA has one context for the whole process. OpenCL has not: a device of OpenCL
// works in a context of its own, and refuses queues of any other. Those who want to
// share memory with it make their queue and their buffers in its context, which
// clGetMemObjectInfo tells of what [Device.Take] gives.
//
// The same handle gives the same device again. It keeps some memory for that
// stream until it, or d, is closed; the stream itself stays the caller's. Where memory
// is short, calls on other streams of the device take that back, and wait for what is
// queued here.
func (d *Device) OnStream(handle uintptr) (*Device, error) {
	if d != nil && d.lender != nil {
		return d.lender.OnStream(handle)
	}
	if err := d.enter(); err != nil { // Close waits, and closes what this makes
		return nil, err
	}
	defer d.leave()
	d.mu.Lock()
	g := d.guests[stream(handle)]
	d.mu.Unlock()
	if g != nil {
		return g, nil
	}
	if b, ok := d.backend.(*openCLBackend); ok {
		if err := b.checkQueue(opencl.Queue(handle)); err != nil {
			return nil, err
		}
	}
	if err := d.hold(); err != nil {
		return nil, err
	}
	g = &Device{
		backend: d.backend, about: d.about, stream: stream(handle), lender: d, holds: 1,
		held: map[memory]struct{}{}, spaces: map[spaceKey]space{},
	}
	g.idle.L = &g.life
	d.mu.Lock()
	other := d.guests[g.stream]
	if other == nil {
		if d.guests == nil {
			d.guests = map[stream]*Device{}
		}
		d.guests[g.stream] = g
	}
	d.mu.Unlock()
	if other != nil { // it was faster
		return other, d.release()
	}
	return g, nil
}

// fenced queues the work of a guest after its work before, also where that was
// on another stream: handles come back when streams are destroyed, and 2 is one
// for every thread.
func (d *Device) fenced(f func() error) error {
	if d.lasting() {
		return f()
	}
	if d.fence != 0 {
		if err := d.backend.waitFor(d.stream, d.fence); err != nil {
			return err
		}
	}
	return firstError(f(), d.mark())
}

// lasting says whether the stream of a guest is the legacy default stream, which
// nobody can destroy.
func (d *Device) lasting() bool { return d.about.Kind == CUDA && d.stream <= 1 }

// mark puts the fence behind all work of a guest.
func (d *Device) mark() error {
	if b, ok := d.backend.(*cudaBackend); ok && d.fence != 0 {
		return b.do("record an event", func() error { return cuda.Event(d.fence).Record(cuda.Stream(d.stream)) })
	}
	fence, err := d.backend.record(d.stream)
	if err != nil {
		return err
	}
	fence, d.fence = d.fence, fence
	if fence == 0 {
		return nil
	}
	return d.backend.freeEvent(fence)
}

// drain waits for the work of a device that is about to close. The stream of a
// guest may be gone by then.
func (d *Device) drain() error {
	switch {
	case d.lender == nil || d.lasting():
		return d.backend.wait(d.stream)
	case d.fence != 0:
		return d.backend.waitEvent(d.fence)
	}
	return nil
}

// family is the devices that share their memory with d: its lender, and what OnStream
// made.
func (d *Device) family() []*Device {
	first := d
	if d.lender != nil {
		first = d.lender
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	return slices.AppendSeq([]*Device{first}, maps.Values(first.guests))
}

// closeGuests closes what OnStream made.
func (d *Device) closeGuests() error {
	d.mu.Lock()
	guests := d.guests
	d.guests = nil
	d.mu.Unlock()
	var errs []error
	for _, g := range guests {
		errs = append(errs, g.Close())
	}
	return firstError(errs...)
}

// takeLeave makes OnStream forget a guest that is closing: the next one with its
// stream shares nothing with it.
func (d *Device) takeLeave() {
	d.lender.mu.Lock()
	defer d.lender.mu.Unlock()
	if d.lender.guests[d.stream] == d {
		delete(d.lender.guests, d.stream)
	}
}

// depart is the end of a guest, whose memory is free.
func (d *Device) depart() error {
	var err error
	if d.fence != 0 {
		err = d.backend.freeEvent(d.fence)
	}
	return firstError(err, d.lender.release())
}

// Take is so many bytes of the device's memory, for a [Foreign] of the caller's
// own. It stays until Give, or until the device is closed.
func (d *Device) Take(bytes int64) (handle uintptr, err error) {
	if err := d.enter(); err != nil {
		return 0, err
	}
	defer d.leave()
	if bytes < 0 {
		return 0, fmt.Errorf("gpu: %w: %d bytes of memory", boxsum.ErrInvalid, bytes)
	}
	m, err := d.take(bytes)
	return uintptr(m), err
}

// Give frees what Take took, after the work that uses it.
func (d *Device) Give(handle uintptr) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return d.give(memory(handle))
}

// DeviceOf is the index of the CUDA device on which a pointer is.
func DeviceOf(pointer uintptr) (int, error) {
	if err := cuda.Load(); err != nil {
		return 0, fmt.Errorf("gpu: %w: cuda: %w", ErrNoDevice, oneLine{err})
	}
	index, err := cuda.Pointer(pointer).Device()
	if err != nil {
		return 0, cudaError("find the device of a pointer", err)
	}
	return index, nil
}
