//go:build !nogpu && (darwin || windows || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package opencl

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/boxsum/boxsum/internal/ref"
)

func TestMissingLibrary(t *testing.T) {
	_, err := open([]string{"libnone.so.1", "libnone.so"})
	if err == nil || !strings.Contains(err.Error(), "libnone") {
		t.Errorf("a missing library gives %v", err)
	}
}

func TestError(t *testing.T) {
	err := check(function{name: "clCreateBuffer"}, int32(InvalidBufferSize))
	if got, want := err.Error(), "clCreateBuffer: invalid buffer size (-61)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Code(-9999).String(); got != "error -9999" {
		t.Errorf("an unknown code is %q", got)
	}
}

// TestLargeNumbers checks that values which no int can hold are clamped, and not negative.
func TestLargeNumbers(t *testing.T) {
	if math.MaxInt < math.MaxInt64 {
		t.Skip("needs a 64-bit platform")
	}
	d, told := new(Driver), uint64(0)
	d.fn.GetKernelWorkGroupInfo.at = purego.NewCallback(func(_, _, _, _ uintptr, at *uint64, _ uintptr) uintptr {
		*at = told
		return 0
	})
	d.fn.GetDeviceInfo.at = purego.NewCallback(func(_, _, _ uintptr, at *uint64, _ uintptr) uintptr {
		*at = told
		return 0
	})
	for _, told = range []uint64{0, 1, math.MaxInt64, 1 << 63, math.MaxUint64} {
		want := int64(min(told, math.MaxInt64))
		if got, err := d.DeviceNumber(0, DeviceMaxWorkGroupSize); got != want || err != nil {
			t.Errorf("%d of a device is %d, %v", told, got, err)
		}
		if got, err := d.WorkGroupLimit(0, 0); int64(got) != want || err != nil {
			t.Errorf("%d of a kernel is %d, %v", told, got, err)
		}
		if got, err := d.LocalBytes(0, 0); int64(got) != want || err != nil {
			t.Errorf("%d bytes of a kernel are %d, %v", told, got, err)
		}
	}
}

func TestOrigin(t *testing.T) {
	for _, c := range []struct {
		start, pitch, bytes int64
		want                [3]uintptr
	}{
		{0, 10, 10, [3]uintptr{0, 0, 0}},
		{23, 10, 7, [3]uintptr{3, 2, 0}},
		{23, 10, 8, [3]uintptr{23, 0, 0}},
	} {
		if got := *origin(c.start, c.pitch, c.bytes); got != c.want {
			t.Errorf("origin(%d, %d, %d) = %v, want %v", c.start, c.pitch, c.bytes, got, c.want)
		}
	}
}

// first returns the first device, or skips the test if there is none.
func first(t *testing.T) (*Driver, Device) {
	t.Helper()
	d, err := Load()
	if err == nil {
		var platforms []Platform
		platforms, err = d.Platforms()
		for _, p := range platforms {
			devices, e := d.Devices(p)
			if len(devices) > 0 {
				return d, devices[0]
			}
			err = errors.Join(err, e)
		}
	}
	ref.NoDevice(t, fmt.Errorf("no OpenCL device: %w", err))
	return nil, 0
}

// TestRows checks that rows survive a round trip through other layouts and a copy.
func TestRows(t *testing.T) {
	d, dev := first(t)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := d.CreateContext(dev)
	do(err)
	q, err := d.CreateQueue(c, dev, QueueProfilingEnable)
	do(err)
	a, err := d.CreateBuffer(c, MemReadWrite, 1000)
	do(err)
	b, err := d.CreateBuffer(c, MemReadWrite, 1000)
	do(err)
	do(d.Fill(q, a, 9, 0, 1000))
	do(d.Fill(q, b, 8, 0, 1000))

	src := []byte("one..two..six..ten")
	do(d.WriteRows(q, a, true, Region{Bytes: 3, Rows: 4, BufferStart: 47, BufferPitch: 20, OtherPitch: 5}, unsafe.Pointer(&src[0])))
	start, err := d.Marker(q)
	do(err)
	do(d.CopyRows(q, b, a, Region{Bytes: 3, Rows: 4, BufferStart: 18, BufferPitch: 20, OtherStart: 47, OtherPitch: 20}))
	end, err := d.Marker(q)
	do(err)
	dst := []byte(strings.Repeat("-", 16))
	do(d.ReadRows(q, b, true, Region{Bytes: 3, Rows: 4, BufferStart: 18, BufferPitch: 20, OtherPitch: 4}, unsafe.Pointer(&dst[0])))
	if got, want := string(dst), "one-two-six-ten-"; got != want {
		t.Errorf("rows came back as %q, want %q", got, want)
	}
	do(d.Finish(q))
	from, err := d.EventTime(start)
	do(err)
	to, err := d.EventTime(end)
	do(err)
	if to < from {
		t.Errorf("a later event happened at %d, an earlier one at %d", to, from)
	}
	host, err := d.CreateBuffer(c, MemReadWrite|MemAllocHostPtr, 64)
	do(err)
	at, err := d.Map(q, host, 64)
	do(err)
	for i := range 64 {
		*(*byte)(unsafe.Add(at, i)) = byte(i)
	}
	do(d.Write(q, a, false, 0, 64, at))
	do(d.Finish(q))
	back := make([]byte, 64)
	do(d.Read(q, a, true, 0, 64, unsafe.Pointer(&back[0])))
	for i, v := range back {
		if int(v) != i {
			t.Fatalf("byte %d from page-locked memory is %d", i, v)
		}
	}
	do(d.Unmap(q, host, at))
	do(d.Finish(q))
	for _, m := range []Memory{a, b, host} {
		do(d.ReleaseMemory(m))
	}
	do(errors.Join(d.ReleaseEvent(start), d.ReleaseEvent(end), d.ReleaseQueue(q), d.ReleaseContext(c)))
}

func TestBuildLog(t *testing.T) {
	d, dev := first(t)
	c, err := d.CreateContext(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer d.ReleaseContext(c)
	p, err := d.ProgramFromSource(c, "kernel void broken( { }")
	if err != nil {
		t.Fatal(err)
	}
	defer d.ReleaseProgram(p)
	if log, err := d.Build(p, dev, ""); err == nil || log == "" {
		t.Errorf("a broken program gives %v and the log %q", err, log)
	}
	if _, err := d.ProgramFromBinary(c, dev, []byte("no program")); err == nil {
		t.Error("no error for a broken binary")
	}
}
