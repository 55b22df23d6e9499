package papers

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/rotated"
)

// TestRegistry tests that every algorithm has a description, a source and a cost.
func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range All() {
		if seen[a.Name] || !strings.HasPrefix(a.Name, a.Work.Name+"/") {
			t.Errorf("%s: not a name of its own in %s", a, a.Work.Name)
		}
		seen[a.Name] = true
		if a.Title == "" || a.Section == "" || a.CostText == "" || len(a.Precisions) == 0 {
			t.Errorf("%s lacks something: %+v", a, a)
		}
		if c := a.Cost(1000, 700); c.Reads < 1 || c.Writes < 1 {
			t.Errorf("%s costs %+v", a, c)
		}
		if found, err := Find(a.Name); found != a || err != nil {
			t.Errorf("Find(%q) = %v, %v", a.Name, found, err)
		}
		if (a.Place == GPU) != (a.gpu != nil) || a.Threads && a.Place == GPU || a.Group && a.Place == CPU {
			t.Errorf("%s does not know where it runs", a)
		}
	}
	if len(Works()) != 4 {
		t.Errorf("%d works", len(Works()))
	}
	for _, name := range []string{"", "bilgic", "bilgic/none"} {
		if _, err := Find(name); err == nil {
			t.Errorf("no error for Find(%q)", name)
		}
	}
	for _, p := range []Precision{Float, Float4, Double, Int} {
		if got, err := ParsePrecision(p.String()); got != p || err != nil {
			t.Errorf("ParsePrecision(%q) = %v, %v", p, got, err)
		}
	}
	if _, err := ParsePrecision("f16"); !errors.Is(err, boxsum.ErrTypes) {
		t.Errorf("f16: %v", err)
	}
}

// TestCosts compares costs with those stated in the tables of the works.
func TestCosts(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		want          Cost
	}{
		{"intimg/serial", 4096, 4096, Cost{4, 2}}, // "4 reads + 2 stores"
		{"bilgic/scan-transpose", 512, 512, Cost{3, 3}},
		{"bilgic/scan-transpose", 1024, 512, Cost{3.5, 3.5}},
		{"messom/stream", 1024, 1024, Cost{40, 20}}, // log2 M + log2 N is 20
		{"messom/stream-8", 1, 16, Cost{1.125 + 1.25 + 1.5 + 2, 4}},
		{"messom/tilted", 100, 1, Cost{2, 1}},
	} {
		a, err := Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Cost(c.width, c.height); got != c.want {
			t.Errorf("%s %d×%d: %v, want %v", c.name, c.width, c.height, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	gray := boxsum.Image[uint8]{Pix: make([]uint8, 12), Width: 4, Height: 3}
	for _, c := range []struct {
		name   string
		opt    *Options
		images []boxsum.Image[uint8]
		want   error
	}{
		{"intimg/serial", nil, nil, boxsum.ErrInvalid},
		{"intimg/serial", nil, []boxsum.Image[uint8]{gray, gray}, boxsum.ErrInvalid},
		{"intimg/serial", nil, []boxsum.Image[uint8]{{}}, boxsum.ErrInvalid},
		{"intimg/serial", nil, []boxsum.Image[uint8]{{Width: -1, Height: 3}}, boxsum.ErrInvalid},
		{"intimg/serial", nil, []boxsum.Image[uint8]{{Pix: make([]uint8, 11), Width: 4, Height: 3}}, boxsum.ErrInvalid},
		{"intimg/serial", nil, []boxsum.Image[uint8]{{Width: 1 << 20, Height: 1 << 20}}, boxsum.ErrInvalid},
		{"intimg/serial", nil, []boxsum.Image[uint8]{{Pix: make([]uint8, 36), Width: 4, Height: 3, Channels: 3}}, boxsum.ErrTypes},
		{"intimg/serial", &Options{Precision: Float4}, []boxsum.Image[uint8]{gray}, boxsum.ErrTypes},
		{"bilgic/sequential", &Options{Precision: Int}, []boxsum.Image[uint8]{gray}, boxsum.ErrTypes},
		{"bilgic/sequential", &Options{Threads: -1}, []boxsum.Image[uint8]{gray}, boxsum.ErrInvalid},
		{"intimg/serial", nil, []boxsum.Image[uint8]{{Pix: make([]uint8, 12), Width: 4, Height: 3, Stride: math.MaxInt/2 + 1}}, boxsum.ErrInvalid},
		{"bilgic/sequential", &Options{Threads: 1 << 20}, []boxsum.Image[uint8]{gray}, boxsum.ErrInvalid},
		{"bilgic/sequential", &Options{Group: 2000}, []boxsum.Image[uint8]{gray}, boxsum.ErrInvalid},
		{"messom/rotated", &Options{Rotation: rotated.Rotation{A: 1}}, []boxsum.Image[uint8]{gray}, boxsum.ErrInvalid},
		{"bertazzini/many-images", nil, []boxsum.Image[uint8]{gray, {Pix: make([]uint8, 12), Width: 3, Height: 4}}, boxsum.ErrInvalid},
		{"bertazzini/cuda", nil, []boxsum.Image[uint8]{gray}, nil}, // no device
	} {
		a, err := Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Prepare(a, c.opt, c.images...)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || strings.HasPrefix(err.Error(), "papers: ") {
			t.Errorf("%s %+v: %v, want %v", c.name, c.opt, err, c.want)
		}
	}
	if _, err := Prepare[uint8](nil, nil, gray); err == nil {
		t.Error("no error for a nil algorithm")
	}
}

// TestVerify tests that Verify finds a single wrong entry anywhere, and that Table checks its type.
func TestVerify(t *testing.T) {
	for _, name := range []string{"intimg/serial", "messom/twisted", "messom/rotated"} {
		a, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		img, err := ExactImage[float32](7, 5, Float)
		if err != nil {
			t.Fatal(err)
		}
		job, err := Prepare(a, nil, img)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Run(); err != nil {
			t.Fatal(err)
		}
		table, err := Table[float32](job, 0)
		if err != nil {
			t.Fatal(err)
		}
		if w, h, n := job.Size(); w != 7 || h != 5 || n != 1 || job.Algorithm() != a || job.Precision() != Float || job.Steps() != nil {
			t.Error("a job does not know what it is of")
		}
		for _, i := range []int{0, 3, table.Stride + 4, 5*table.Stride + 7} {
			table.Sums[i]++
			if err := job.Verify(); err == nil {
				t.Errorf("%s: entry %d is wrong and nobody sees it", name, i)
			}
			table.Sums[i]--
		}
		if err := job.Verify(); err != nil {
			t.Error(err)
		}
		if _, err := Table[float64](job, 0); !errors.Is(err, boxsum.ErrTypes) {
			t.Errorf("a table of another type: %v", err)
		}
		if _, err := Table[float32](job, 1); !errors.Is(err, boxsum.ErrInvalid) {
			t.Errorf("a second table: %v", err)
		}
		if err := job.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestGrey tests that color is converted to gray with the weights of package boxsum.
func TestGrey(t *testing.T) {
	pix := []uint8{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30, 77, 77, 77, 255, 255, 255}
	img := boxsum.Image[uint8]{Pix: pix, Width: 3, Height: 2, Channels: 3}
	got := gray(img)
	if want := []uint8{76, 150, 29, 18, 77, 255}; !slices.Equal(got.Pix, want) {
		t.Errorf("gray %v, want %v", got.Pix, want)
	}
	for _, name := range []string{"bertazzini/sequential", "bertazzini/threads", "bertazzini/cuda"} {
		a, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		job, err := Prepare(a, optionsFor(t, a, Options{}), img)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.RunHost(); err != nil {
			t.Fatal(err)
		}
		if sum := at[uint32](t, job, 3, 2, 0); sum != 76+150+29+18+77+255 {
			t.Errorf("%s: %v", name, sum)
		}
		job.Close()
	}
}

// TestConversions tests that pixels that sums cannot represent are refused, and others converted.
func TestConversions(t *testing.T) {
	if _, err := prepareRow[float32](t, "bertazzini/sequential", Int, 1, 2); !errors.Is(err, boxsum.ErrTypes) {
		t.Errorf("floats as whole numbers: %v", err)
	}
	for what, err := range map[string]error{
		"below zero":       second(prepareRow[int16](t, "bertazzini/threads", Int, 1, -3)),
		"NaN":              second(prepareRow(t, "intimg/serial", Float, 1, float32(math.NaN()))),
		"infinite":         second(prepareRow(t, "intimg/serial", Double, 1, math.Inf(-1))),
		"too large in f32": second(prepareRow(t, "intimg/serial", Float, 1, 1e300)),
	} {
		if err == nil || !strings.Contains(err.Error(), "the pixel at (1,0) is ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	job, err := prepareRow[int32](t, "intimg/serial", Float, -3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Run(); err != nil || at[float32](t, job, 1, 1, 0) != -3 {
		t.Errorf("-3 is not itself in floats: %v", err)
	}
	if job, err = prepareRow(t, "intimg/serial", Double, 1e308, 1e308); err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(job.Run(), job.Verify()); err == nil || !strings.Contains(err.Error(), "sums of the pixels are infinite") {
		t.Errorf("sums that are not finite: %v", err)
	}
	for f, want := range map[float64]float64{1: 1, 6: 2, -0.75: 0.25, 1 << 40: 1 << 40, 5e-324: 5e-324} {
		if got := unitOf(f); got != want {
			t.Errorf("unitOf(%v) = %v, want %v", f, got, want)
		}
	}
}

// prepareRow prepares an algorithm for an image of one row.
func prepareRow[P boxsum.Pixel](t *testing.T, name string, p Precision, row ...P) (*Job, error) {
	t.Helper()
	a, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return Prepare(a, &Options{Precision: p}, boxsum.Image[P]{Pix: row, Width: len(row), Height: 1})
}

func second(_ *Job, err error) error { return err }

// TestSteps tests that the kernels of a run, one by one, equal the run, for blocks of any size.
func TestSteps(t *testing.T) {
	for _, name := range []string{"bilgic/scan-transpose-back", "bertazzini/cuda", "intimg/gpu-v1"} {
		a, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range []int{1, 33, 1024} {
			if group != 33 && !a.Group {
				continue
			}
			img, err := ExactImage[uint8](600, 37, a.Precisions[0])
			if err != nil {
				t.Fatal(err)
			}
			job, err := Prepare(a, optionsFor(t, a, Options{Group: group}), img)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range job.Steps() {
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				if s.Bytes <= 0 || !strings.HasPrefix(s.Name, "papers_") {
					t.Errorf("%s: %+v", name, s)
				}
			}
			if err := job.Verify(); err != nil {
				t.Error(err)
			}
			job.Close()
		}
	}
}

// TestRunHost tests that RunHost leaves the table on the host without another copy.
func TestRunHost(t *testing.T) {
	for _, a := range All() {
		if a.Place != GPU || a.Precisions[0] != Float || a.Kind != Upright {
			continue
		}
		img, err := ExactImage[float32](37, 22, Float)
		if err != nil {
			t.Fatal(err)
		}
		j, err := Prepare(a, optionsFor(t, a, Options{}), img)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.RunHost(); err != nil {
			t.Fatal(err)
		}
		want, err := expected(Upright, img, rotated.Rotation{})
		if err != nil {
			t.Fatal(err)
		}
		if err := compare(j.sums.([]*boxsum.Table[float32])[0], want, 0); err != nil {
			t.Errorf("%s: %v", a, err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestClose tests that a closed job returns an error, and that closing a device closes its jobs.
func TestClose(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: make([]uint8, 15), Width: 5, Height: 3}
	for _, first := range []string{"job", "device"} {
		for _, name := range []string{"messom/stream", "bertazzini/many-images"} {
			d, err := gpu.Open(device(t).Info())
			if err != nil {
				t.Fatal(err)
			}
			a, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			job, err := Prepare(a, &Options{Device: d}, img)
			if err != nil {
				t.Fatal(err)
			}
			steps := job.Steps()
			closes := []func() error{job.Close, d.Close}
			if first == "device" {
				slices.Reverse(closes)
			}
			for _, f := range append(closes, job.Close) {
				if err := f(); err != nil {
					t.Errorf("%s, %s first: %v", name, first, err)
				}
			}
			if job.Run() == nil || job.RunHost() == nil || job.Verify() == nil || steps != nil && steps[0].Run() == nil {
				t.Errorf("%s, %s first: a closed job runs", name, first)
			}
		}
	}
}

// TestTime tests that kernels are timed by the device.
func TestTime(t *testing.T) {
	a, err := Find("bertazzini/many-images")
	if err != nil {
		t.Fatal(err)
	}
	img := boxsum.Image[uint8]{Pix: make([]uint8, 64*64), Width: 64, Height: 64}
	d := device(t)
	job, err := Prepare(a, &Options{Device: d, Streams: 2}, img, img, img)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	times, err := d.Time(3, job.Run)
	if err != nil || len(times) != 3 {
		t.Errorf("%v, %v", times, err)
	}
	infos, err := launch.Kernels(d, job.Run)
	if err != nil || len(infos) != 2 {
		t.Errorf("%d kernels, %v", len(infos), err)
	}
}
