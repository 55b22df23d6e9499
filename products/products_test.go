package products_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/products"
)

var sizes = [][2]int{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 9}, {9, 1}, {7, 5}, {33, 17}, {129, 70}, {1021, 131}, {40, 700}}

func TestTables(t *testing.T) {
	testTables[uint8, uint64](t)
	testTables[uint8, uint32](t)
	testTables[uint8, float64](t)
	testTables[uint16, uint64](t)
	testTables[uint16, uint32](t)
	testTables[int16, int64](t)
	testTables[float32, float64](t)
	testTables[float64, float64](t)
}

// testTables compares tables with the definition, entry by entry: at every level, with
// several numbers of workers, for images with gaps between rows, and with guard values
// around the table. Float tables must have the bits of the portable table.
func testTables[P boxsum.Pixel, S boxsum.Sum](t *testing.T) {
	t.Run(fmt.Sprintf("%T to %T", *new(P), *new(S)), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, size := range sizes {
			width, height, channels := size[0], size[1], 1+rng.IntN(4)
			a, b := fixture.Image[P](rng, width, height, channels), fixture.Image[P](rng, width, height, channels)
			want := brute[S](a, b)
			var portable []S
			for _, level := range boxsum.Levels() {
				for _, workers := range []int{1, 2, 7} {
					what := fmt.Sprintf("%d×%d×%d, %v on %d workers", width, height, channels, level, workers)
					stride := (width+1)*channels + rng.IntN(3)
					memory := make([]S, 10+stride*(height+1)+10)
					for i := range memory {
						memory[i] = guard
					}
					table := &boxsum.Table[S]{Sums: memory[10:][:stride*(height+1)], Stride: stride, Width: width, Height: height, Channels: channels}
					if err := products.IntegrateInto(table, a, b, &products.Options{Level: level, Workers: workers}); err != nil {
						t.Fatal(err)
					}
					for i, v := range memory {
						i -= 10
						if (i < 0 || i/stride > height || i%stride >= (width+1)*channels) && v != guard {
							t.Fatalf("%s: wrote %v outside the table, at %d", what, v, i)
						}
					}
					got := slices.Concat(table.Exclusive().Row(0)) // all rows without gaps
					for y := range height {
						got = append(got, table.Exclusive().Row(y+1)...)
					}
					if portable == nil {
						portable = got
					}
					for i := range got {
						if exact := math.Abs(float64(got[i])-float64(want[i])) <= 1e-9*float64(width*height); !exact || !isFloat[S]() && got[i] != want[i] {
							t.Fatalf("%s: entry %d is %v, want %v", what, i, got[i], want[i])
						}
						if !ref.Same(got[i], portable[i]) {
							t.Fatalf("%s: entry %d is %v, portable %v", what, i, got[i], portable[i])
						}
					}
				}
			}
		}
	})
}

const guard = 77

func isFloat[S boxsum.Sum]() bool { one := S(1); return one/2 != 0 }

// brute returns the table without gaps, by its definition.
func brute[S boxsum.Sum, P boxsum.Pixel](a, b boxsum.Image[P]) []S {
	row := (a.Width + 1) * a.Channels
	table := make([]S, row*(a.Height+1))
	for y := range a.Height {
		for x := range a.Width {
			for c := range a.Channels {
				i := (y+1)*row + (x+1)*a.Channels + c
				table[i] = product[S](a, b, x, y, c) + table[i-row] + table[i-a.Channels] - table[i-row-a.Channels]
			}
		}
	}
	return table
}

func product[S boxsum.Sum, P boxsum.Pixel](a, b boxsum.Image[P], x, y, c int) S {
	return S(a.Pix[y*a.Stride+x*a.Channels+c]) * S(b.Pix[y*b.Stride+x*b.Channels+c])
}

// TestEveryBox compares the sums of all boxes of an image with those of its pixels, also
// in tables of sub-images and in tables that have wrapped.
func TestEveryBox(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	whole, other := fixture.Image[uint8](rng, 20, 15, 2), fixture.Image[uint8](rng, 20, 15, 2)
	for i := range whole.Pix {
		whole.Pix[i] |= 0x80
	}
	a := boxsum.Image[uint8]{Pix: whole.Pix[3*whole.Stride+4*2:], Stride: whole.Stride, Width: 11, Height: 9, Channels: 2}
	b := boxsum.Image[uint8]{Pix: other.Pix[other.Stride+5*2:], Stride: other.Stride, Width: 11, Height: 9, Channels: 2}
	table, err := products.Integrate[uint32](a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for box := range boxesOf(table.Bounds()) {
		for c := range a.Channels {
			var want uint32
			for y := box.Min.Y; y < box.Max.Y; y++ {
				for x := box.Min.X; x < box.Max.X; x++ {
					want += product[uint32](a, b, x, y, c)
				}
			}
			if got := table.SumChannel(box, c); got != want {
				t.Fatalf("%v channel %d: %d, want %d", box, c, got, want)
			}
		}
	}
}

// boxesOf returns an iterator over all boxes inside the bounds, empty ones included.
func boxesOf(bounds image.Rectangle) func(yield func(image.Rectangle) bool) {
	return func(yield func(image.Rectangle) bool) {
		for y0 := range bounds.Dy() + 1 {
			for y1 := y0; y1 <= bounds.Dy(); y1++ {
				for x0 := range bounds.Dx() + 1 {
					for x1 := x0; x1 <= bounds.Dx(); x1++ {
						if !yield(image.Rect(x0, y0, x1, y1)) {
							return
						}
					}
				}
			}
		}
	}
}

// TestSquares tests that the products of an image with itself are its squares.
func TestSquares(t *testing.T) {
	img := fixture.Image[uint16](rand.New(rand.NewPCG(5, 6)), 300, 200, 3)
	both, err := boxsum.IntegrateSquares[uint64, uint64](img, nil)
	if err != nil {
		t.Fatal(err)
	}
	table, err := products.Integrate[uint64](img, img, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fixture.SameTables(table, both.Squares); err != nil {
		t.Error(err)
	}
}

func TestNoAllocation(t *testing.T) {
	a, _ := boxsum.NewImage[float32](1500, 1100, 1)
	table, _ := boxsum.NewTable[float64](1500, 1100, 1)
	for _, workers := range []int{1, 2} {
		opt := &products.Options{Workers: workers}
		ref.AllocatesNothing(t, fmt.Sprintf("IntegrateInto with %d workers", workers), func() error { return products.IntegrateInto(table, a, a, opt) })
	}
}

func TestErrors(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3}
	into := func(change func(t *boxsum.Table[uint64], a, b *boxsum.Image[uint8], opt *products.Options)) error {
		table, err := boxsum.NewTable[uint64](4, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		a, b, opt := img, img, products.Options{}
		change(table, &a, &b, &opt)
		return products.IntegrateInto(table, a, b, &opt)
	}
	type (
		table  = *boxsum.Table[uint64]
		bytes  = *boxsum.Image[uint8]
		option = *products.Options
	)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	failure := func(_ any, err error) error { return err }
	memory := make([]uint64, 100)
	for name, test := range map[string]struct {
		err, want error
		text      string
	}{
		"workers":      {into(func(_ table, _, _ bytes, o option) { o.Workers = -1 }), boxsum.ErrInvalid, "workers is -1"},
		"context":      {into(func(_ table, _, _ bytes, o option) { o.Context = done }), context.Canceled, "stopped"},
		"first":        {into(func(_ table, a, _ bytes, _ option) { a.Width = -1 }), boxsum.ErrInvalid, "want 0 or more"},
		"first pixels": {into(func(_ table, a, _ bytes, _ option) { a.Pix = a.Pix[:11] }), boxsum.ErrInvalid, "buffer of 11 elements, too short"},
		"second":       {into(func(_ table, _, b bytes, _ option) { b.Stride = 3 }), boxsum.ErrInvalid, "stride of 3"},
		"sizes":        {into(func(_ table, _, b bytes, _ option) { b.Width = 3 }), boxsum.ErrInvalid, "the second image is 3×3 with 1 channel, want 4×3 with 1 channel"},
		"channels":     {into(func(_ table, _, b bytes, _ option) { b.Width, b.Channels = 2, 2 }), boxsum.ErrInvalid, "the second image is 2×3 with 2 channels"},
		"table size":   {into(func(t table, _, _ bytes, _ option) { t.Height = 2 }), boxsum.ErrInvalid, "4×2"},
		"short table":  {into(func(t table, _, _ bytes, _ option) { t.Sums = t.Sums[:18] }), boxsum.ErrInvalid, "buffer of 18 elements, too short"},
		"no table":     {products.IntegrateInto((*boxsum.Table[uint64])(nil), img, img, nil), boxsum.ErrInvalid, "nil table"},
		"pixels":       {failure(products.Integrate[uint64](boxsum.Image[uint32]{}, boxsum.Image[uint32]{}, nil)), boxsum.ErrTypes, "products of uint32 pixels are not supported"},
		"sums":         {failure(products.Integrate[float32](img, img, nil)), boxsum.ErrTypes, "a table of float32 cannot be made from products of uint8 pixels"},
		"overlap": {products.IntegrateInto(&boxsum.Table[uint64]{Sums: memory, Width: 4, Height: 3},
			img, boxsum.Image[uint8]{Pix: raster.Bytes(memory)[8:], Width: 4, Height: 3}, nil), boxsum.ErrOverlap, ""},
	} {
		if !errors.Is(test.err, test.want) || !strings.Contains(fmt.Sprint(test.err), test.text) {
			t.Errorf("%s: %v", name, test.err)
		}
	}
}

// TestDefaults tests that a table of the caller's own memory needs only its size, and
// that the call resets what an earlier one has left.
func TestDefaults(t *testing.T) {
	a := boxsum.Image[uint8]{Pix: []uint8{1, 2, 3, 4, 5, 6}, Width: 3, Height: 2}
	table := &boxsum.Table[uint32]{Sums: make([]uint32, 12), Width: 3, Height: 2, Offset: 5, Signed: true}
	if err := products.IntegrateInto(table, a, a, nil); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(table.Sums); got != "[0 0 0 0 0 1 5 14 0 17 46 91]" || table.Stride != 4 || table.Channels != 1 || table.Offset != 0 || table.Signed {
		t.Errorf("%+v", table)
	}
}
