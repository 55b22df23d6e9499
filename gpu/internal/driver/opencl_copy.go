package driver

import (
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/opencl"
)

func (b *OpenCLBackend) CopyIn(s Stream, dst Plane, src unsafe.Pointer, hostStride int64, rows Rows) error {
	q, m, wait := opencl.Queue(s), opencl.Memory(dst.Memory), !b.isPinned(src)
	return b.copy(s, "copy to the device", dst, Plane{Stride: hostStride}, rows,
		func(r opencl.Region) error { return b.driver.Write(q, m, wait, dst.Offset, r.Bytes, src) },
		func(r opencl.Region) error { return b.driver.WriteRows(q, m, wait, r, src) })
}

func (b *OpenCLBackend) CopyOut(s Stream, dst unsafe.Pointer, hostStride int64, src Plane, rows Rows) error {
	q, m, wait := opencl.Queue(s), opencl.Memory(src.Memory), !b.isPinned(dst)
	return b.copy(s, "copy to the host", src, Plane{Stride: hostStride}, rows,
		func(r opencl.Region) error { return b.driver.Read(q, m, wait, src.Offset, r.Bytes, dst) },
		func(r opencl.Region) error { return b.driver.ReadRows(q, m, wait, r, dst) })
}

func (b *OpenCLBackend) CopyWithin(s Stream, dst, src Plane, rows Rows) error {
	q, to, from := opencl.Queue(s), opencl.Memory(dst.Memory), opencl.Memory(src.Memory)
	return b.copy(s, "copy on the device", dst, src, rows,
		func(r opencl.Region) error { return b.driver.Copy(q, to, from, dst.Offset, src.Offset, r.Bytes) },
		func(r opencl.Region) error { return b.driver.CopyRows(q, to, from, r) })
}

// copy queues a copy, as one run of bytes if rows have no gaps.
func (b *OpenCLBackend) copy(s Stream, what string, buffer, other Plane, rows Rows, whole, apart func(opencl.Region) error) error {
	region, one := copyRegion(buffer, other, rows)
	switch {
	case region.Bytes == 0:
		return nil
	case one:
		return b.flushed(s, what, whole(region))
	}
	return b.flushed(s, what, apart(region))
}

// copyRegion returns the region to copy, and whether it is one run of bytes.
func copyRegion(buffer, other Plane, rows Rows) (r opencl.Region, whole bool) {
	if rows.Count == 0 || rows.Bytes == 0 {
		return opencl.Region{}, false
	}
	r = opencl.Region{
		Bytes: rows.Bytes, Rows: rows.Count,
		BufferStart: buffer.Offset, BufferPitch: buffer.Stride,
		OtherStart: other.Offset, OtherPitch: other.Stride,
	}
	if rows.Count == 1 || buffer.Stride == rows.Bytes && other.Stride == rows.Bytes {
		r.Bytes, r.Rows = rows.Bytes*rows.Count, 1
		return r, true
	}
	return r, false
}

func (b *OpenCLBackend) Fill(s Stream, dst Plane, value byte, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return b.flushed(s, "fill memory", b.driver.Fill(opencl.Queue(s), opencl.Memory(dst.Memory), value, dst.Offset, bytes))
}

func (b *OpenCLBackend) Launch(s Stream, kernel string, groups, group int, args ...Arg) error {
	b.mu.Lock() // a kernel keeps its arguments from one launch to the next
	defer b.mu.Unlock()
	k, err := b.kernel(kernel, group)
	if err != nil {
		return err
	}
	b.note(launched{name: kernel, function: uintptr(k), grid: [3]int{groups, 1, 1}, block: [3]int{group, 1, 1}})
	for i, a := range args {
		if err := b.driver.SetArg(k, i, a.size, a.at); err != nil {
			return openCLError(fmt.Sprintf("argument %d of kernel %s", i, kernel), err)
		}
	}
	global, local := [3]uintptr{uintptr(groups) * uintptr(group), 1, 1}, [3]uintptr{uintptr(group), 1, 1}
	return b.flushed(s, "run "+kernel, b.driver.Launch(opencl.Queue(s), k, global, local))
}

// Describe returns what OpenCL knows about a kernel.
func (b *OpenCLBackend) Describe(l launched) (KernelInfo, error) {
	shared, err := b.driver.LocalBytes(opencl.Kernel(l.function), b.device)
	return KernelInfo{Name: l.name, Blocks: l.blocks(), Threads: l.threads(), Shared: shared}, openCLError("describe "+l.name, err)
}
