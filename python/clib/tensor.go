//go:build cgo

package main

import "github.com/boxsum/boxsum/gpu/interop"

// The kinds of plans beside tables of images: see [interop.TensorJob].
var tensorOps = map[int]string{16: "table", 17: "suffix", 18: "window"}

// tensorNames is what floats are called there. NumPy has no bfloat16: two bytes of anything stand for it.
var tensorNames = map[element]string{f16: "f16", {'V', 2}: "bf16", f32: "f32", f64: "f64"}

// newTensor is a job of planes of floats on a device, without addresses. It takes what planOnDevice does, and for windows their
// width, height, left, top and factor.
func newTensor(a arguments) *interop.TensorJob {
	flat := a.flat(0)
	j := &interop.TensorJob{Op: tensorOps[a.int(1)&31], Shape: a.int(1) >> 5}
	border := 0
	if j.Op == "table" {
		border = 1
	}
	if j.Op == "window" {
		j.Across, j.Down, j.Left, j.Top, j.Factor = a.int(3), a.int(4), a.int(5), a.int(6), a.float(7)
	}
	for i, to := range []struct {
		foreign *interop.Foreign
		name    *string
		border  int
	}{{&j.In, &j.Pixel, 0}, {&j.Out, &j.Sum, border}} {
		array := flat[i].array()
		v := array.mustView(3)
		if v.channels != 1 {
			must(errLayout)
		}
		*to.name = known(tensorNames, v.element, "planes of %v")
		*to.foreign = interop.Foreign{
			Width: v.width - to.border, Height: v.height - to.border, Count: v.depth,
			Stride: int64(v.stride) * int64(v.bytes), Distance: int64(v.sliceStride) * int64(v.bytes),
		}
	}
	if j.Op != "table" && j.Pixel != j.Sum || j.Op == "suffix" && j.Pixel != "f32" && j.Pixel != "f64" || j.Op == "table" && j.Sum != "f32" && j.Sum != "f64" {
		must(wrongTypes("planes of %s have no %s of %s", j.Pixel, j.Op, j.Sum))
	}
	return j
}
