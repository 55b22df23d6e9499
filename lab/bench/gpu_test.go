package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/lab/measure"
)

// openDevice opens the best device of this machine, which may be a processor under OpenCL.
func openDevice(t *testing.T) *gpu.Device {
	t.Helper()
	d, err := gpu.OpenBest(gpu.CUDA, gpu.OpenCL)
	if err != nil {
		ref.NoDevice(t, err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// measureGPU runs a measurement and returns the contestants in order.
func measureGPU(t *testing.T, cfg Config, sizes, types string) (field []string, report string, err error) {
	t.Helper()
	var out strings.Builder
	cfg.Device, cfg.Out, cfg.Repeat = openDevice(t), &out, 3
	if cfg.Sizes, err = measure.ParseSizes(sizes); err != nil {
		t.Fatal(err)
	}
	if cfg.Cases, err = measure.ParseTypes(types); err != nil {
		t.Fatal(err)
	}
	results, err := GPU(t.Context(), cfg)
	for _, r := range results {
		field = append(field, strings.TrimSpace(fmt.Sprint(r.Case(), " ", r.Size, " ", r.Algorithm)))
		limit := r.Algorithm == LimitDevice || r.Algorithm == LimitDeviceFill
		if r.Verified == limit || r.Repeat != 3 || r.Min < 0 || r.Median < r.Min || r.P95 < r.Median || r.P95 > r.Max || r.On == "cpu" {
			t.Errorf("odd result %+v", r)
		}
		if !strings.Contains(r.Algorithm, "host to host") && cfg.Batch > 1 != (r.Batch > 1) {
			t.Errorf("a batch of %d gives %+v", cfg.Batch, r)
		}
	}
	return field, out.String(), err
}

func TestGPU(t *testing.T) {
	got, report, err := measureGPU(t, Config{}, "64x48,5x3", "u8:u32,squares")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range []string{"u8:u32", "u8:u32+u64"} {
		for _, size := range []string{" 64x48 ", " 5x3 "} {
			want = append(want, c+size+Boxsum, c+size+LimitDevice, c+size+EndToEnd)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, text := range []string{"\nu8:u32 ", "\nu8:u32+u64 ", "\n64x48 ", "\n5x3 ", "host to host", "\nkernel ", "occupancy"} {
		if !strings.Contains(report, text) {
			t.Errorf("the report lacks %q:\n%s", text, report)
		}
	}
}

func TestGPUBatch(t *testing.T) {
	got, _, err := measureGPU(t, Config{Batch: 3, Kernels: gpu.Portable}, "37x21", "u8:u32")
	want := []string{"u8:u32 37x21 " + Boxsum, "u8:u32 37x21 " + LimitDevice}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// TestGPUBesideUpright tests that tilted and rotated tables are shown next to upright ones of the same pixels.
func TestGPUBesideUpright(t *testing.T) {
	got, report, err := measureGPU(t, Config{}, "64x48,5x3", "tilted,rotated:1/2,f32:f32@-1x2")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range []string{"u8:u32-tilted", "u8:u32@1/2", "f32:f32@-1x2"} {
		for _, size := range []string{" 64x48 ", " 5x3 "} {
			want = append(want, c+size+Boxsum, c+size+LimitDevice, c+size+Upright, c+size+EndToEnd)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, text := range []string{"\nu8:u32-tilted ", "\nu8:u32@1/2 ", " upright p95 ", " × upright ", " copy p95 ", "beside tilted and rotated tables"} {
		if !strings.Contains(report, text) {
			t.Errorf("the report lacks %q:\n%s", text, report)
		}
	}
	got, _, err = measureGPU(t, Config{Batch: 3}, "37x21", "tilted,rotated:1/1")
	if want := 2 * 3; err != nil || len(got) != want {
		t.Errorf("a batch gives %v, %v, want %d results", got, err, want)
	}
}

func TestGPUErrors(t *testing.T) {
	d := openDevice(t)
	small := []Size{{Name: "2x2", Width: 2, Height: 2}}
	for _, test := range []struct {
		cfg  Config
		want string
	}{
		{Config{Batch: -1}, "batch is -1 images"},
		{Config{Repeat: -1}, "repeat is -1"},
		{Config{Sizes: small, Cases: []Case{{Types: "u8:u9", Channels: 1}}}, `unknown types "u8:u9"`},
		{Config{Sizes: small, Cases: []Case{{Types: "u8:u32-tilted", Channels: 1}, {Types: "u8:u32@1/0", Channels: 1}}}, ""},
		{Config{Sizes: small, Python: "no-such-python"}, "cannot start Python"},
		{Config{Sizes: small, Kernels: 99}, "nothing could be measured: u8:u32 2x2: "},
	} {
		var out strings.Builder
		test.cfg.Device, test.cfg.Out = d, &out
		if _, err := GPU(t.Context(), test.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v gives %v, want an error with %q", test.cfg, err, test.want)
		}
		if test.cfg.Kernels == 0 && out.Len() > 0 {
			t.Errorf("%q is said only after\n%s", test.want, &out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := GPU(ctx, Config{Sizes: small, Device: d}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gives %v", err)
	}
}

func TestPipeline(t *testing.T) {
	var out strings.Builder
	cfg := Config{Device: openDevice(t), Batch: 11, Out: &out}
	cfg.Repeat, cfg.Sizes = 3, []Size{{Name: "64x48", Width: 64, Height: 48}}
	results, err := Pipeline(t.Context(), cfg)
	if err != nil || len(results) != 6 || results[0].Algorithm != Pipelined || results[5].Algorithm != LimitCopies {
		t.Fatalf("got %+v, %v", results, err)
	}
	for i, r := range results {
		if r.Batch != 11 || r.Bytes != 11*(64*48+65*49*4) || r.Median <= 0 || r.Verified != (i < 5) {
			t.Errorf("odd result %+v", r)
		}
	}
	if !strings.Contains(out.String(), "\nu8:u32      64x48         tables reused ") || !strings.Contains(out.String(), "of copies") {
		t.Errorf("the report is\n%s", &out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Pipeline(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gives %v", err)
	}
	cfg.Cases = []Case{{Types: "u8:u32+u64", Channels: 1}}
	if _, err := Pipeline(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "pipelines of u8:u32+u64 are not supported: ") {
		t.Errorf("squares give %v", err)
	}
	cfg.Batch = -1
	if _, err := Pipeline(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "pipeline is -1 images") {
		t.Errorf("-1 images give %v", err)
	}
}

// fakeCuPy implements the part of CuPy that is used, on the processor. Its float32 tables are wrong.
const fakeCuPy = `
import time
import numpy
__version__ = "fake"
class Array(numpy.ndarray):
    def get(self): return numpy.asarray(self)
def is_available(): return True
def asarray(a): return a.view(Array)
def cumsum(a, axis, dtype):
    sums = numpy.cumsum(a, axis=axis, dtype=dtype).view(Array)
    sums[0, 0] += dtype == numpy.float32
    return sums
class cuda:
    class Event:
        def record(self): self.at = time.perf_counter()
        def synchronize(self): pass
    def get_elapsed_time(a, b): return (b.at - a.at) * 1e3
class Pool:
    def free_all_blocks(self): pass
def get_default_memory_pool(): return Pool()
`

func TestGPUPeers(t *testing.T) {
	python := ref.Python(t)
	withModule(t, "cupy.py", fakeCuPy)
	t.Setenv("CUDA_VISIBLE_DEVICES", "") // installed peers find no device
	got, report, err := measureGPU(t, Config{Python: python}, "64x48,5x3", "u8:u32,f32:f32")
	var want []string
	for _, who := range []string{"u8:u32 64x48 ", "u8:u32 5x3 ", "f32:f32 64x48 ", "f32:f32 5x3 "} {
		want = append(want, who+Boxsum, who+LimitDevice)
		if strings.HasPrefix(who, "u8:u32 ") {
			want = append(want, who+"cupy fake")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, text := range []string{"\ncupy: fake\n", "\nleft out, npp: ", "\nleft out, torch: ", "\nleft out, torch.compile: "} {
		if !strings.Contains(report, text) {
			t.Errorf("the report lacks %q:\n%s", text, report)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "f32:f32 509x383: cupy: entry (0, 0) of channel 0 is ") {
		t.Errorf("a wrong table gives %v", err)
	}
}
