package gpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/raster"
)

// TestFastPaths compares all paths with the CPU's tables, even where another path would have been
// chosen: sizes up to many tiles in each direction, batches, bands, and all layouts.
func TestFastPaths(t *testing.T) {
	count := 8
	if testing.Short() {
		count = 2
	}
	found := false
	for _, info := range devices(t) {
		if info.Kind != CUDA {
			continue
		}
		d := open(t, info)
		if (method.Plane{}).Obstacle(method.Job{Device: d.inner, Channels: 1}) != "" {
			continue
		}
		found = true
		b := d.inner.Backend.CUDA()
		r := rand.New(rand.NewPCG(6, 7))
		check := func(p pair, s shape) {
			for _, b.Tuning.Path = range []string{method.TilePath, method.FlatPath, method.SmallPath, method.TallPath, ""} {
				if !p.check(t, d, s) {
					t.Fatalf("that was path %q", b.Tuning.Path)
				}
			}
		}
		// At 1920x1080 the choice is close; the other sizes have many tiles in a row or column.
		for i, size := range [][2]int{{1920, 1080}, {1919, 1081}, {2500, 1100}, {4400, 65}, {63, 2300}} {
			check(everyPair[0], shape{width: size[0], height: size[1], channels: 1, count: 1, seed: uint64(i), kernels: Fast})
			check(pair{raster.F32, raster.F32, 0}, shape{width: size[0], height: size[1], channels: 1, count: 1, seed: uint64(i), kernels: Fast, bandRows: 300})
			check(pair{raster.U8, raster.F64, 0}, shape{width: size[0], height: size[1], channels: 1, count: 1, seed: uint64(i), kernels: Fast})
			check(pair{raster.U8, raster.U32, raster.U64}, shape{width: size[0], height: size[1], channels: 1, count: 1, seed: uint64(i), kernels: Fast, bandRows: 500})
		}
		check(everyPair[0], shape{width: 33, height: 47, channels: 3, count: 70, kernels: Fast})
		n := 0
		for _, p := range everyPair {
			if !p.onePass() {
				continue
			}
			for channels := 1; channels <= method.FastChannels; channels++ {
				for range count {
					s := randomShape(r, p.float())
					s.channels, s.width, s.height = channels, 1+r.IntN(600), 1+r.IntN(400)
					s.count, s.seed, s.kernels, s.bandRows = 1+r.IntN(3), r.Uint64(), Fast, r.IntN(s.height+1)
					check(p, s)
					n++
				}
			}
		}
		fmt.Printf("%s: %d random tables along each path equal the CPU\n", info.Name, n)
	}
	if !found {
		t.Log("no device here has one-pass kernels: they need CUDA and compute capability 8.0")
	}
}

// TestTiltedWidths checks that tilted tables do not depend on the width of tiles.
func TestTiltedWidths(t *testing.T) {
	found := false
	for _, info := range devices(t) {
		if info.Kind != CUDA {
			continue
		}
		found = true
		d := open(t, info)
		b := d.inner.Backend.CUDA()
		r := rand.New(rand.NewPCG(8, 9))
		for _, p := range tiltedPairs {
			for range 3 {
				s := shape{width: 1 + r.IntN(1100), height: 1 + r.IntN(200), channels: 1, count: 1 + r.IntN(2), seed: r.Uint64()}
				for _, b.Tuning.Quads = range []int{1, 2, 4, 0} {
					if !p.check(t, d, s) {
						t.Fatalf("that was in tiles of width %d", b.Tuning.Quads)
					}
				}
			}
		}
	}
	if !found {
		t.Log("only CUDA has tiles of several widths")
	}
}

// BenchmarkTurns measures how many images of a batch should be interleaved.
func BenchmarkTurns(bench *testing.B) {
	infos, _ := Devices()
	if len(infos) == 0 || infos[0].Kind != CUDA {
		bench.Skip("no CUDA")
	}
	d, err := Open(infos[0])
	if err != nil {
		bench.Fatal(err)
	}
	defer d.Close()
	const width, height, count = 1920, 1080, 64
	images, err := NewImage[uint8](d, width, height, 1, count)
	if err != nil {
		bench.Fatal(err)
	}
	tables, err := NewTable[uint32](d, width, height, 1, count)
	if err != nil {
		bench.Fatal(err)
	}
	for _, turn := range []int{1, 2, 4, 8, 16, 32, 64} {
		bench.Run(fmt.Sprint(turn), func(bench *testing.B) {
			d.inner.Backend.CUDA().Tuning.Turns = turn
			times, err := d.Time(bench.N, func() error { return IntegrateInto(tables, images, nil) })
			if err != nil {
				bench.Fatal(err)
			}
			slices.Sort(times)
			median := times[len(times)/2]
			bench.ReportMetric(float64(width*height*count*5)/median.Seconds()/1e9, "GB/s")
			bench.ReportMetric(0, "ns/op")
		})
	}
}
