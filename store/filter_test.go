package store

import (
	"bytes"
	"errors"
	"image"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// TestBoxFilter compares blurred arrays with the filter in memory, for windows that reach far, all borders and odd sizes.
func TestBoxFilter(t *testing.T) {
	windows := []filter.Window{filter.Square(1), filter.Radius(3), {Width: 40, Height: 3}, {Width: 6, Height: 9, Shift: image.Pt(1, -2)}, filter.Radius(100)}
	for _, border := range []filter.Border{filter.Reflect101, filter.Reflect, filter.Replicate, filter.Constant, filter.Clip} {
		for n, w := range windows {
			filtered[uint8](t, zarr.Uint8, []int{77, 91}, w, border, 32+n)
			filtered[uint16](t, zarr.Uint16, []int{60, 45, 3}, w, border, 16)
			filtered[uint8](t, zarr.Uint8, []int{1, 1, 1, 40, 61}, w, border, 16) // leading axes of length 1, as in OME-Zarr
			filtered[float32](t, zarr.Float32, []int{1, 30, 41, 2}, filter.Square(1), border, 16)
		}
	}
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{20, 20}, Chunk: []int{8, 8}}, 1)
	for name, err := range map[string]error{
		"wrap":   FilterArray(ctx, src, zarr.Memory(), filter.Radius(1), &FilterOptions{Border: filter.Wrap}),
		"window": FilterArray(ctx, src, zarr.Memory(), filter.Window{}, nil),
		"place":  BoxFilter(ctx, "mem://filter/a/", "mem://filter/b/../a", filter.Radius(1), nil),
		"memory": FilterArray(ctx, src, zarr.Memory(), filter.Radius(1), &FilterOptions{Memory: 100}),
	} {
		if err == nil {
			t.Errorf("no error for %s", name)
		} else if name == "memory" && !errors.Is(err, boxsum.ErrMemory) {
			t.Error(err)
		}
	}
}

func filtered[P filter.Pixel](t *testing.T, typ zarr.Type, shape []int, w filter.Window, border filter.Border, block int) {
	t.Helper()
	all := shape
	for len(shape) > 2 && shape[0] == 1 {
		shape = shape[1:]
	}
	src, data := imageOf(t, &zarr.Spec{Type: typ, Shape: all, Chunk: slices.Concat(all[:len(all)-len(shape)], []int{20, 20}, shape[2:])}, 5)
	img := boxsum.Image[P]{Pix: raster.Elems[P](data), Width: shape[1], Height: shape[0], Channels: raster.Product(shape[2:])}
	want, err := filter.Box(img, w, &filter.Options{Border: border, Value: 9})
	if err != nil {
		t.Fatal(err)
	}
	b := zarr.Memory()
	if err := FilterArray(ctx, src, b, w, &FilterOptions{Border: border, Value: 9, Block: block}); err != nil {
		t.Fatal(err)
	}
	a, err := zarr.OpenArray(ctx, b, "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := zarr.ReadAll[P](ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	var pixels []P
	for y := range want.Height {
		pixels = append(pixels, want.Row(y)...)
	}
	if !slices.Equal(got, pixels) || !slices.Equal(a.Shape(), all) {
		t.Errorf("%v of shape %v, window %+v, border %v, blocks of %d: not as in memory", typ, shape, w, border, block)
	}
}

// TestHalfWritten makes a filter fail halfway: it must leave nothing that could be mistaken for a result, and not change an existing result.
func TestHalfWritten(t *testing.T) {
	dir := t.TempDir()
	src, data := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{64, 64}, Chunk: []int{16, 16}}, 1)
	from, err := zarr.Create(ctx, zarr.Folder(dir+"/in.zarr"), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{64, 64}, Chunk: []int{16, 16}, Checksum: true})
	if err == nil {
		err = zarr.Write(ctx, from, data, []int{0, 0}, src.Shape())
	}
	if err != nil {
		t.Fatal(err)
	}
	opt := &FilterOptions{Block: 16, Workers: 1}
	for _, name := range []string{"/out.zarr", "/out.zarr.zip"} {
		if err := BoxFilter(ctx, dir+"/in.zarr", dir+name, filter.Radius(1), opt); err != nil {
			t.Fatal(err)
		}
	}
	old, _ := os.ReadFile(dir + "/out.zarr.zip")
	for _, name := range []string{"/out.zarr", "/out.zarr.zip", "/out.zarr.zip/inside"} {
		if err := BoxFilter(ctx, dir+"/in.zarr", dir+name, filter.Radius(2), opt); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	if err := os.WriteFile(dir+"/in.zarr/c/2/2", []byte("damaged"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/out.zarr", "/out.zarr.zip", "/new.zarr", "/new.zarr.zip"} {
		if err := BoxFilter(ctx, dir+"/in.zarr", dir+name, filter.Radius(1), opt); err == nil {
			t.Errorf("no error for %s: a damaged source", name)
		}
		if a, err := zarr.Open(ctx, dir+name); (err == nil) != strings.HasPrefix(name, "/out") {
			t.Errorf("%s after a failure: %v, %v", name, a, err)
		}
	}
	for _, name := range []string{"/table.zarr.zip", "/out.zarr.zip"} {
		if err := Integrate(ctx, dir+"/in.zarr", dir+name, &Options{Block: 16}); err == nil {
			t.Error("no error for a damaged source")
		}
	}
	if now, _ := os.ReadFile(dir + "/out.zarr.zip"); !bytes.Equal(now, old) {
		t.Error("a zip file was replaced")
	}
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		if !slices.Contains([]string{"in.zarr", "out.zarr", "new.zarr", "out.zarr.zip"}, e.Name()) {
			t.Errorf("%s is left", e.Name())
		}
	}
}
