package gpu

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// A statistics is a table on the host that returns statistics of boxes.
type statistics interface {
	Mean(box image.Rectangle, channel int) float64
	StdDev(box image.Rectangle, channel int) float64
}

// squaredWays returns all ways to compute both tables of an image.
func squaredWays[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](d *Device, im boxsum.Image[P], opt *Options) map[string]func() (*boxsum.SquaredTable[S, Q], error) {
	host := &boxsum.Options{On: d}
	if opt != nil {
		host.Offset, host.Plain = opt.Offset, opt.Plain
	}
	return map[string]func() (*boxsum.SquaredTable[S, Q], error){
		"on the device": func() (*boxsum.SquaredTable[S, Q], error) {
			src, err := Upload(d, im)
			if err != nil {
				return nil, err
			}
			defer src.Close()
			t, err := IntegrateSquares[S, Q](src, opt)
			if err != nil {
				return nil, err
			}
			defer t.Close()
			return t.Download(0)
		},
		"one by one": func() (*boxsum.SquaredTable[S, Q], error) {
			src, err := Upload(d, im)
			if err != nil {
				return nil, err
			}
			defer src.Close()
			t, err := IntegrateSquares[S, Q](src, opt)
			if err != nil {
				return nil, err
			}
			defer t.Close()
			squares, err := t.Squares.Download(0)
			if err != nil {
				return nil, err
			}
			sum, err := t.Sum.Download(0)
			return &boxsum.SquaredTable[S, Q]{Sum: sum, Squares: squares}, err
		},
		"by the host": func() (*boxsum.SquaredTable[S, Q], error) { return boxsum.IntegrateSquares[S, Q](im, host) },
		"in a pipeline": func() (t *boxsum.SquaredTable[S, Q], err error) {
			for t, err = range PipelineSquares[S, Q](context.Background(), d, slices.Values([]boxsum.Image[P]{im}), nil) {
			}
			return t, err
		},
		"in bands of a pipeline": func() (t *boxsum.SquaredTable[S, Q], err error) {
			t, err = boxsum.NewSquaredTable[S, Q](im.Width, im.Height, im.Channels)
			if err != nil {
				return nil, err
			}
			images := func(yield func(*boxsum.SquaredTable[S, Q], boxsum.Image[P]) bool) { yield(t, im) }
			for t, err = range PipelineSquaresInto(context.Background(), d, images, &PipelineOptions{BandRows: max(im.Height/3, 1)}) {
			}
			return t, err
		},
	}
}

// someBoxes returns boxes of all sizes, the whole image first.
func someBoxes(width, height int) []image.Rectangle {
	boxes := []image.Rectangle{image.Rect(0, 0, width, height), image.Rect(1, 0, width, height-1), image.Rect(width/3, height/4, width/3+2, height/4+1)}
	r := rand.New(rand.NewPCG(3, 7))
	for range 20 {
		x, y := r.IntN(width), r.IntN(height)
		boxes = append(boxes, image.Rect(x, y, x+1+r.IntN(width-x), y+1+r.IntN(height-y)))
	}
	return boxes
}

// sameStatistics compares the statistics of two tables.
func sameStatistics(got, want statistics, boxes []image.Rectangle) error {
	for _, box := range boxes {
		if g, w := got.Mean(box, 0), want.Mean(box, 0); g != w {
			return fmt.Errorf("the mean of %v is %v, not %v", box, g, w)
		}
		if g, w := got.StdDev(box, 0), want.StdDev(box, 0); g != w {
			return fmt.Errorf("the deviation of %v is %v, not %v", box, g, w)
		}
	}
	return nil
}

// TestBrightImage checks means and deviations of boxes whose sums overflow.
func TestBrightImage(t *testing.T) {
	if testing.Short() {
		t.Skip("integrates 18 megapixels: leave out -short")
	}
	eachDevice(t, func(t *testing.T, d *Device) {
		const side = 4200 // sums exceed 32 bits from 4105 pixels a side
		im, err := boxsum.NewImage[uint8](side, side, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range im.Pix {
			im.Pix[i] = 255
		}
		for name, make := range squaredWays[uint32, uint64](d, im, nil) {
			if name == "one by one" || name == "in bands of a pipeline" {
				continue
			}
			table, err := make()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, box := range []image.Rectangle{table.Sum.Bounds(), image.Rect(1, 2, side-3, side-4), image.Rect(0, 0, 4104, 4104)} {
				if mean, std := table.Mean(box, 0), table.StdDev(box, 0); mean != 255 || std != 0 {
					t.Errorf("%s: the mean of %v is %v and the deviation %v, not 255 and 0", name, box, mean, std)
				}
			}
		}
	})
}

// wrapped32 returns a 32-bit image of which hardly two pixels, or a single square, fit in a sum.
func wrapped32[P uint32 | int32](width, height int, bits int) boxsum.Image[P] {
	im, _ := boxsum.NewImage[P](width, height, 1)
	r := rand.New(rand.NewPCG(1, uint64(bits)))
	for i := range im.Pix {
		im.Pix[i] = P(r.Uint32() >> (32 - bits))
	}
	return im
}

// TestWidePixels checks that means and deviations equal the CPU's for 32-bit pixels, whose 32-bit
// sums and 64-bit squares soon wrap.
func TestWidePixels(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		const width, height = 70, 45
		boxes := someBoxes(width, height)
		for _, bits := range []int{32, 20} {
			check := func(name string, got, want statistics, err error) {
				t.Helper()
				if err == nil {
					err = sameStatistics(got, want, boxes)
				}
				if err != nil {
					t.Errorf("%d bits, %s: %v", bits, name, err)
				}
			}
			im := wrapped32[uint32](width, height, bits)
			want, err := boxsum.IntegrateSquares[uint32, uint64](im, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, make := range squaredWays[uint32, uint64](d, im, nil) {
				got, err := make()
				check(name, got, want, err)
			}
			signed := wrapped32[int32](width, height, bits)
			wantSigned, err := boxsum.IntegrateSquares[int64, uint64](signed, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := squaredWays[int64, uint64](d, signed, nil)["on the device"]()
			check("int32", got, wantSigned, err)
		}
	})
}

// TestWidePixelsOfOtherTables does the same for volumes, tilted and rotated tables.
func TestWidePixelsOfOtherTables(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		const width, height = 30, 21
		im := wrapped32[uint32](width, height, 32)
		src := upload(t, d, im)
		wantTilted, err1 := tilted.IntegrateSquares[uint32, uint64](im, nil)
		onDevice, err2 := IntegrateTiltedSquares[uint32, uint64](src, nil)
		gotTilted, err3 := onDevice.Download(0)
		byHost, err4 := tilted.IntegrateSquares[uint32, uint64](im, &tilted.Options{On: d})
		if err := errors.Join(err1, err2, err3, err4, onDevice.Close()); err != nil {
			t.Fatal(err)
		}
		for _, b := range []tilted.Box{{X: 15, Y: 1, W: 6, H: 5}, {X: 12, Y: 3, W: 1, H: 1}, {X: 20, Y: 0, W: 8, H: 9}, {X: 15, Y: -3, W: 30, H: 30}} {
			want, deviation := wantTilted.Mean(b, 0), wantTilted.StdDev(b, 0)
			for _, got := range []*tilted.SquaredTable[uint32, uint64]{gotTilted, byHost} {
				if g := got.Mean(b, 0); g != want && !(math.IsNaN(g) && math.IsNaN(want)) {
					t.Errorf("tilted: the mean of %v is %v, want %v", b, g, want)
				}
				if g := got.StdDev(b, 0); g != deviation && !(math.IsNaN(g) && math.IsNaN(deviation)) {
					t.Errorf("tilted: the deviation of %v is %v, want %v", b, g, deviation)
				}
			}
		}

		rot := rotated.Rotation{A: 1, B: 2}
		wantRotated, err1 := rotated.Integrate[uint32](im, rot, nil)
		gotRotated, err2 := rotated.Integrate[uint32](im, rot, &rotated.Options{On: d})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if all := wantRotated.Bounds(); gotRotated.Mean(all, 0) != wantRotated.Mean(all, 0) {
			t.Errorf("rotated: the mean is %v, want %v", gotRotated.Mean(all, 0), wantRotated.Mean(all, 0))
		}

		v := volume.Volume[uint32]{Pix: im.Pix, Width: 10, Height: 7, Depth: 9}
		vol, err1 := UploadVolume(d, v)
		wantVolume, err2 := volume.IntegrateSquares[uint32, uint64](v, nil)
		tables, err3 := IntegrateVolumeSquares[uint32, uint64](vol, nil)
		gotVolume, err4 := tables.Download()
		volumeByHost, err5 := volume.IntegrateSquares[uint32, uint64](v, &volume.Options{On: d})
		if err := errors.Join(err1, err2, err3, err4, err5, tables.Close(), vol.Close()); err != nil {
			t.Fatal(err)
		}
		for _, box := range []volume.Box{volume.NewBox(0, 0, 0, 10, 7, 9), volume.NewBox(1, 2, 3, 9, 6, 7), volume.NewBox(3, 3, 3, 4, 4, 5)} {
			for _, got := range []*volume.SquaredTable[uint32, uint64]{gotVolume, volumeByHost} {
				if g, w := got.Mean(box, 0), wantVolume.Mean(box, 0); g != w {
					t.Errorf("volume: the mean of %v is %v, want %v", box, g, w)
				}
				if g, w := got.StdDev(box, 0), wantVolume.StdDev(box, 0); g != w {
					t.Errorf("volume: the deviation of %v is %v, want %v", box, g, w)
				}
			}
		}
	})
}

// far returns noise around middle with a deviation of about 1.
func far[P float32 | float64](width, height int, middle float64) boxsum.Image[P] {
	im, _ := boxsum.NewImage[P](width, height, 1)
	r := rand.New(rand.NewPCG(5, math.Float64bits(middle)))
	for i := range im.Pix {
		im.Pix[i] = P(middle + r.NormFloat64())
	}
	return im
}

// deviation returns the standard deviation of a box, in two passes.
func deviation[P float32 | float64](im boxsum.Image[P], box image.Rectangle) float64 {
	var sum, squares, n float64
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for _, p := range im.Row(y)[box.Min.X:box.Max.X] {
			sum += float64(p) - float64(im.Pix[0])
			n++
		}
	}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for _, p := range im.Row(y)[box.Min.X:box.Max.X] {
			squares += math.Pow(float64(p)-float64(im.Pix[0])-sum/n, 2)
		}
	}
	return math.Sqrt(squares / n)
}

// checkFar compares deviations with those of two passes. If refused is set, they may be NaN.
func checkFar[S boxsum.Sum, P float32 | float64](t *testing.T, name string, table *boxsum.SquaredTable[S, float64], im boxsum.Image[P], refused bool) {
	t.Helper()
	for _, box := range someBoxes(im.Width, im.Height)[:8] {
		want, got := deviation(im, box), table.StdDev(box, 0)
		if refused && math.IsNaN(got) {
			continue
		}
		if !(math.Abs(got-want) <= 1e-6*want) && !(refused && math.Abs(got-want) <= 0.02*want) {
			t.Errorf("%s around %v: the deviation of %v is %v, want %v", name, im.Pix[0], box, got, want)
		}
		if mean := table.Mean(box, 0); !(math.Abs(mean-float64(im.Pix[0])) < 20) {
			t.Errorf("%s around %v: the mean of %v is %v", name, im.Pix[0], box, mean)
		}
	}
}

// TestFarFromZero checks that deviations of floats far from zero are correct: the offset is the
// CPU's, and box sums on the device have it added back.
func TestFarFromZero(t *testing.T) {
	ref.SkipRace(t)
	eachDevice(t, func(t *testing.T, d *Device) {
		farFromZero[float32, float32](t, d, 1e5)
		farFromZero[float32, float64](t, d, 1e6)
		farFromZero[float64, float64](t, d, 1e7)
		farFromZero[float64, float64](t, d, -1e5)
	})
}

func farFromZero[P float32 | float64, S float32 | float64](t *testing.T, d *Device, middle float64) {
	im := far[P](150, 120, middle)
	pixels := arrayOfImage(im)
	cpu, err := boxsum.IntegrateSquares[S, float64](im, nil)
	if err != nil {
		t.Fatal(err)
	}
	if cpu.Sum.Offset == 0 {
		t.Fatalf("the CPU has no offset around %v", middle)
	}
	for name, make := range squaredWays[S, float64](d, im, nil) {
		table, err := make()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if table.Sum.Offset != cpu.Sum.Offset || table.Squares.Offset != cpu.Squares.Offset {
			t.Errorf("%s: offsets of %v and %v, the CPU has %v", name, table.Sum.Offset, table.Squares.Offset, cpu.Sum.Offset)
		}
		if err := errors.Join(equals(tableOfSums(table.Sum), tableOfSums(cpu.Sum), &pixels, false), equals(tableOfSums(table.Squares), tableOfSums(cpu.Squares), &pixels, true)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		checkFar(t, name, table, im, false)
		for _, box := range someBoxes(im.Width, im.Height) {
			if got, want := table.Squares.Sum(box), cpu.Squares.Sum(box); !(math.Abs(got-want) <= 1e-6*want) {
				t.Errorf("%s: the squares of %v sum to %v, want %v", name, box, got, want)
			}
		}
	}
	for name, make := range squaredWays[S, float64](d, im, &Options{Plain: true}) {
		if name != "on the device" && name != "by the host" {
			continue
		}
		table, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if table.Sum.Offset != 0 {
			t.Errorf("%s: a plain table has an offset", name)
		}
		checkFar(t, name+", plain,", table, im, true)
	}

	src := upload(t, d, im)
	tables, err := IntegrateSquares[S, float64](src, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	boxes := someBoxes(im.Width, im.Height)
	sums, squares := make([]S, len(boxes)), make([]float64, len(boxes))
	if err := errors.Join(tables.Sum.SumBoxes(0, sums, boxes), tables.Squares.SumBoxes(0, squares, boxes)); err != nil {
		t.Fatal(err)
	}
	for i, box := range boxes {
		if s, q := cpu.Sum.Sum(box), cpu.Squares.Sum(box); !(math.Abs(float64(sums[i]-s)) <= 1e-6*math.Abs(float64(s))) || !(math.Abs(squares[i]-q) <= 1e-6*q) {
			t.Errorf("on the device %v sums to %v and %v, want %v and %v", box, sums[i], squares[i], s, q)
		}
	}
	if tables.Sum.Offset() != cpu.Sum.Offset {
		t.Errorf("the offset is %v, want %v", tables.Sum.Offset(), cpu.Sum.Offset)
	}
	// The sums that belong to the squares are those that were computed with them, or none.
	if err := IntegrateInto(tables.Sum, src, nil); err != nil {
		t.Fatal(err)
	}
	if err := tables.Squares.SumBoxes(0, squares, boxes); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("squares with other sums beside them: %v", err)
	}
	if _, err := tables.Squares.Download(0); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("a download of squares with other sums beside them: %v", err)
	}
}

// TestFarBatch uses a batch of images with different means.
func TestFarBatch(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		var images []boxsum.Image[float32]
		for _, middle := range []float64{1e5, 1e5 + 1, 0, 0, 1e4, -1e5} {
			images = append(images, far[float32](60, 50, middle))
		}
		src := upload(t, d, images...)
		tables, err := IntegrateSquares[float64, float64](src, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tables.Close()
		for i, im := range images {
			table, err := tables.Download(i)
			if err != nil {
				t.Fatal(err)
			}
			checkFar(t, fmt.Sprintf("image %d of a batch", i), table, im, false)
			if far := math.Abs(float64(im.Pix[0])) > 100; far != (table.Sum.Offset != 0) {
				t.Errorf("image %d around %v has an offset of %v", i, im.Pix[0], table.Sum.Offset)
			}
			boxes := someBoxes(im.Width, im.Height)
			got := make([]float64, len(boxes))
			if err := tables.Squares.SumBoxes(i, got, boxes); err != nil {
				t.Fatal(err)
			}
			for n, box := range boxes {
				if want := table.Squares.Sum(box); !(math.Abs(got[n]-want) <= 1e-9*want) {
					t.Errorf("image %d: on the device the squares of %v sum to %v, want %v", i, box, got[n], want)
				}
			}
		}
		empty, err := NewImage[float32](d, 0, 3, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		none, err := IntegrateSquares[float64, float64](empty, nil)
		if err := errors.Join(err, none.Close(), empty.Close()); err != nil {
			t.Errorf("images without pixels: %v", err)
		}
	})
}

// TestFarVolume does the same for volumes.
func TestFarVolume(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		im := far[float32](40, 30*20, 1e5)
		v := volume.Volume[float32]{Pix: im.Pix, Width: 40, Height: 30, Depth: 20}
		cpu, err := volume.IntegrateSquares[float32, float64](v, nil)
		if err != nil {
			t.Fatal(err)
		}
		vol, err := UploadVolume(d, v)
		if err != nil {
			t.Fatal(err)
		}
		defer vol.Close()
		tables, err := IntegrateVolumeSquares[float32, float64](vol, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tables.Close()
		onDevice, err1 := tables.Download()
		byHost, err2 := volume.IntegrateSquares[float32, float64](v, &volume.Options{On: d, BandRows: 7})
		squares, err3 := tables.Squares.Download()
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		all := volume.NewBox(0, 0, 0, 40, 30, 20)
		for _, box := range []volume.Box{all, volume.NewBox(3, 4, 5, 30, 20, 19), volume.NewBox(1, 1, 1, 20, 9, 6)} {
			for name, got := range map[string]*volume.SquaredTable[float32, float64]{"on the device": onDevice, "by the host": byHost} {
				if g, w := got.StdDev(box, 0), cpu.StdDev(box, 0); !(math.Abs(g-w) <= 1e-5*w) || got.Sum.Offset != cpu.Sum.Offset {
					t.Errorf("%s: the deviation of %v is %v, want %v; the offset %v", name, box, g, w, got.Sum.Offset)
				}
			}
			one := make([]float64, 1)
			if err := tables.Squares.SumBoxes(one, []volume.Box{box}); err != nil {
				t.Fatal(err)
			}
			for _, got := range []float64{one[0], squares.Sum(box)} {
				if want := cpu.Squares.Sum(box); !(math.Abs(got-want) <= 1e-6*want) {
					t.Errorf("the squares of %v sum to %v, want %v", box, got, want)
				}
			}
		}
	})
}
