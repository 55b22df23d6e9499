//go:build cgo

package main

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/interop"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/volume"
)

// TestArraysOfADevice allocates memory on any available device, copies an image to it, and downloads its
// tables.
func TestArraysOfADevice(t *testing.T) {
	d, err := gpu.OpenBest()
	if err != nil {
		d, err = gpu.OpenBest(gpu.OpenCL) // a processor suffices
	}
	if err != nil {
		ref.NoDevice(t, err)
	}
	defer d.Close()
	const depth, height, width, gap = 5, 7, 11, 3
	take := func(bytes int64) uintptr {
		handle, err := interop.Take(d, bytes)
		if err != nil {
			t.Fatal(err)
		}
		return handle
	}
	src, err := volume.New[uint8](width, height, depth, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range src.Pix {
		src.Pix[i] = uint8(rand.Uint32())
	}
	voxels := flatArray{
		kind: 'u', bytes: 1, axes: 3, address: int(take(depth * height * (width + gap))),
		shape: [4]int{depth, height, width}, strides: [4]int{height * (width + gap), width + gap, 1},
	}
	sums := flatArray{
		kind: 'u', bytes: 4, axes: 3, address: int(take((depth + 1) * (height + 1) * (width + 1) * 4)),
		shape: [4]int{depth + 1, height + 1, width + 1}, strides: [4]int{(height + 1) * (width + 1) * 4, (width + 1) * 4, 4},
	}
	squared := flatArray{
		kind: 'u', bytes: 8, axes: 3, address: int(take((depth + 1) * (height + 1) * (width + 1) * 8)),
		shape: sums.shape, strides: [4]int{(height + 1) * (width + 1) * 8, (width + 1) * 8, 8},
	}
	second := squared.array()
	j := newJob(voxels.array(), sums.array(), &second, volumeTable, 0)
	on, err := interop.VolumeOver[uint8](d, j.foreign(&j.image, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := on.Set(src); err != nil {
		t.Fatal(err)
	}
	j.device, j.resident = d, true
	if err := refused(j.run); err != nil {
		t.Fatal(err)
	}
	want, err := volume.IntegrateSquares[uint32, uint64](src, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := volume.NewBox(0, 0, 0, width, height, depth)
	table, err := interop.VolumeTableOver[uint32](d, j.foreign(&j.sum, 1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.Download()
	if err != nil {
		t.Fatal(err)
	}
	if got.Sum(last) != want.Sum.Sum(last) {
		t.Errorf("the volume sums to %d, want %d", got.Sum(last), want.Sum.Sum(last))
	}
	table2, err := interop.VolumeTableOver[uint64](d, j.foreign(&j.squares, 1))
	if err != nil {
		t.Fatal(err)
	}
	got2, err := table2.Download()
	if err != nil {
		t.Fatal(err)
	}
	if got2.Sum(last) != want.Squares.Sum(last) {
		t.Errorf("the squares sum to %d, want %d", got2.Sum(last), want.Squares.Sum(last))
	}

	// The same memory as one image, in which slices are rows.
	for _, kind := range []int{uprightTable, tiltedTable} {
		image, out := voxels, sums
		image.axes, image.shape, image.strides = 2, [4]int{height, width}, [4]int{width + gap, 1}
		out.axes, out.shape, out.strides = 2, [4]int{height + 1, width + 1}, [4]int{(width + 1) * 4, 4}
		j := newJob(image.array(), out.array(), nil, kind, 0)
		j.device, j.resident = d, true
		if err := refused(j.run); err != nil {
			t.Fatal(err)
		}
		over, err := interop.TableOver[uint32](d, j.foreign(&j.sum, 1))
		if err != nil {
			t.Fatal(err)
		}
		got, err := over.Download(0)
		if err != nil {
			t.Fatal(err)
		}
		onHost := job{types: j.types, image: j.image, sum: j.sum, kind: kind}
		slice := src.Slice(0)
		room := make([]uint32, (width+1)*(height+1))
		onHost.image.data = unsafe.Pointer(unsafe.SliceData(slice.Pix))
		onHost.image.stride, onHost.image.length = slice.Stride, len(slice.Pix)
		onHost.sum.data = unsafe.Pointer(&room[0])
		if err := refused(onHost.run); err != nil {
			t.Fatal(err)
		}
		for y := range height + 1 {
			for x := range width + 1 {
				if got, want := got.At(x, y, 0), room[y*(width+1)+x]; got != want {
					t.Fatalf("kind %d: entry (%d, %d) is %d, want %d", kind, x, y, got, want)
				}
			}
		}
	}
}

// TestArraysThatDoNotFit tests that inconsistent arrays give an error, never a panic.
func TestArraysThatDoNotFit(t *testing.T) {
	ok := flatArray{kind: 'u', bytes: 1, axes: 2, address: 1 << 20, shape: [4]int{4, 5}, strides: [4]int{5, 1}}
	out := flatArray{kind: 'u', bytes: 4, axes: 2, address: 1 << 20, shape: [4]int{5, 6}, strides: [4]int{24, 4}}
	for name, change := range map[string]func(image, table *flatArray){
		"one axis":       func(image, _ *flatArray) { image.axes = 1 },
		"no axes":        func(image, _ *flatArray) { image.axes = -1 },
		"many axes":      func(image, _ *flatArray) { image.axes = 99 },
		"no such pixels": func(image, _ *flatArray) { image.kind = 'c' },
		"steps":          func(image, _ *flatArray) { image.strides[1] = 2 },
		"reversed rows":  func(image, _ *flatArray) { image.strides[0] = -5 },
		"a small table":  func(_, table *flatArray) { table.shape[0] = 4 },
		"narrow sums":    func(_, table *flatArray) { table.bytes, table.strides = 2, [4]int{12, 2} },
	} {
		image, table := ok, out
		change(&image, &table)
		if err := refused(func() { newJob(image.array(), table.array(), nil, uprightTable, 0) }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := refused(func() { newJob(ok.array(), out.array(), nil, uprightTable, 0) }); err != nil {
		t.Error(err)
	}
}

// refused returns the error that ends a call. It passes on any other panic.
func refused(call func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(refusal).error
		}
	}()
	call()
	return nil
}
