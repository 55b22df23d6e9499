package interop

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/inside"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

func TestForeignMemoryOnAForeignStream(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *gpu.Device) {
		s, err := inner(d).Backend.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := inner(d).Backend.FreeStream(s); err != nil {
				t.Error(err)
			}
		}()
		g, err := OnStream(d, uintptr(s))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := OnStream(g, uintptr(s)); err != nil || again != g {
			t.Errorf("the same stream is another device: %v", err)
		}
		for _, size := range [][2]int{{301, 203}, {1, 1}, {0, 4}, {64, 0}} {
			src := fixture.Noise[uint8](7, size[0], size[1], 1, 5)
			im, err := gpu.Upload(g, src)
			if err != nil {
				t.Fatal(err)
			}
			f := Foreign{Handle: uintptr(inside.ArrayOf(im).At.Memory), Offset: inside.ArrayOf(im).At.Offset, Width: src.Width, Height: src.Height, Stride: inside.ArrayOf(im).At.Stride}
			over, err := ImageOver[uint8](g, f)
			if err != nil {
				t.Fatal(err)
			}
			stride := int64(4 * (src.Width + 3))
			handle, err := Take(d, stride*int64(src.Height+1)+12)
			if err != nil {
				t.Fatal(err)
			}
			at := Foreign{Handle: handle, Offset: 12, Width: src.Width, Height: src.Height, Stride: stride}
			upright, err := TableOver[uint32](g, at)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time after a fence
				if err := gpu.IntegrateInto(upright, over, nil); err != nil {
					t.Fatal(err)
				}
			}
			got, err := upright.Download(0)
			if err != nil {
				t.Fatal(err)
			}
			want, err := boxsum.Integrate[uint32](src, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := fixture.SameTables(got, want); err != nil {
				t.Errorf("%v: %v", size, err)
			}
			leaning, err := TiltedTableOver[uint32](g, at)
			if err != nil {
				t.Fatal(err)
			}
			if err := gpu.IntegrateTiltedInto(leaning, over, nil); err != nil {
				t.Fatal(err)
			}
			gotTilted, err := leaning.Download(0)
			if err != nil {
				t.Fatal(err)
			}
			wantTilted, err := tilted.Integrate[uint32](src, nil)
			if err != nil {
				t.Fatal(err)
			}
			for y := range src.Height + 1 {
				for x := range src.Width + 1 {
					if got, want := gotTilted.At(x, y, 0), wantTilted.At(x, y, 0); got != want {
						t.Fatalf("%v: tilted entry (%d, %d) is %d, want %d", size, x, y, got, want)
					}
				}
			}
			checkSolidOver(t, g, f, src)
			// Closing arrays in foreign memory does not free it.
			if err := driver.FirstError(over.Close(), upright.Close(), leaning.Close(), im.Close()); err != nil {
				t.Error(err)
			}
			if err := Give(d, handle); err != nil {
				t.Error(err)
			}
			if err := Give(d, handle); !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("given twice: %v", err)
			}
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if _, err := ImageOver[uint8](g, Foreign{}); !errors.Is(err, boxsum.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if other, err := OnStream(d, uintptr(s)); err != nil || other == g {
			t.Errorf("no new device for the stream of one that was closed: %v", err)
		}
	})
}

func TestForeignMemoryThatCannotBe(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *gpu.Device) {
		ok := Foreign{Handle: 1 << 20, Width: 10, Height: 10, Stride: 64}
		for name, change := range map[string]func(*Foreign){
			"no address":       func(f *Foreign) { f.Handle = 0 },
			"a negative start": func(f *Foreign) { f.Offset = -4 },
			"an odd start":     func(f *Foreign) { f.Offset = 2 },
			"odd rows":         func(f *Foreign) { f.Stride = 66 },
			"short rows":       func(f *Foreign) { f.Stride = 40 },
			"negative rows":    func(f *Foreign) { f.Stride = -64 },
			"a negative width": func(f *Foreign) { f.Width = -1 },
			"images overlap":   func(f *Foreign) { f.Count, f.Distance = 2, 640 },
			"a huge image":     func(f *Foreign) { f.Height, f.Stride = 1<<30, 1<<60 },
			"a negative count": func(f *Foreign) { f.Count = -4 },
			"a far last row":   func(f *Foreign) { f.Height, f.Stride, f.Count, f.Distance = 2, 1<<62-4, 2, 8 },
			"a far last image": func(f *Foreign) { f.Count, f.Distance = 1<<20, 1<<50 },
			"a far start":      func(f *Foreign) { f.Offset = 1<<63 - 64 },
		} {
			f := ok
			change(&f)
			if _, err := TableOver[uint32](d, f); !errors.Is(err, boxsum.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := Take(d, -1); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("fewer than no bytes: %v", err)
		}
	})
}

// checkSolidOver treats an image as a volume of two slices with one row each, and checks its table.
func checkSolidOver(t *testing.T, g *gpu.Device, f Foreign, src boxsum.Image[uint8]) {
	t.Helper()
	if src.Height < 2 {
		return
	}
	f.Height, f.Count, f.Distance = 1, 2, f.Stride
	over, err := VolumeOver[uint8](g, f)
	if err != nil {
		t.Fatal(err)
	}
	stride := int64(4 * (src.Width + 2))
	handle, err := Take(g, 6*stride)
	if err != nil {
		t.Fatal(err)
	}
	table, err := VolumeTableOver[uint32](g, Foreign{Handle: handle, Width: src.Width, Height: 1, Count: 2, Stride: stride, Distance: 2 * stride})
	if err != nil {
		t.Fatal(err)
	}
	if err := gpu.IntegrateVolumeInto(table, over, nil); err != nil {
		t.Fatal(err)
	}
	got, err := table.Download()
	if err != nil {
		t.Fatal(err)
	}
	sum := uint32(0)
	for y := range 2 {
		for _, p := range src.Row(y) {
			sum += uint32(p)
		}
	}
	if last := got.At(src.Width, 1, 2, 0); last != sum {
		t.Errorf("two slices of %d voxels sum to %d, want %d", src.Width, last, sum)
	}
	if err := driver.FirstError(over.Close(), table.Close(), Give(g, handle)); err != nil {
		t.Error(err)
	}
}

// TestForeignSquaresArePlain checks that tables in the memory of other libraries, and on their
// streams, have no offset, because others would not know about it or could not wait. Deviations
// that lose their precision are NaN.
func TestForeignSquaresArePlain(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *gpu.Device) {
		src, err := boxsum.NewImage[float32](40, 30, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range src.Pix {
			src.Pix[i] = 1e5 + float32(i%7)/3
		}
		s, err := inner(d).Backend.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		view, err := OnStream(d, uintptr(s))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(view.Close(), inner(d).Backend.FreeStream(s)); err != nil {
				t.Error(err)
			}
		}()
		check := func(name string, on *gpu.Device, tables *gpu.SquaredTable[float32, float64]) {
			t.Helper()
			im, err := gpu.Upload(on, src)
			if err != nil {
				t.Fatal(err)
			}
			defer im.Close()
			for _, offset := range []float32{0, 1e5} {
				if err := gpu.IntegrateSquaresInto(tables, im, &gpu.Options{Offset: offset}); err != nil {
					t.Fatal(err)
				}
				got, err := tables.Download(0)
				if err != nil {
					t.Fatal(err)
				}
				if got.Sum.Offset != offset {
					t.Errorf("%s: an offset of %v, want %v", name, got.Sum.Offset, offset)
				}
				want, err := boxsum.IntegrateSquares[float64, float64](src, nil)
				if err != nil {
					t.Fatal(err)
				}
				box := got.Sum.Bounds()
				if std, w := got.StdDev(box, 0), want.StdDev(box, 0); !(math.Abs(std-w) < 1e-5*w) && !(offset == 0 && math.IsNaN(std)) {
					t.Errorf("%s, offset %v: the deviation is %v, want %v", name, offset, std, w)
				}
			}
		}
		onView, err := gpu.NewSquaredTable[float32, float64](view, src.Width, src.Height, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		check("on a stream", view, onView)
		handles := [2]uintptr{}
		for i, bytes := range []int64{4, 8} {
			if handles[i], err = Take(d, bytes*41*31); err != nil {
				t.Fatal(err)
			}
		}
		sums, err1 := TableOver[float32](d, Foreign{Handle: handles[0], Width: 40, Height: 30, Stride: 4 * 41})
		squares, err2 := TableOver[float64](d, Foreign{Handle: handles[1], Width: 40, Height: 30, Stride: 8 * 41})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		check("in memory of others", d, &gpu.SquaredTable[float32, float64]{Sum: sums, Squares: squares})
		if err := errors.Join(onView.Close(), Give(d, handles[0]), Give(d, handles[1])); err != nil {
			t.Error(err)
		}
	})
}

// TestTables checks that tables whose types are known only at run time equal those of the CPU, for
// all kinds of tables.
func TestTables(t *testing.T) {
	const width, height, depth = 31, 9, 4
	src, err := volume.New[uint8](width, height, depth, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range src.Pix {
		src.Pix[i] = uint8(i * i >> 3)
	}
	eachDevice(t, func(t *testing.T, d *gpu.Device) {
		on, err := gpu.UploadVolume(d, src)
		if err != nil {
			t.Fatal(err)
		}
		defer on.Close()
		a := inside.ArrayOf(on)
		from := Foreign{
			Handle: uintptr(a.At.Memory), Offset: a.At.Offset, Width: width, Height: height, Count: depth,
			Stride: a.At.Stride, Distance: a.At.Distance,
		}
		to := func(bytes int64) Foreign {
			stride := bytes * (width + 1)
			handle, err := Take(d, stride*(height+1)*(depth+1))
			if err != nil {
				t.Fatal(err)
			}
			return Foreign{Handle: handle, Width: width, Height: height, Count: depth, Stride: stride, Distance: stride * (height + 1)}
		}
		sums, squares := to(4), to(8)
		defer func() {
			if err := errors.Join(Give(d, sums.Handle), Give(d, squares.Handle)); err != nil {
				t.Error(err)
			}
		}()
		for _, kind := range []string{"upright", "tilted", "volume"} {
			job := &TableJob{Kind: kind, Pixel: "u8", Sum: "u32", Square: "u64", Image: from, Sums: sums, Squares: squares}
			if err := Tables(d, job); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			var wrong error
			if kind == "volume" {
				got, err1 := VolumeTableOver[uint32](d, sums)
				got2, err2 := VolumeTableOver[uint64](d, squares)
				want, err := volume.IntegrateSquares[uint32, uint64](src, nil)
				if err := errors.Join(err, err1, err2); err != nil {
					t.Fatal(err)
				}
				a, err1 := got.Download()
				b, err2 := got2.Download()
				if wrong = errors.Join(err1, err2); wrong == nil && (!slices.Equal(a.Slice(depth).Row(height), want.Sum.Slice(depth).Row(height)) ||
					!slices.Equal(b.Slice(depth).Row(height), want.Squares.Slice(depth).Row(height))) {
					wrong = errors.New("the last rows differ")
				}
			} else {
				for z := range depth {
					wrong = errors.Join(wrong, sameSlice(d, job, z, src.Slice(z)))
				}
			}
			if wrong != nil {
				t.Errorf("%s: %v", kind, wrong)
			}
		}
		for name, job := range map[string]*TableJob{
			"kind":  {Kind: "rotated", Pixel: "u8", Sum: "u32", Image: from, Sums: sums},
			"types": {Kind: "upright", Pixel: "u9", Sum: "u32", Image: from, Sums: sums},
			"sizes": {Kind: "upright", Pixel: "u8", Sum: "u32", Image: from, Sums: Foreign{Handle: sums.Handle, Width: 5, Height: 5, Stride: 24}},
			"pair":  {Kind: "upright", Pixel: "f64", Sum: "u32", Image: from, Sums: sums},
		} {
			if err := Tables(d, job); !errors.Is(err, boxsum.ErrInvalid) && !errors.Is(err, boxsum.ErrTypes) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// sameSlice compares the tables of an image of a job with those of the CPU.
func sameSlice(d *gpu.Device, j *TableJob, z int, src boxsum.Image[uint8]) error {
	if j.Kind == "tilted" {
		over, err := TiltedTableOver[uint32](d, j.Sums)
		if err != nil {
			return err
		}
		got, err1 := over.Download(z)
		want, err2 := tilted.Integrate[uint32](src, nil)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		for y := range src.Height + 1 {
			if !slices.Equal(got.View().Row(y), want.View().Row(y)) {
				return fmt.Errorf("row %d of image %d differs", y, z)
			}
		}
		return nil
	}
	over, err1 := TableOver[uint32](d, j.Sums)
	over2, err2 := TableOver[uint64](d, j.Squares)
	want, err := boxsum.IntegrateSquares[uint32, uint64](src, nil)
	if err := errors.Join(err, err1, err2); err != nil {
		return err
	}
	got, err1 := over.Download(z)
	got2, err2 := over2.Download(z)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return errors.Join(fixture.SameTables(got, want.Sum), fixture.SameTables(got2, want.Squares))
}
