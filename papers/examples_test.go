package papers

import (
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
)

// An example is an image that one of the works gives together with its table.
type example struct {
	name      string
	width     int
	pixels    []uint8
	inclusive []float64
}

var examples = []example{
	// Bilgic, section II: the exclusive table of the image's size, which is the inclusive one without
	// its last row and column.
	{"bilgic", 4, []uint8{2, 1, 3, 1, 3, 2, 1, 1, 4, 1, 3, 1}, []float64{2, 3, 6, 7, 5, 8, 12, 14, 9, 13, 20, 23}},
	// Messom and Barczak, figures 9 and 11. Figure 11 prints the fifth pixel of the third row as 1, but
	// adds it as 3, the value used here.
	{"messom figure 9", 8, []uint8{1, 3, 2, 1, 1, 2, 1, 2}, []float64{1, 4, 6, 7, 8, 10, 11, 13}},
	{"messom figure 11", 6, []uint8{2, 1, 3, 1, 1, 2, 3, 2, 1, 1, 3, 4, 1, 2, 3, 2, 3, 2, 4, 1, 3, 1, 1, 3},
		[]float64{2, 3, 6, 7, 8, 10, 5, 8, 12, 14, 18, 24, 6, 11, 18, 22, 29, 37, 10, 16, 26, 31, 39, 50}},
	// Bertazzini and Guiducci, figure 1.
	{"bertazzini figure 1", 3, []uint8{1, 0, 2, 3, 2, 4, 1, 5, 0}, []float64{1, 1, 3, 4, 6, 12, 5, 12, 18}},
}

// TestExamples tests that every upright algorithm gives the tables of all four works.
func TestExamples(t *testing.T) {
	for _, a := range All() {
		if a.Kind != Upright {
			continue
		}
		for _, p := range a.Precisions {
			t.Run(a.Name+"/"+p.String(), func(t *testing.T) {
				for _, e := range examples {
					checkExample(t, a, p, e)
				}
			})
		}
	}
}

func checkExample(t *testing.T, a *Algorithm, p Precision, e example) {
	t.Helper()
	img := boxsum.Image[uint8]{Width: e.width, Height: len(e.pixels) / e.width, Channels: p.Channels}
	for _, v := range e.pixels {
		img.Pix = append(img.Pix, slices.Repeat([]uint8{v}, p.Channels)...)
	}
	job, err := Prepare(a, optionsFor(t, a, Options{Precision: p, Threads: 2}), img)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	if err := job.Run(); err != nil {
		t.Fatal(err)
	}
	got := make([]float64, 0, len(e.inclusive))
	for y := range img.Height {
		for x := range img.Width {
			for c := range p.Channels {
				sum := entry(t, job, x+1, y+1, c)
				if c == 0 {
					got = append(got, sum)
				} else if sum != got[len(got)-1] {
					t.Errorf("%s: channel %d of (%d,%d) is %v", e.name, c, x, y, sum)
				}
			}
		}
	}
	if !slices.Equal(got, e.inclusive) {
		t.Errorf("%s: %v, want %v", e.name, got, e.inclusive)
	}
}

// entry returns an entry of a job's table.
func entry(t *testing.T, job *Job, x, y, channel int) float64 {
	t.Helper()
	switch job.Precision().Type {
	case "f32":
		return at[float32](t, job, x, y, channel)
	case "f64":
		return at[float64](t, job, x, y, channel)
	}
	return at[uint32](t, job, x, y, channel)
}

func at[S boxsum.Sum](t *testing.T, job *Job, x, y, channel int) float64 {
	t.Helper()
	table, err := Table[S](job, 0)
	if err != nil {
		t.Fatal(err)
	}
	return float64(table.At(x, y, channel))
}

// TestBilgicSameSize tests Bilgic's 3×4 matrix as printed: exclusive, and of the image's size.
func TestBilgicSameSize(t *testing.T) {
	img := boxsum.Image[uint8]{Pix: examples[0].pixels, Width: 4, Height: 3}
	want := []float32{0, 0, 0, 0, 0, 2, 3, 6, 0, 5, 8, 12}
	for _, a := range All() {
		if a.Work.Name != "bilgic" {
			continue
		}
		job, err := Prepare(a, optionsFor(t, a, Options{}), img)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.RunHost(); err != nil {
			t.Fatal(err)
		}
		table, err := Table[float32](job, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []float32
		view := table.SameSize()
		for y := range view.Height {
			got = append(got, view.Row(y)...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", a, got, want)
		}
		job.Close()
	}
}

// TestStreamPasses tests Messom and Barczak's figure 9 pass by pass, and figure 11 after the passes
// along rows.
func TestStreamPasses(t *testing.T) {
	figure9 := newStreams[float32](2, 8, 1)
	copy(figure9[0].elements, []float32{1, 3, 2, 1, 1, 2, 1, 2})
	steps := [][]float32{{1, 4, 5, 3, 2, 3, 3, 3}, {1, 4, 6, 7, 7, 6, 5, 6}, {1, 4, 6, 7, 8, 10, 11, 13}}
	now, next := figure9[:1], figure9[1:]
	for i, o := range doublings(8, -1, 0) {
		now, next = simulate(now, next, []offset{o}, kernel1), now
		if !slices.Equal(now[0].elements, steps[i]) {
			t.Errorf("step %d: %v, want %v", i+1, now[0].elements, steps[i])
		}
	}
	if n := passes(8); n != len(steps) {
		t.Errorf("%d passes for 8 values", n)
	}

	e := examples[2]
	in, out := newStreams[float32](1, e.width, 4), newStreams[float32](1, e.width, 4)
	for i, p := range e.pixels {
		in[0].elements[i] = float32(p)
	}
	rows := []float32{2, 3, 6, 7, 8, 10, 3, 5, 6, 7, 10, 14, 1, 3, 6, 8, 11, 13, 4, 5, 8, 9, 10, 13}
	if got := simulate(in, out, doublings(e.width, -1, 0), kernel1)[0].elements; !slices.Equal(got, rows) {
		t.Errorf("rows: %v, want %v", got, rows)
	}
}
