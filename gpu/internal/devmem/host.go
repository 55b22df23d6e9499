package devmem

import (
	"runtime"
	"unsafe"
)

// A Host is rows of values in memory of the host.
type Host struct {
	At     unsafe.Pointer
	Stride int64 // bytes
}

// HostRows is the host's view of a slice, whose size was checked.
func HostRows[T any](values []T, stride int) Host {
	return Host{unsafe.Pointer(unsafe.SliceData(values)), int64(stride) * int64(unsafe.Sizeof(*new(T)))}
}

// Row is where row y begins.
func (h Host) Row(y int64) unsafe.Pointer { return unsafe.Add(h.At, y*h.Stride) }

// From is the rows from y on.
func (h Host) From(y int) Host { return Host{h.Row(int64(y)), h.Stride} }

// CopyIn copies image i from the host and waits for it: the caller may then do
// with its memory what it likes.
func (a *Array) CopyIn(i int, src Host) error {
	if a.Width == 0 || a.Height == 0 {
		return nil
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(src.At)
	b, s := a.Device.Backend, a.Device.Stream
	if err := b.CopyIn(s, a.At.Image(i), src.At, src.Stride, a.Rows()); err != nil {
		return err
	}
	return b.Wait(s)
}

// CopyOut copies table i to the host.
func (a *Array) CopyOut(i int, dst Host) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(dst.At)
	b, s := a.Device.Backend, a.Device.Stream
	if err := b.CopyOut(s, dst.At, dst.Stride, a.At.Image(i), a.Rows()); err != nil {
		return err
	}
	return b.Wait(s)
}
