package interop

import (
	"math"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/internal/fixture"
)

// TestTensors compares the kernels for tensors as machine code, whose blocks share planes, and as
// PTX, whose blocks work alone. Many planes have a block each.
func TestTensors(t *testing.T) {
	for _, ptx := range []bool{false, true} {
		eachDevice(t, func(t *testing.T, d *gpu.Device) {
			b, ok := inner(d).Backend.(*driver.CUDABackend)
			if !ok || b.Major < 8 {
				t.Skip("only CUDA has these kernels: run it on a machine with an NVIDIA GPU of compute capability 8 or higher")
			}
			b.Tuning.PTX = ptx
			for _, size := range [][3]int{{200, 300, 3}, {61, 77, 3}, {1, 1, 3}, {700, 200, 3}, {100, 100, 140}, {127, 65, 70}, {129, 33, 140}, {400, 40, 70}} {
				checkTensors(t, d, size[0], size[1], size[2])
			}
		})
	}
}

func checkTensors(t *testing.T, d *gpu.Device, width, height, count int) {
	var images []boxsum.Image[float32]
	for i := range count {
		img := fixture.Noise[float32](uint64(i), width, height, 1, 0)
		for k, v := range img.Pix {
			img.Pix[k] = float32(math.Floor(math.Mod(float64(v), 8))) // all sums are exact
		}
		images = append(images, img)
	}
	src := upload(t, d, images...)
	at := inside.ArrayOf(src).At
	in := Foreign{Handle: uintptr(at.Memory), Offset: at.Offset, Width: width, Height: height, Count: count, Stride: at.Stride, Distance: at.Distance}
	stride := int64(4*width+63) &^ 31
	distance := stride * int64(height+1)
	handle, err := Take(d, int64(count)*distance+32)
	if err != nil {
		t.Fatal(err)
	}
	out := Foreign{Handle: handle, Width: width, Height: height, Count: count, Stride: stride, Distance: distance}
	if err := Tensor(d, &TensorJob{Op: "table", Pixel: "f32", Sum: "f32", In: in, Out: out, Gap: true}); err != nil {
		t.Fatal(err)
	}
	table, err := TableOver[float32](d, out)
	if err != nil {
		t.Fatal(err)
	}
	for i, img := range images {
		got, err := table.Download(i)
		if err != nil {
			t.Fatal(err)
		}
		want, err := boxsum.Integrate[float32](img, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := fixture.SameTables(got, want); err != nil {
			t.Errorf("table %d of %d×%d: %v", i, width, height, err)
		}
	}
	results, err := ImageOver[float32](d, out)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range []TensorJob{{Op: "suffix"}, {Op: "window", Across: 5, Down: 3, Left: 2, Top: 1, Factor: 1}} {
		j.Pixel, j.Sum, j.In, j.Out = "f32", "f32", in, out
		if err := Tensor(d, &j); err != nil {
			t.Fatal(err)
		}
		for i, img := range images {
			got, err := results.Download(i)
			if err != nil {
				t.Fatal(err)
			}
			sums, err := boxsum.Integrate[float32](img, nil)
			if err != nil {
				t.Fatal(err)
			}
			for y := range height {
				for x := range width {
					x0, y0, x1, y1 := x, y, width, height
					if j.Op == "window" {
						x0, y0, x1, y1 = max(x-2, 0), max(y-1, 0), min(x+3, width), min(y+2, height)
					}
					want := sums.At(x1, y1, 0) - sums.At(x0, y1, 0) - sums.At(x1, y0, 0) + sums.At(x0, y0, 0)
					if got := got.Pix[y*got.Stride+x]; got != want {
						t.Fatalf("%s of %d×%d, plane %d: (%d, %d) is %v, want %v", j.Op, width, height, i, x, y, got, want)
					}
				}
			}
		}
	}
	if err := driver.FirstError(table.Close(), results.Close(), src.Close(), Give(d, handle)); err != nil {
		t.Error(err)
	}
}
