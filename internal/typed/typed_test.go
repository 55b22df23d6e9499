package typed_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

const width, height, depth, channels = 13, 9, 4, 2

// random returns small whole numbers of a type, whose sums and squares every type holds.
func random(t *testing.T, rng *rand.Rand, pixel raster.Type, e raster.Extent) raster.Array {
	t.Helper()
	a, err := raster.NewPixelArray(pixel, e)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Len() {
		value := rng.Uint64N(100)
		switch to := a.From(i); pixel {
		case raster.F32:
			binary.NativeEndian.PutUint32(to, math.Float32bits(float32(value)))
		case raster.F64:
			binary.NativeEndian.PutUint64(to, math.Float64bits(float64(value)))
		default:
			size := pixel.Bytes()
			at := 0
			if raster.BigEndian {
				at = size - 1
			}
			to[at] = byte(value)
		}
	}
	return a
}

// A reference holds what a table should answer of one channel of a box.
type reference struct {
	n            int
	sum, squares float64
}

func (r *reference) add(v float64) { r.n, r.sum, r.squares = r.n+1, r.sum+v, r.squares+v*v }

func (r *reference) std() float64 {
	if r.n == 0 {
		return 0
	}
	n := float64(r.n)
	return math.Sqrt(r.squares/n - r.sum/n*(r.sum/n))
}

// check compares all answers about a box with those of the reference.
func check[B any](t *testing.T, table typed.Table[B], box B, want [channels]reference) {
	t.Helper()
	var totals [channels]stats.Sum
	var means, variances, deviations [channels]float64
	all := []B{box}
	sums := raster.Array{Data: raster.Aligned(channels * table.Type().Bytes()), Type: table.Type(), Extent: raster.PlaneExtent(channels, 1, 1, channels)}
	err := errors.Join(table.SumBoxes(sums.Data, all), table.Totals(totals[:], all), table.MeanBoxes(means[:], all),
		table.VarianceBoxes(variances[:], all), table.StdDevBoxes(deviations[:], all))
	if err != nil {
		t.Fatal(err)
	}
	for channel, w := range want {
		mean := w.sum / float64(max(w.n, 1))
		if got := fmt.Sprint(table.Sum(box, channel)); got != fmt.Sprint(w.sum) {
			t.Fatalf("%v, channel %d: the sum is %v, want %v", box, channel, got, w.sum)
		}
		if got := sums.Floats(nil, 0, channel, channel+1, 1)[0]; got != w.sum {
			t.Fatalf("%v, channel %d: SumBoxes wrote %v, want %v", box, channel, got, w.sum)
		}
		if got := stats.Mean(1, totals[channel]); got != w.sum {
			t.Fatalf("%v, channel %d: the total is %v, want %v", box, channel, got, w.sum)
		}
		for name, got := range map[string]float64{"Mean": table.Mean(box, channel), "MeanBoxes": means[channel]} {
			if math.Abs(got-mean) > 1e-9 {
				t.Fatalf("%v, channel %d: %s is %v, want %v", box, channel, name, got, mean)
			}
		}
		for name, got := range map[string]float64{
			"StdDev": table.StdDev(box, channel), "StdDevBoxes": deviations[channel], "VarianceBoxes": math.Sqrt(variances[channel]),
		} {
			if math.Abs(got-w.std()) > 1e-6 {
				t.Fatalf("%v, channel %d: %s is %v, want %v", box, channel, name, got, w.std())
			}
		}
	}
}

// made makes the tables of a job.
func made(t *testing.T, job *engine.Job) {
	t.Helper()
	err := job.Check()
	if err == nil {
		job.Sums.Array, err = raster.NewTable(job.Sums.Type, job.Src.Extent)
	}
	if err == nil && job.Squares.Type != 0 {
		job.Squares.Array, err = raster.NewTable(job.Squares.Type, job.Src.Extent)
	}
	if err == nil {
		err = job.Run()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func jobOf(kind engine.Kind, src raster.Array, sum raster.Type) *engine.Job {
	job := &engine.Job{Kind: kind, Src: src}
	job.Sums.Type, job.Squares.Type = sum, raster.SquarePairs.Default(src.Type)
	return job
}

// TestPairs compares the answers about random boxes with those of the pixels, for all
// kinds of tables and pairs of types.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, p := range raster.SumPairs.For(raster.OnDevice) {
		t.Run(p.String(), func(t *testing.T) {
			img := random(t, rng, p.Pixel, raster.PlaneExtent(width, height, channels, 0))
			value := func(a *raster.Array, x, y, channel int) float64 {
				at := x*channels + channel
				return a.Floats(nil, y, at, at+1, 1)[0]
			}
			within := func(in func(x, y int) bool) (want [channels]reference) {
				for y := range height {
					for x := range width {
						for c := range channels {
							if in(x, y) {
								want[c].add(value(&img, x, y, c))
							}
						}
					}
				}
				return want
			}
			job := jobOf(engine.Upright, img, p.Sum)
			made(t, job)
			upright, err := typed.NewUpright(&job.Sums, &job.Squares, nil)
			if err != nil {
				t.Fatal(err)
			}
			solidImage := random(t, rng, p.Pixel, raster.VolumeExtent(width, height, depth, channels, 0, 0))
			solidJob := jobOf(engine.Volume, solidImage, p.Sum)
			made(t, solidJob)
			solid, err := typed.NewVolume(&solidJob.Sums, &solidJob.Squares)
			if err != nil {
				t.Fatal(err)
			}
			turned, err := typed.IntegrateRotated(img, p.Sum, raster.F64, rotated.Rotation{A: 1, B: 2}, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			leaning := jobOf(engine.Tilted, img, p.Sum)
			made(t, leaning)
			tilt, err := typed.NewTilted(&leaning.Sums, &leaning.Squares)
			if err != nil {
				t.Fatal(err)
			}
			for range 50 {
				box := image.Rect(rng.IntN(width+4)-2, rng.IntN(height+4)-2, rng.IntN(width+4)-2, rng.IntN(height+4)-2)
				check(t, upright, box, within(func(x, y int) bool { return image.Pt(x, y).In(box) }))
				if area, in := upright.Area(box, 0), box.Intersect(image.Rect(0, 0, width, height)); area != in.Dx()*in.Dy() {
					t.Fatalf("the area of %v is %d", box, area)
				}

				block := volume.Box{X0: box.Min.X, X1: box.Max.X, Y0: box.Min.Y, Y1: box.Max.Y, Z0: rng.IntN(depth) - 1, Z1: rng.IntN(depth + 2)}
				var want [channels]reference
				for z := max(block.Z0, 0); z < min(block.Z1, depth); z++ {
					slice := solidImage
					slice.Data = solidImage.From(z * solidImage.SliceStride)
					for y := range height {
						for x := range width {
							for c := range channels {
								if image.Pt(x, y).In(box) {
									want[c].add(value(&slice, x, y, c))
								}
							}
						}
					}
				}
				check(t, solid, block, want)

				cells := rotated.Box{C0: rng.IntN(20) - 5, R0: rng.IntN(20) - 5, C1: rng.IntN(20) - 2, R1: rng.IntN(20) - 2}
				check(t, turned, cells, within(func(x, y int) bool {
					c, r := turned.Lattice().Cell(x, y)
					return c >= cells.C0 && c < cells.C1 && r >= cells.R0 && r < cells.R1
				}))

				lean := tilted.Box{X: rng.IntN(width), Y: rng.IntN(height), W: 1 + rng.IntN(3), H: 1 + rng.IntN(3)}
				inside := within(func(x, y int) bool {
					u, v := x+y-(lean.X+lean.Y-1), lean.X-lean.Y-(x-y)
					return u >= 0 && u < 2*lean.W && v > 0 && v <= 2*lean.H
				})
				for channel, w := range inside {
					if got := fmt.Sprint(tilt.Sum(lean, channel)); got != fmt.Sprint(w.sum) {
						t.Fatalf("%v sums to %v, want %v", lean, got, w.sum)
					}
					if got := tilt.StdDev(lean, channel); math.Abs(got-w.std()) > 1e-6 {
						t.Fatalf("the deviation of %v is %v, want %v", lean, got, w.std())
					}
					if got := tilt.Mean(lean, channel); math.Abs(got-w.sum/float64(max(w.n, 1))) > 1e-9 {
						t.Fatalf("the mean of %v is %v, want %v of %d", lean, got, w.sum, w.n)
					}
				}
			}

			f, err := haar.New(haar.Kinds()[0], image.Rect(1, 1, 5, 4))
			if err != nil {
				t.Fatal(err)
			}
			for name, table := range map[string]interface {
				Features(int, raster.Type) (typed.Features, error)
			}{"upright": upright, "rotated": turned} {
				exact, err := table.Features(1, typed.Values(p.Sum))
				if err != nil {
					t.Fatal(err)
				}
				floats, err := table.Features(1, raster.F64)
				if err != nil {
					t.Fatal(err)
				}
				at := image.Pt(4, 3)
				a, err1 := exact.Value(f, at)
				b, err2 := floats.Value(f, at)
				if err := errors.Join(err1, err2); err != nil || fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("%s: the feature is %v, and %v in float64, %v", name, a, b, err)
				}
				if a.Type() != typed.Values(p.Sum) || b.Type() != raster.F64 {
					t.Errorf("%s: values of types %v and %v", name, a.Type(), b.Type())
				}
			}
		})
	}
}

// TestFeatures tests the value of an edge on tables with every type of sums.
func TestFeatures(t *testing.T) {
	const want = 8 * 9
	img, err := raster.NewPixelArray(raster.U8, raster.PlaneExtent(8, 8, 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	for i := range img.Data {
		if img.Data[i] = 1; i%8 >= 4 {
			img.Data[i] = 10
		}
	}
	edge, err := haar.New(haar.EdgeX, image.Rect(0, 0, 4, 4))
	if err != nil {
		t.Fatal(err)
	}
	at := image.Pt(2, 2)
	set, err := haar.NewSet(4, 4, edge)
	if err != nil {
		t.Fatal(err)
	}
	for _, sum := range raster.SumPairs.Of(raster.U8) {
		job := jobOf(engine.Upright, img, sum)
		made(t, job)
		upright, err := typed.NewUpright(&job.Sums, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		turned, err := typed.IntegrateRotated(img, sum, 0, rotated.Rotation{A: 0, B: 1}, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, table := range map[string]interface {
			Features(int, raster.Type) (typed.Features, error)
		}{"upright": upright, "rotated": turned} {
			for _, values := range []raster.Type{raster.I64, raster.F64} {
				f, err := table.Features(0, values)
				if sum.Float() && values == raster.I64 {
					if !errors.Is(err, boxsum.ErrTypes) {
						t.Errorf("%s table of %v: whole values: %v", name, sum, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if v, err := f.Value(edge, at); fmt.Sprint(v) != fmt.Sprint(want) || err != nil {
					t.Errorf("%s table of %v: %v, %v, want %v", name, sum, v, err, want)
				}
				all := raster.Array{Data: raster.Aligned(8), Type: values, Extent: raster.PlaneExtent(1, 1, 1, 1)}
				if err := f.Values(all.Data, set, []image.Point{at}, nil); err != nil || all.Floats(nil, 0, 0, 1, 1)[0] != want {
					t.Errorf("%s table of %v: %v, %v, want %v", name, sum, all, err, want)
				}
				corrected := make([]float64, 1)
				one, err1 := f.Corrected(edge, at)
				err2 := f.CorrectedValues(corrected, set, []image.Point{at}, nil)
				plus, minus, err3 := f.Areas(edge, at)
				if err := errors.Join(err1, err2, err3); err != nil || one != want || corrected[0] != want || plus != 8 || minus != 8 {
					t.Errorf("%s table of %v: %v, %v, areas %d and %d, %v", name, sum, one, corrected, plus, minus, err)
				}
			}
			if _, err := table.Features(3, raster.F64); err == nil {
				t.Errorf("%s table of %v: channel 3 of 1", name, sum)
			}
		}
	}
}

// TestValid tests that invalid pixels do not count, also where an offset is added back.
func TestValid(t *testing.T) {
	img := boxsum.Image[float32]{Pix: []float32{1000, float32(math.NaN()), 1002, 1003, 1004, 1005}, Width: 3, Height: 2, Channels: 1}
	job := engine.ValidJob{NaN: true}
	job.Src = raster.ArrayOf(img.Pix, raster.PlaneExtent(3, 2, 1, 3))
	job.Sums.Type, job.Squares.Type, job.Count.Type = raster.F64, raster.F64, raster.U32
	err := job.Check()
	for _, table := range []*engine.Table{&job.Sums, &job.Squares, &job.Count} {
		if err == nil {
			table.Array, err = raster.NewTable(table.Type, job.Src.Extent)
		}
	}
	if err == nil {
		err = job.Run()
	}
	if err != nil {
		t.Fatal(err)
	}
	if job.Sums.Offset == 0 {
		t.Fatal("no offset to add back")
	}
	table, err := typed.NewUpright(&job.Sums, &job.Squares, &job.Count)
	if err != nil {
		t.Fatal(err)
	}
	all := image.Rect(0, 0, 9, 9)
	if sum, mean, area := table.Sum(all, 0), table.Mean(all, 0), table.Area(all, 0); sum != stats.SumOf(5014.0) || mean != 5014.0/5 || area != 5 {
		t.Errorf("sum %v, mean %v, area %v", sum, mean, area)
	}
	want, err := boxsum.IntegrateValid[float64, float64](img, boxsum.Valid{SkipNaN: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.StdDev(all, 0), want.StdDev(all, 0); got != want {
		t.Errorf("the deviation is %v, want %v", got, want)
	}
}

// empty returns an image without pixels.
func empty(pixel raster.Type) raster.Array {
	return raster.Array{Type: pixel, Extent: raster.PlaneExtent(0, 0, 1, 0)}
}

// TestNoTables tests that types without tables are errors.
func TestNoTables(t *testing.T) {
	narrow := &engine.Table{Array: raster.Array{Type: raster.U16}}
	bytes := &engine.Table{Array: raster.Array{Type: raster.U32, Data: raster.Aligned(4)}}
	for name, err := range map[string]error{
		"upright":         second(typed.NewUpright(narrow, nil, nil)),
		"upright squares": second(typed.NewUpright(bytes, narrow, nil)),
		"volume":          second(typed.NewVolume(narrow, nil)),
		"volume squares":  second(typed.NewVolume(bytes, narrow)),
		"tilted":          second(typed.NewTilted(narrow, nil)),
		"tilted squares":  second(typed.NewTilted(bytes, narrow)),
		"rotated":         second(typed.IntegrateRotated(empty(raster.U8), raster.I16, 0, rotated.Rotation{A: 1, B: 2}, engine.Options{})),
		"64-bit pixels":   second(typed.IntegrateRotated(empty(raster.U64), raster.U64, 0, rotated.Rotation{A: 1, B: 2}, engine.Options{})),
		"squares":         second(typed.IntegrateRotated(empty(raster.F32), raster.F64, raster.U64, rotated.Rotation{A: 1, B: 2}, engine.Options{})),
	} {
		if !errors.Is(err, boxsum.ErrTypes) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := typed.NewUpright(new(engine.Table), nil, nil); !errors.Is(err, boxsum.ErrInvalid) {
		t.Errorf("no table: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
