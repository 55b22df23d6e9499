package driver

import (
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/cuda"
)

// An end is the source or the destination of a copy, on the host or on the device.
type end struct {
	host   unsafe.Pointer // nil for the device
	device cuda.Pointer
	stride int64
}

func onHost(at unsafe.Pointer, stride int64) end { return end{host: at, stride: stride} }

func (p Plane) end() end {
	return end{device: cuda.Pointer(uintptr(p.Memory) + uintptr(p.Offset)), stride: p.Stride}
}

// row returns the end starting at row y.
func (e end) row(y int64) end {
	if e.host != nil {
		e.host = unsafe.Add(e.host, y*e.stride)
	} else {
		e.device += cuda.Pointer(y * e.stride)
	}
	return e
}

func (e end) kind() uint32 {
	if e.host != nil {
		return cuda.HostMemory
	}
	return cuda.DeviceMemory
}

func (b *CUDABackend) CopyIn(s Stream, dst Plane, src unsafe.Pointer, hostStride int64, rows Rows) error {
	return b.copy("copy to the device", s, dst.end(), onHost(src, hostStride), rows)
}

func (b *CUDABackend) CopyOut(s Stream, dst unsafe.Pointer, hostStride int64, src Plane, rows Rows) error {
	return b.copy("copy to the host", s, onHost(dst, hostStride), src.end(), rows)
}

func (b *CUDABackend) CopyWithin(s Stream, dst, src Plane, rows Rows) error {
	return b.copy("copy on the device", s, dst.end(), src.end(), rows)
}

// copy copies rows: without gaps as one piece, with gaps in one call, or one by one if the driver
// does not support such long strides.
func (b *CUDABackend) copy(what string, s Stream, dst, src end, rows Rows) error {
	if dst.stride == rows.Bytes && src.stride == rows.Bytes {
		rows.Bytes, rows.Count = rows.Bytes*rows.Count, 1
	}
	if rows.Bytes == 0 {
		return nil
	}
	return b.do(what, func() error {
		if rows.Count > 1 && max(dst.stride, src.stride) <= int64(b.maxPitch) {
			return cuda.CopyRows(&cuda.Copy2D{
				SrcType: src.kind(), SrcHost: src.host, SrcDevice: src.device, SrcPitch: uintptr(src.stride),
				DstType: dst.kind(), DstHost: dst.host, DstDevice: dst.device, DstPitch: uintptr(dst.stride),
				Width: uintptr(rows.Bytes), Height: uintptr(rows.Count),
			}, cuda.Stream(s))
		}
		for y := range rows.Count {
			if err := copyLine(dst.row(y), src.row(y), rows.Bytes, cuda.Stream(s)); err != nil {
				return err
			}
		}
		return nil
	})
}

func copyLine(dst, src end, bytes int64, s cuda.Stream) error {
	switch {
	case src.host != nil:
		return cuda.CopyIn(dst.device, src.host, bytes, s)
	case dst.host != nil:
		return cuda.CopyOut(dst.host, src.device, bytes, s)
	}
	return cuda.CopyWithin(dst.device, src.device, bytes, s)
}

func (b *CUDABackend) Fill(s Stream, dst Plane, value byte, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return b.do("fill memory", func() error { return cuda.Fill(dst.end().device, value, bytes, cuda.Stream(s)) })
}
