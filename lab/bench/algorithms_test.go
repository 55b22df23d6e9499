package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/lab/measure"
	"github.com/boxsum/boxsum/papers"
)

func TestParseAlgorithms(t *testing.T) {
	for _, c := range []struct {
		list   string
		device bool
		want   string
	}{
		{"intimg", false, "intimg/serial:f32 intimg/parallel:f32"},
		{"intimg", true, "intimg/gpu-v1:f32 intimg/gpu-v2:f32"},
		{"intimg/serial:u32, bilgic/scan-transpose:f32x4", true, "intimg/serial:u32 bilgic/scan-transpose:f32x4"},
		{"messom/rotated@-2/3:f64,messom/rotated", false, "messom/rotated@-2/3:f64 messom/rotated@1/2:f32"},
	} {
		cases, err := ParseAlgorithms(c.list, c.device)
		if err != nil {
			t.Errorf("%q: %v", c.list, err)
		}
		var got []string
		for _, a := range cases {
			got = append(got, a.String())
			if again, err := ParseAlgorithm(a.String()); err != nil || again != a {
				t.Errorf("%v is read as %v, %v", a, again, err)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %v, want %v", c.list, got, c.want)
		}
	}
	for _, list := range []string{"", "none", "intimg/serial:f16", "bilgic/sequential:u32", "intimg/serial@1/2", "messom/rotated@x", "messom/rotated@1/0", "intimg/gpu-v1"} {
		if _, err := ParseAlgorithms(list, false); err == nil {
			t.Errorf("no error for %q", list)
		}
	}
	cpu, err := ParseAlgorithms("all", false)
	if err != nil {
		t.Fatal(err)
	}
	onGPU, err := ParseAlgorithms("all", true)
	if err != nil || len(cpu)+len(onGPU) != len(papers.All()) {
		t.Errorf("%d on the CPU and %d on a GPU, of %d: %v", len(cpu), len(onGPU), len(papers.All()), err)
	}
}

// TestAlgorithms tests that every algorithm can be measured next to boxsum's own in the same place.
func TestAlgorithms(t *testing.T) {
	sizes, err := measure.ParseSizes("33x21")
	if err != nil {
		t.Fatal(err)
	}
	list, err := ParseAlgorithms("all", false)
	if err != nil {
		t.Fatal(err)
	}
	onGPU, err := ParseAlgorithms("bilgic/scan-transpose:f32x4,intimg/gpu-v1,messom/tilted,bertazzini/many-images", true)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var last Progress
	results, err := Algorithms(t.Context(), Config{
		Sizes: sizes, Workers: []int{1, 2}, Repeat: 3, Progress: func(p Progress) { last = p },
		Algorithms: append(list, onGPU...), Device: openDevice(t), Batch: 3, Out: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := len(list) + 2 + len(onGPU) // two of them with two numbers of workers
	if len(results) != 2*rows || last.Done != 3*rows || last.Total != last.Done {
		t.Errorf("%d results, %+v, for %d rows", len(results), last, rows)
	}
	for i, r := range results {
		if !r.Verified || r.Repeat != 3 || r.Bytes <= 0 || (i%2 == 1) != (r.Algorithm == Boxsum) {
			t.Errorf("odd result %+v", r)
		}
	}
	if n := strings.Count(out.String(), "33x21"); n != rows {
		t.Errorf("%d rows, want %d:\n%s", n, rows, &out)
	}
	if many := results[len(results)-2]; many.Algorithm != "bertazzini/many-images" || many.Batch != 3 {
		t.Errorf("many images: %+v", many)
	}

	var help strings.Builder
	if err := WriteAlgorithms(&help); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(help.String(), "\n")
	for _, a := range papers.All() {
		if !slices.ContainsFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "  "+a.Name+" ") && strings.Contains(l, a.Place.String())
		}) || !slices.Contains(lines, "      "+a.CostText) {
			t.Errorf("%s is not listed", a)
		}
	}
}
