package store

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/histogram"
	"github.com/boxsum/boxsum/volume"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// checkVolume compares boxes of a volume with brute force and with package volume.
func checkVolume[P boxsum.Pixel, S uint64 | int64 | float64](t *testing.T, typ zarr.Type, opt Options) {
	t.Helper()
	const d, h, w = 11, 45, 70
	src, data := imageOf(t, &zarr.Spec{Type: typ, Shape: []int{d, h, w}, Chunk: []int{4, 16, 16}}, 7)
	if isFloat(typ) { // whole numbers, so that sums are exact
		for i, v := range raster.Elems[P](data) {
			raster.Elems[P](data)[i] = P(math.Trunc(math.Mod(float64(v), 1000)))
			if raster.Elems[P](data)[i] != raster.Elems[P](data)[i] {
				raster.Elems[P](data)[i] = 1
			}
		}
		if err := src.WriteBytes(ctx, data, []int{0, 0, 0}, []int{d, h, w}); err != nil {
			t.Fatal(err)
		}
	}
	pix := raster.Elems[P](data)
	opt.Volume = true
	b, table := makeTable(t, src, &opt)
	if table.Depth() != d {
		t.Fatalf("%d slices", table.Depth())
	}
	var boxes []volume.Box
	for range 60 {
		boxes = append(boxes, volume.NewBox(rand.IntN(w), rand.IntN(h), rand.IntN(d), rand.IntN(w+3), rand.IntN(h+3), rand.IntN(d+3)))
	}
	boxes = append(boxes, volume.NewBox(0, 0, 0, w, h, d), volume.NewBox(-5, -5, -5, 1, 1, 1))
	sums, means, deviations := make([]S, len(boxes)), make([]float64, len(boxes)), make([]float64, len(boxes))
	if err := errors.Join(SumVolumeBoxes(ctx, table, sums, boxes), table.MeanVolumeBoxes(ctx, means, boxes)); err != nil {
		t.Fatal(err)
	}
	untyped := make([]S, len(sums))
	if err := table.SumVolumeBoxesBytes(ctx, raster.Bytes(untyped), boxes); err != nil || !bytes.Equal(raster.Bytes(untyped), raster.Bytes(sums)) {
		t.Fatalf("sums as bytes differ: %v", err)
	}
	if opt.Squares {
		if err := table.StdDevVolumeBoxes(ctx, deviations, boxes); err != nil {
			t.Fatal(err)
		}
	}
	for i, b := range boxes {
		b = b.Intersect(volume.NewBox(0, 0, 0, w, h, d))
		var sum S
		var squares float64
		for z := b.Z0; z < b.Z1; z++ {
			for y := b.Y0; y < b.Y1; y++ {
				for x := b.X0; x < b.X1; x++ {
					v := pix[(z*h+y)*w+x]
					sum += S(v)
					squares += float64(v) * float64(v)
				}
			}
		}
		n := float64(b.Voxels())
		if sums[i] != sum || n > 0 && math.Abs(means[i]-float64(sum)/n) > 1e-9*math.Abs(means[i]) {
			t.Fatalf("%v: box %v has %v and mean %v, want %v", typ, b, sums[i], means[i], sum)
		}
		if mean := float64(sum) / n; opt.Squares && n > 0 && !(math.Abs(deviations[i]*deviations[i]-(squares/n-mean*mean)) <= 1e-6*squares/n) {
			t.Fatalf("%v: box %v has deviation %v, want %v", typ, b, deviations[i], math.Sqrt(squares/n-mean*mean))
		}
	}
	if damage, err := table.Verify(ctx, nil, nil); err != nil || len(damage) > 0 {
		t.Errorf("%v: verify: %v, %v", typ, damage, err)
	}
	// The passes for many machines write the same bytes.
	other := zarr.Memory()
	job, err := NewJob(ctx, src, other, &opt)
	if err != nil {
		t.Fatal(err)
	}
	passes(t, job)
	same(t, "passes", contents(t, b), contents(t, other))
}

func passes(t *testing.T, job *Job) {
	t.Helper()
	if _, err := job.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	steps(t, job)
}

// steps runs the passes of a worker on a table that has been begun.
func steps(t *testing.T, job *Job) {
	t.Helper()
	rows, columns := job.Blocks()
	for n := range rows * columns {
		if err := job.Edges(ctx, n/columns, n%columns); err != nil {
			t.Fatal(err)
		}
	}
	if err := job.Scan(ctx); err != nil {
		t.Fatal(err)
	}
	for n := range rows * columns {
		if err := job.Integrate(ctx, n/columns, n%columns); err != nil {
			t.Fatal(err)
		}
		if !job.Written(ctx, n/columns, n%columns) {
			t.Errorf("block %d was written", n)
		}
	}
	if err := job.Finish(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestVolumes(t *testing.T) {
	checkVolume[uint8, uint64](t, zarr.Uint8, Options{Block: 32, Squares: true})
	checkVolume[uint8, uint64](t, zarr.Uint8, Options{Block: 24, Compact: true})
	checkVolume[uint16, uint64](t, zarr.Uint16, Options{Squares: true, Compact: true})
	checkVolume[int16, int64](t, zarr.Int16, Options{Block: 32, Chunk: 8, Squares: true})
	checkVolume[int32, int64](t, zarr.Int32, Options{Block: 32})
	checkVolume[float32, float64](t, zarr.Float32, Options{Block: 32, Squares: true})
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{20, 30}, Chunk: []int{20, 30}}, 1)
	if _, err := NewJob(ctx, src, zarr.Memory(), &Options{Volume: true}); !errors.Is(err, zarr.ErrFormat) {
		t.Errorf("an image as a volume: %v", err)
	}
	_, table := makeTable(t, src, nil)
	if err := SumVolumeBoxes(ctx, table, make([]uint64, 1), make([]volume.Box, 1)); !errors.Is(err, zarr.ErrFormat) {
		t.Errorf("boxes of a volume from the table of an image: %v", err)
	}
}

// TestHistograms compares histograms of boxes with package histogram.
func TestHistograms(t *testing.T) {
	const h, w = 90, 75
	for _, compact := range []bool{false, true} {
		for _, bins := range []histogram.Bins{{N: 16}, {N: 7, Low: 30, High: 200}, {N: 5, Low: 100, High: 150, Clamp: true}} {
			src, data := imageOf(t, &zarr.Spec{Type: zarr.Uint8, Shape: []int{h, w}, Chunk: []int{32, 32}}, 3)
			_, table := makeTable(t, src, &Options{Bins: bins, Block: 32, Compact: compact})
			want, err := histogram.Integrate(boxsum.Image[uint8]{Pix: data, Width: w, Height: h}, bins, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := table.Bins(); got.N != bins.N || got.Edge(bins.N) != want.Bins.Edge(bins.N) {
				t.Errorf("bins %+v", got)
			}
			boxes := randomBoxes(50, w, h)
			counts := make([]uint64, len(boxes)*bins.N)
			if err := SumBoxes(ctx, table, counts, boxes); err != nil {
				t.Fatal(err)
			}
			for i, b := range boxes {
				b = b.Intersect(image.Rect(0, 0, w, h))
				one := want.Histogram(nil, b, 0)
				for k, n := range one {
					if counts[i*bins.N+k] != uint64(n) {
						t.Fatalf("%+v: box %v has %v, want %v", bins, b, counts[i*bins.N:][:bins.N], one)
					}
				}
			}
		}
	}
	src, _ := imageOf(t, &zarr.Spec{Type: zarr.Float32, Shape: []int{h, w}, Chunk: []int{32, 32}}, 3)
	for _, opt := range []Options{{Bins: histogram.Bins{N: 4}}, {Bins: histogram.Bins{N: 1}}, {Bins: histogram.Bins{N: 4, Low: 0, High: 1}, Squares: true}} {
		if _, err := NewJob(ctx, src, zarr.Memory(), &opt); err == nil {
			t.Errorf("no error for %s", fmt.Sprint(opt.Bins))
		}
	}
}
