package devmem

import "unsafe"

// A Host is rows of values in host memory.
type Host struct {
	At     unsafe.Pointer
	Stride int64 // in bytes
}

// HostRows returns a slice, whose size must have been checked, as a Host.
func HostRows[T any](values []T, stride int) Host {
	return Host{unsafe.Pointer(unsafe.SliceData(values)), int64(stride) * int64(unsafe.Sizeof(*new(T)))}
}

// Row returns the address of row y.
func (h Host) Row(y int64) unsafe.Pointer { return unsafe.Add(h.At, y*h.Stride) }

// From returns the rows from y on.
func (h Host) From(y int) Host { return Host{h.Row(int64(y)), h.Stride} }

// CopyIn copies image i from the host and waits, so that the caller may reuse its memory.
func (a *Array) CopyIn(i int, src Host) error {
	if a.Width == 0 || a.Height == 0 {
		return nil
	}
	return a.Device.CopyIn(a.At.Image(i), src, a.Rows())
}

// CopyOut copies table i to the host.
func (a *Array) CopyOut(i int, dst Host) error { return a.Device.CopyOut(dst, a.At.Image(i), a.Rows()) }
