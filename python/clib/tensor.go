//go:build cgo

package main

import (
	"encoding/hex"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/interop"
)

// tensorOps lists the kinds of plans other than tables of images: see [interop.TensorJob].
var tensorOps = map[int]string{16: "table", 17: "suffix", 18: "window"}

// tensorNames holds the names of float types there. NumPy has no bfloat16, so any two-byte void type stands for it.
var tensorNames = map[element]string{f16: "f16", {'V', 2}: "bf16", f32: "f32", f64: "f64"}

// newTensor returns a job for planes of floats on a device, without addresses. Its arguments are those of planOnDevice; for tables also
// whether the gaps between rows may be overwritten; for tables and suffixes optionally the number of rows in a band; and for windows their
// width, height, left, top, factor, and whether to clip.
func newTensor(a arguments) *interop.TensorJob {
	flat := a.flat(0)
	j := &interop.TensorJob{Op: tensorOps[a.int(1)]}
	border := 0
	if j.Op == "table" {
		border, j.Gap = 1, a.int(3) != 0
	}
	if at := 3 + border; j.Op != "window" && len(a) > at {
		j.BandRow = a.int(at)
	}
	if j.Op == "window" {
		j.Across, j.Down, j.Left, j.Top, j.Factor, j.Clip = a.int(3), a.int(4), a.int(5), a.int(6), a.float(7), a.int(8) != 0
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
		*to.name = known(tensorNames, v.element, "planes have type %v")
		*to.foreign = interop.Foreign{
			Width: v.width - to.border, Height: v.height - to.border, Count: v.depth,
			Stride: int64(v.stride) * int64(v.bytes), Distance: int64(v.sliceStride) * int64(v.bytes),
		}
	}
	if j.Op != "table" && j.Pixel != j.Sum || j.Op == "suffix" && j.Pixel != "f32" && j.Pixel != "f64" || j.Op == "table" && j.Sum != "f32" && j.Sum != "f64" {
		must(wrongTypes("%[2]s of %[1]s planes cannot have type %[3]s", j.Pixel, j.Op, j.Sum))
	}
	return j
}

// recipe returns the description with which C code launches the job of a plan by itself, in hexadecimal digits: see [interop.Recipe]. Its
// arguments are the number of the plan and the addresses of image and table. It returns an empty text if there is none.
func recipe(a arguments) any {
	p := planOf(a.int(0))
	if p.tensor == nil {
		return ""
	}
	j := *p.tensor
	j.In.Handle, j.Out.Handle = uintptr(a.int(1)), uintptr(a.int(2))
	r, job, err := interop.RecipeOf(p.owner, &j)
	must(err)
	if r == nil {
		return ""
	}
	return hex.EncodeToString(append(unsafe.Slice((*byte)(unsafe.Pointer(r)), unsafe.Sizeof(*r)), job...))
}
