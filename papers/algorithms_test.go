package papers

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/ref"
	"github.com/boxsum/boxsum/rotated"
)

// device returns the first device of the machine, or that of BOXSUM_GPU_KIND, which stays open until
// the process ends. Without one, ref.NoDevice skips the test.
func device(t *testing.T) *gpu.Device {
	t.Helper()
	d, err := openDevice()
	if err != nil {
		ref.NoDevice(t, err)
	}
	return d
}

var openDevice = sync.OnceValues(func() (*gpu.Device, error) {
	infos, err := gpu.Devices()
	if err != nil {
		return nil, err
	}
	if kind := os.Getenv("BOXSUM_GPU_KIND"); kind != "" {
		infos = slices.DeleteFunc(infos, func(info gpu.Info) bool { return info.Kind.String() != kind })
	}
	if len(infos) == 0 {
		return nil, gpu.ErrNoDevice
	}
	return gpu.Open(infos[0])
})

// optionsFor returns options for an algorithm, with a device if it needs one.
func optionsFor(t *testing.T, a *Algorithm, o Options) *Options {
	t.Helper()
	if a.Place == GPU {
		o.Device = device(t)
	}
	return &o
}

// sizes are odd sizes, single rows and columns, and more than one segment of 512 or chunk of 2048
// pixels.
var sizes = [][2]int{
	{1, 1}, {2, 1}, {1, 2}, {3, 5}, {16, 16}, {17, 33}, {1, 77}, {77, 1}, {512, 3}, {513, 7}, {5, 1025}, {1030, 4}, {2051, 2},
}

// TestAlgorithms tests that every algorithm is exact in every precision if floats are, and otherwise
// accurate within rounding errors.
func TestAlgorithms(t *testing.T) {
	for _, a := range All() {
		for _, p := range a.Precisions {
			t.Run(a.Name+"/"+p.String(), func(t *testing.T) {
				for _, s := range sizes {
					checkAlgorithm(t, a, p, s[0], s[1], true, Options{Precision: p, Threads: 3})
				}
				checkAlgorithm(t, a, p, 63, 130, false, Options{Precision: p, Threads: 2})
				checkAlgorithm(t, a, p, 1100, 3, false, Options{Precision: p, Threads: 7})
			})
		}
	}
}

// TestScanOfScans tests a row of more than 512 segments, whose totals are themselves scanned in segments.
func TestScanOfScans(t *testing.T) {
	const n = segment*segment + 700
	d, err := launch.Open(device(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Device: d, stream: d.Main(), closed: new(bool), width: n, height: 1, element: "f32", bytes: 4}
	defer r.close()
	in, out := r.image(), r.image()
	img, err := ExactImage[float32](n, 1, Float)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CopyIn(r.stream, r.rowsOf(in), bytesOf(img.Pix), 4*n); err != nil {
		t.Fatal(err)
	}
	steps := r.scanRows(in, out, n, n, 1)
	if r.err != nil {
		t.Fatal(r.err)
	}
	if len(steps) != 5 { // scan, scan, scan, increment, increment
		t.Errorf("%d steps", len(steps))
	}
	for _, s := range steps {
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]float32, n)
	if err := d.CopyOut(r.stream, bytesOf(got), 4*n, r.rowsOf(out)); err != nil {
		t.Fatal(err)
	}
	var sum float32
	for i, p := range img.Pix {
		if got[i] != sum {
			t.Fatalf("sum %d is %v, want %v", i, got[i], sum)
		}
		sum += p
	}
}

// checkAlgorithm runs an algorithm in both ways on an image whose sums are exact, or on one of
// arbitrary floats.
func checkAlgorithm(t *testing.T, a *Algorithm, p Precision, width, height int, exact bool, o Options) {
	t.Helper()
	switch {
	case p.Type != "u32":
		checkPixels[float64](t, a, p, width, height, exact, o)
	case exact:
		checkPixels[uint32](t, a, p, width, height, exact, o)
	}
}

func checkPixels[P float64 | uint32](t *testing.T, a *Algorithm, p Precision, width, height int, exact bool, o Options) {
	t.Helper()
	img, err := ExactImage[P](width, height, p)
	if err != nil {
		t.Fatal(err)
	}
	if !exact {
		for i := range img.Pix {
			img.Pix[i] = img.Pix[i]/7 - 11
		}
	}
	images := []boxsum.Image[P]{img}
	if a.Many {
		for i := range 4 {
			next := img
			next.Pix = slices.Clone(img.Pix)
			next.Pix[0] += P(i) + 1
			images = append(images, next)
		}
	}
	job, err := Prepare(a, optionsFor(t, a, o), images...)
	if err != nil {
		t.Fatalf("%d×%d: %v", width, height, err)
	}
	defer func() {
		if err := job.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, run := range []struct {
		name string
		run  func() error
	}{{"Run", job.Run}, {"RunHost", job.RunHost}} {
		if err := run.run(); err != nil {
			t.Fatalf("%s %d×%d: %v", run.name, width, height, err)
		}
		if err := job.Verify(); err != nil {
			t.Errorf("%s: %v", run.name, err)
		}
	}
}

// TestRotations tests every ratio, in all four directions of rows.
func TestRotations(t *testing.T) {
	a, err := Find("messom/rotated")
	if err != nil {
		t.Fatal(err)
	}
	for _, rot := range []rotated.Rotation{{A: 0, B: 1}, {A: 1, B: 1}, {A: 1, B: 2}, {A: 2, B: 1}, {A: 2, B: 3}, {A: 3, B: 2}, {A: 1, B: 4}, {A: 7, B: 1}, {A: 5, B: 7}, {A: 1, B: 100}} {
		for _, sign := range []int{1, -1} {
			rot := rotated.Rotation{A: sign * rot.A, B: rot.B}
			t.Run(fmt.Sprint(rot), func(t *testing.T) {
				for _, s := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {5, 8}, {31, 17}, {16, 33}} {
					checkAlgorithm(t, a, Float, s[0], s[1], true, Options{Rotation: rot})
					checkAlgorithm(t, a, Double, s[0], s[1], false, Options{Rotation: rot})
				}
			})
		}
	}
}
