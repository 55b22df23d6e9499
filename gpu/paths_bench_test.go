package gpu

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/method"
	"github.com/boxsum/boxsum/internal/device"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
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
		for _, types := range []struct{ pixel, sum, square raster.Type }{
			{raster.U8, raster.U32, 0}, {raster.F32, raster.F32, 0}, {raster.U8, raster.F64, 0}, {raster.U8, raster.U64, 0},
			{raster.U16, raster.U64, 0}, {raster.F32, raster.F64, 0}, {raster.F64, raster.F64, 0},
			{raster.U8, raster.U32, raster.U64}, {raster.U8, raster.F64, raster.U64}, {raster.F32, raster.F32, raster.F64}, {raster.F32, raster.F64, raster.F64},
		} {
			job := device.StageJob{Kind: device.Upright, Plain: true}
			job.Sums.Type, job.Squares.Type = types.sum, types.square
			stage := stageOf(bench, d, types.pixel, size.width, size.height, &job)
			name, bytes := types.pixel.Short()+":"+types.sum.Short(), types.pixel.Bytes()+types.sum.Bytes()
			if types.square != 0 {
				name, bytes = name+"+"+types.square.Short(), bytes+types.square.Bytes()
			}
			copied, err := launch.NewCopy(d, int64(size.width)*int64(size.height)*int64(bytes)/2)
			if err != nil {
				bench.Fatal(err)
			}
			works := []timed{{"copy", copied.Run}}
			for _, path := range paths {
				works = append(works, timed{path, func() error {
					b.Tuning.Path = path
					return stage.Queue()
				}})
			}
			took := medians(bench, d, works)
			fmt.Printf("%-6s %-12s %9.1f", size.name, name, took[0])
			for _, t := range took[1:] {
				fmt.Printf(" %7.1f (%4.2f)", t, t/took[0])
			}
			fmt.Println()
			copied.Close()
			stage.Close()
		}
	}
	bench.ReportMetric(0, "ns/op")
}

// stageOf copies a random image to the device and allocates its tables.
func stageOf(bench *testing.B, d *Device, pixel raster.Type, width, height int, job *device.StageJob) device.Stage {
	job.Images = []raster.Array{fixture.NoiseArray(pixel, 1, width, height, 1, 0)}
	stage, err := stager{d}.Stage(job)
	if err != nil {
		bench.Fatal(err)
	}
	return stage
}

// BenchmarkTilted times tilted tables in tiles of every width, and rotated ones, relative to
// upright ones of the same image.
func BenchmarkTilted(bench *testing.B) {
	d, b := firstCUDA(bench)
	for _, size := range [][2]int{{854, 480}, {1280, 720}, {1920, 1080}, {2560, 1440}, {3840, 2160}, {4096, 4096}, {8192, 8192}} {
		tiltedWidths(bench, d, b, raster.U8, raster.U32, size[0], size[1])
		tiltedWidths(bench, d, b, raster.F32, raster.F32, size[0], size[1])
		tiltedWidths(bench, d, b, raster.U8, raster.F64, size[0], size[1])
	}
	bench.ReportMetric(0, "ns/op")
}

func tiltedWidths(bench *testing.B, d *Device, b *driver.CUDABackend, pixel, sum raster.Type, width, height int) {
	sums := raster.Array{Type: sum}
	upright := stageOf(bench, d, pixel, width, height, &device.StageJob{Kind: device.Upright, Sums: sums})
	defer upright.Close()
	tilted := stageOf(bench, d, pixel, width, height, &device.StageJob{Kind: device.Tilted, Sums: sums})
	defer tilted.Close()
	turned, err := stager{d}.StageRotated(&device.Rotated{Sum: sum, A: 1, B: 2}, []raster.Array{fixture.NoiseArray(pixel, 1, width, height, 1, 0)}, int(AutoKernels))
	if err != nil {
		bench.Fatal(err)
	}
	defer turned.Close()
	b.Tuning.Path = ""
	works := []timed{
		{"upright", upright.Queue},
		{"rotated:1/2", turned.Queue},
	}
	for _, quads := range []int{1, 2, 4, 0} {
		works = append(works, timed{fmt.Sprintf("4x%d", quads), func() error {
			b.Tuning.Quads = quads
			return tilted.Queue()
		}})
	}
	works[len(works)-1].name = "chosen"
	took := medians(bench, d, works)
	fmt.Printf("%4d×%-4d %-7s", width, height, pixel.Short()+":"+sum.Short())
	for i, w := range works {
		fmt.Printf("  %s %.1f (%.2f)", w.name, took[i], took[i]/took[0])
	}
	fmt.Println()
}
