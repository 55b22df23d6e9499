package gpu

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/products"
)

// TestOnProducts compares tables of the products of two images with those of the CPU, for empty
// images, images with gaps and several channels, in bands.
func TestOnProducts(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		onProducts[uint64, uint8](t, d)
		onProducts[uint64, uint16](t, d)
		onProducts[int64, int16](t, d)
		onProducts[float64, float32](t, d)
	})
}

func onProducts[S boxsum.Sum, P boxsum.Pixel](t *testing.T, d *Device) {
	t.Helper()
	for i, size := range computedSizes {
		a := fixture.Noise[P](uint64(i), size[0], size[1], size[2], 3)
		b := fixture.Noise[P](uint64(i+100), size[0], size[1], size[2], 0)
		want, err := products.Integrate[S](a, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []products.Options{{On: d}, {On: d, Level: portable, Workers: 3}} {
			got, err := products.Integrate[S](a, b, &opt)
			if err != nil {
				t.Fatal(err)
			}
			alikeTables(t, fmt.Sprintf("products of %T in %T, %v", *new(P), *new(S), size), got, want)
		}
	}
}

// computedSizes are widths, heights and channels.
var computedSizes = [][3]int{{0, 0, 1}, {0, 5, 1}, {5, 0, 2}, {1, 1, 1}, {7, 5, 3}, {33, 40, 1}, {65, 131, 2}, {300, 70, 1}}

// alikeTables compares a table of a device, which adds floats in another order, with that of the CPU.
func alikeTables[S boxsum.Sum](t *testing.T, what string, got, want *boxsum.Table[S]) {
	t.Helper()
	if got.Width != want.Width || got.Height != want.Height || got.Channels != want.Channels || got.Offset != want.Offset || got.Bound != want.Bound || got.Signed != want.Signed {
		t.Fatalf("%s: %+v, want %+v", what, got, want)
	}
	for y := range want.Height + 1 {
		a, b := got.Exclusive().Row(y), want.Exclusive().Row(y)
		if raster.TypeOf[S]().Float() {
			for i := range b {
				if e := math.Abs(float64(a[i]) - float64(b[i])); !(e <= 1e-9*math.Abs(float64(b[i]))+1e-6) {
					t.Fatalf("%s: element %d of row %d is %v, want %v", what, i, y, a[i], b[i])
				}
			}
		} else if !slices.Equal(a, b) {
			t.Fatalf("%s: row %d is %v, want %v", what, y, a, b)
		}
	}
}

// TestOnValid compares tables of valid pixels with those of the CPU.
func TestOnValid(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		onValid[uint32, uint64, uint8](t, d)
		onValid[float64, float64, float32](t, d)
	})
}

func onValid[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](t *testing.T, d *Device) {
	t.Helper()
	for i, size := range computedSizes {
		img := fixture.Noise[P](uint64(i), size[0], size[1], size[2], 3)
		float := raster.TypeOf[P]().Float()
		if float {
			nan := math.NaN()
			for k := 0; k < len(img.Pix); k += 7 {
				img.Pix[k] = P(nan)
			}
		}
		mask := fixture.Noise[uint8](uint64(i+50), size[0], size[1], 1, 2)
		for k := range mask.Pix {
			mask.Pix[k] &= 1
		}
		for _, valid := range []boxsum.Valid{{Mask: mask, SkipNaN: float}, {SkipNaN: true}} {
			want, err := boxsum.IntegrateValid[S, Q](img, valid, nil)
			if err != nil {
				t.Fatal(err)
			}
			var told []float64
			opt := &boxsum.Options{On: d, BandRows: 16, Progress: func(done float64) { told = append(told, done) }}
			got, err := boxsum.IntegrateValid[S, Q](img, valid, opt)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%T to %T, %v", *new(P), *new(S), size)
			alikeTables(t, what+", sums", got.Sum, want.Sum)
			alikeTables(t, what+", squares", got.Squares, want.Squares)
			alikeTables(t, what+", counts", got.Count, want.Count)
			if len(told) == 0 || told[len(told)-1] != 1 || !slices.IsSorted(told) {
				t.Errorf("%s: progress is %v", what, told)
			}
			got.Squares = nil
			if err := boxsum.IntegrateValidInto(got, img, valid, &boxsum.Options{On: d}); err != nil {
				t.Fatal(err)
			}
			alikeTables(t, what+", sums alone", got.Sum, want.Sum)
		}
	}
}

// TestOnComputedErrors checks that images stay as they are, and the errors of computed tables.
func TestOnComputedErrors(t *testing.T) {
	img := fixture.Noise[uint8](1, 40, 100, 1, 0)
	before := bytes.Clone(img.Pix)
	wide := boxsum.Image[uint64]{Pix: make([]uint64, 6), Width: 3, Height: 2}
	eachDevice(t, func(t *testing.T, d *Device) {
		checkRefusals(t, map[string]refusal{
			"products":      {second(products.Integrate[uint64](img, img, &products.Options{On: d, Context: canceled()})), context.Canceled},
			"valid":         {second(boxsum.IntegrateValid[uint32, uint64](img, boxsum.Valid{}, &boxsum.Options{On: d, Context: canceled()})), context.Canceled},
			"64-bit pixels": {boxsum.IntegrateValidInto(&boxsum.ValidTable[uint64, uint64]{Sum: tableOf[uint64](3, 2), Count: tableOf[uint32](3, 2)}, wide, boxsum.Valid{}, &boxsum.Options{On: d}), boxsum.ErrTypes},
		})
	})
	if !bytes.Equal(img.Pix, before) {
		t.Error("the image changed")
	}
}

func tableOf[S boxsum.Sum](width, height int) *boxsum.Table[S] {
	return &boxsum.Table[S]{Sums: make([]S, (width+1)*(height+1)), Width: width, Height: height}
}
