package store

import (
	"errors"
	"image"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
)

// TestBoxFilter holds blurred arrays against the filter in memory, with windows that reach far, borders and odd sizes.
func TestBoxFilter(t *testing.T) {
	windows := []filter.Window{filter.Square(1), filter.Radius(3), {Width: 40, Height: 3}, {Width: 6, Height: 9, Shift: image.Pt(1, -2)}, filter.Radius(100)}
	for _, border := range []filter.Border{filter.Reflect101, filter.Reflect, filter.Replicate, filter.Constant, filter.Clip} {
		for n, w := range windows {
			filtered[uint8](t, Uint8, []int{77, 91}, w, border, 32+n)
			filtered[uint16](t, Uint16, []int{60, 45, 3}, w, border, 16)
		}
	}
	src, _ := imageOf(t, &Spec{Type: Uint8, Shape: []int{20, 20}, Chunk: []int{8, 8}}, 1)
	for name, err := range map[string]error{
		"wrap":   FilterArray(ctx, src, Memory(), filter.Radius(1), &FilterOptions{Border: filter.Wrap}),
		"window": FilterArray(ctx, src, Memory(), filter.Window{}, nil),
		"place":  BoxFilter(ctx, "mem://filter/a/", "mem://filter/b/../a", filter.Radius(1), nil),
		"memory": FilterArray(ctx, src, Memory(), filter.Radius(1), &FilterOptions{Memory: 100}),
	} {
		if err == nil {
			t.Errorf("%s is no error", name)
		} else if name == "memory" && !errors.Is(err, boxsum.ErrMemory) {
			t.Error(err)
		}
	}
}

func filtered[P filter.Pixel](t *testing.T, typ Type, shape []int, w filter.Window, border filter.Border, block int) {
	t.Helper()
	src, data := imageOf(t, &Spec{Type: typ, Shape: shape, Chunk: append([]int{20, 20}, shape[2:]...)}, 5)
	img := boxsum.Image[P]{Pix: elementsOf[P](data), Width: shape[1], Height: shape[0], Channels: product(shape[2:])}
	want, err := filter.Box(img, w, &filter.Options{Border: border, Value: 9})
	if err != nil {
		t.Fatal(err)
	}
	b := Memory()
	if err := FilterArray(ctx, src, b, w, &FilterOptions{Border: border, Value: 9, Block: block}); err != nil {
		t.Fatal(err)
	}
	a, err := ArrayAt(ctx, b, "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadAll(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	var all []P
	for y := range want.Height {
		all = append(all, want.Row(y)...)
	}
	if !slices.Equal(got.([]P), all) {
		t.Errorf("%v of shape %v, window %+v, border %v, blocks of %d: not as in memory", typ, shape, w, border, block)
	}
}
