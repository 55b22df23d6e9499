package gpu

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/rotated"
)

// firstCUDA opens the first CUDA device.
func firstCUDA(bench *testing.B) (*Device, *driver.CUDABackend) {
	infos, _ := Devices()
	if len(infos) == 0 || infos[0].Kind != CUDA {
		bench.Skip("no CUDA")
	}
	d, err := Open(infos[0])
	if err != nil {
		bench.Fatal(err)
	}
	bench.Cleanup(func() { d.Close() })
	return d, d.inner.Backend.CUDA()
}

// A timed is work to be timed on a device.
type timed struct {
	name string
	run  func() error
}

// medians times all works in turn, and returns the medians in microseconds.
func medians(bench *testing.B, d *Device, works []timed) []float64 {
	bench.Helper()
	times := make([][]time.Duration, len(works))
	for range 15 {
		for i, w := range works {
			took, err := d.Time(3, w.run) // the first runs keep the device busy while the host queues
			if err != nil {
				bench.Fatalf("%s: %v", w.name, err)
			}
			times[i] = append(times[i], took[1:]...)
		}
	}
	var all []float64
	for _, t := range times {
		slices.Sort(t)
		all = append(all, t[len(t)/2].Seconds()*1e6)
	}
	return all
}

var benchSizes = []struct {
	name          string
	width, height int
}{{"480p", 854, 480}, {"720p", 1280, 720}, {"1080p", 1920, 1080}, {"1440p", 2560, 1440}, {"2160p", 3840, 2160}, {"4096²", 4096, 4096}}

// BenchmarkPaths times the paths of the one-pass kernels relative to a copy of as many bytes. The
// result shows up to which size images count as small.
func BenchmarkPaths(bench *testing.B) {
	d, b := firstCUDA(bench)
	fmt.Printf("%-6s %-12s %9s", "size", "types", "copy, µs")
	paths := []string{method.TilePath, method.FlatPath, method.SmallPath, method.TallPath, ""}
	for _, path := range paths {
		fmt.Printf(" %14s", strings.TrimSpace(path+" ×copy"))
	}
	fmt.Println("  (the last is what is chosen)")
	for _, size := range benchSizes {
		for _, of := range []func(*testing.B, *Device, int, int) (string, int64, func() error, func()){
			pathOf[uint8, uint32, uint64](false), pathOf[float32, float32, float64](false),
			pathOf[uint8, float64, uint64](false), pathOf[uint8, uint64, uint64](false), pathOf[uint16, uint64, uint64](false), pathOf[float32, float64, float64](false), pathOf[float64, float64, float64](false),
			pathOf[uint8, uint32, uint64](true), pathOf[uint8, float64, uint64](true), pathOf[float32, float32, float64](true), pathOf[float32, float64, float64](true),
		} {
			name, bytes, run, free := of(bench, d, size.width, size.height)
			copied, err := launch.NewCopy(d, bytes/2)
			if err != nil {
				bench.Fatal(err)
			}
			works := []timed{{"copy", copied.Run}}
			for _, path := range paths {
				works = append(works, timed{path, func() error {
					b.Tuning.Path = path
					return run()
				}})
			}
			took := medians(bench, d, works)
			fmt.Printf("%-6s %-12s %9.1f", size.name, name, took[0])
			for _, t := range took[1:] {
				fmt.Printf(" %7.1f (%4.2f)", t, t/took[0])
			}
			fmt.Println()
			copied.Close()
			free()
		}
	}
	bench.ReportMetric(0, "ns/op")
}

// pathOf returns a function that prepares an image, its table and, if squares is set, the table of
// squares. It returns their types, their size in bytes, the work, and a function that frees them.
func pathOf[P boxsum.Pixel, S boxsum.Sum, Q boxsum.Square](squares bool) func(*testing.B, *Device, int, int) (string, int64, func() error, func()) {
	return func(bench *testing.B, d *Device, width, height int) (string, int64, func() error, func()) {
		src, err := Upload(d, fixture.Noise[P](1, width, height, 1, 0))
		if err != nil {
			bench.Fatal(err)
		}
		pixels := int64(width) * int64(height)
		if !squares {
			dst, err := NewTable[S](d, width, height, 1, 1)
			if err != nil {
				bench.Fatal(err)
			}
			bytes := pixels * int64(raster.TypeNamed[P]().Bytes()+raster.TypeNamed[S]().Bytes())
			return raster.TypeNamed[P]().Short() + ":" + raster.TypeNamed[S]().Short(), bytes, func() error { return IntegrateInto(dst, src, nil) }, func() { dst.Close(); src.Close() }
		}
		dst, err := IntegrateSquares[S, Q](src, &Options{Plain: true})
		if err != nil {
			bench.Fatal(err)
		}
		bytes := pixels * int64(raster.TypeNamed[P]().Bytes()+raster.TypeNamed[S]().Bytes()+raster.TypeNamed[Q]().Bytes())
		return raster.TypeNamed[P]().Short() + ":" + raster.TypeNamed[S]().Short() + "+" + raster.TypeNamed[Q]().Short(), bytes,
			func() error { return IntegrateSquaresInto(dst, src, &Options{Plain: true}) }, func() { dst.Close(); src.Close() }
	}
}

// BenchmarkTilted times tilted tables in tiles of every width, and rotated ones, relative to
// upright ones of the same image.
func BenchmarkTilted(bench *testing.B) {
	d, b := firstCUDA(bench)
	for _, size := range [][2]int{{854, 480}, {1280, 720}, {1920, 1080}, {2560, 1440}, {3840, 2160}, {4096, 4096}, {8192, 8192}} {
		tiltedWidths[uint8, uint32](bench, d, b, size[0], size[1])
		tiltedWidths[float32, float32](bench, d, b, size[0], size[1])
		tiltedWidths[uint8, float64](bench, d, b, size[0], size[1])
	}
	bench.ReportMetric(0, "ns/op")
}

func tiltedWidths[P boxsum.Pixel, S boxsum.Sum](bench *testing.B, d *Device, b *driver.CUDABackend, width, height int) {
	src, err := Upload(d, fixture.Noise[P](1, width, height, 1, 0))
	if err != nil {
		bench.Fatal(err)
	}
	defer src.Close()
	upright, err := NewTable[S](d, width, height, 1, 1)
	if err != nil {
		bench.Fatal(err)
	}
	defer upright.Close()
	table, err := NewTiltedTable[S](d, width, height, 1, 1)
	if err != nil {
		bench.Fatal(err)
	}
	defer table.Close()
	turned, err := NewRotatedTable[S](d, width, height, 1, 1, rotated.Rotation{A: 1, B: 2})
	if err != nil {
		bench.Fatal(err)
	}
	defer turned.Close()
	b.Tuning.Path = ""
	works := []timed{
		{"upright", func() error { return IntegrateInto(upright, src, nil) }},
		{"rotated:1/2", func() error { return IntegrateRotatedInto(turned, src, nil) }},
	}
	for _, quads := range []int{1, 2, 4, 0} {
		works = append(works, timed{fmt.Sprintf("4x%d", quads), func() error {
			b.Tuning.Quads = quads
			return IntegrateTiltedInto(table, src, nil)
		}})
	}
	works[len(works)-1].name = "chosen"
	took := medians(bench, d, works)
	fmt.Printf("%4d×%-4d %-7s", width, height, raster.TypeNamed[P]().Short()+":"+raster.TypeNamed[S]().Short())
	for i, w := range works {
		fmt.Printf("  %s %.1f (%.2f)", w.name, took[i], took[i]/took[0])
	}
	fmt.Println()
}
