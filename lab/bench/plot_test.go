package bench

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/lab/measure"
)

func result(algorithm, on, types, size string, side, workers int, ms float64) Result {
	r := Result{Algorithm: algorithm, On: on, Types: types, Size: Size{Width: side, Height: side, Name: size}, Channels: 1, Workers: workers,
		Repeat: 15, Times: measure.Times{Mean: ms * 1.1, Min: ms, Max: ms * 2}, Bytes: int64(5 * side * side)}
	if on != "cpu" {
		r.Median = ms
	}
	return r
}

func TestPlots(t *testing.T) {
	var results []Result
	for _, side := range []int{512, 4096} {
		area := float64(side*side) / 1e6
		results = append(results,
			result(Boxsum, "cpu", "u8:u32", "", side, 1, area/4), result(Boxsum, "cpu", "u8:u32", "", side, 2, area/7),
			result(OpenCV+" 5.0", "cpu", "u8:u32", "", side, 1, area/2),
			result(LimitFillRead, "cpu", "u8:u32", "", side, 2, area/8), result(LimitCopy, "cpu", "u8:u32", "", side, 2, area/9),
			result(Boxsum, "cuda", "f32:f64", "", side, 0, area/90), result(LimitDevice, "cuda", "f32:f64", "", side, 0, area/99))
	}
	// A result without runs must not appear, and must not prevent others from appearing.
	results = append(results, Result{Algorithm: Boxsum, On: "cpu", Types: "u8:u32", Channels: 1, Size: Size{Width: 8, Height: 8}, Workers: 1})
	want := map[string][]string{
		"time-u8-u32":        {"Time of a table, u8→u32", "boxsum, 1 worker", "boxsum, 2 workers", "opencv 5.0, 1 worker", "limit: fill and read, 2 workers", "512²", "4096²"},
		"throughput-u8-u32":  {"limit: copy, 2 workers", "read and written (GB/s), best of 15"},
		"speedup-u8-u32":     {"workers", "as many times as workers"},
		"time-f32-f64":       {"Time of a table, f32→f64 on cuda", "time (ms), median of 15", "boxsum"},
		"throughput-f32-f64": {"limit: device copy"},
	}
	plots := Plots(results)
	if len(plots) != len(want) {
		t.Errorf("%d plots, want %d", len(plots), len(want))
	}
	for _, p := range plots {
		var svg, pixels bytes.Buffer
		if err := p.SVG(&svg); err != nil {
			t.Fatal(err)
		}
		texts := svgTexts(t, svg.String())
		for _, text := range want[p.Name] {
			if !slices.Contains(texts, text) {
				t.Errorf("%s does not say %q: %q", p.Name, text, texts)
			}
		}
		if testing.Short() {
			continue // drawing takes long
		}
		if err := p.PNG(&pixels); err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(&pixels); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if plots := Plots(nil); len(plots) != 0 {
		t.Errorf("nothing has %d plots", len(plots))
	}
}

// TestPlotNames tests that every case has a unique file name.
func TestPlotNames(t *testing.T) {
	cases, err := measure.ParseTypes("u8:u32,u8:u32x3,squares,tilted,rotated:1/2,rotated:-1/2,volume")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range cases {
		name := fileName(c)
		if seen[name] || strings.ContainsAny(name, `/\:*?"<>| `) {
			t.Errorf("%v is called %q", c, name)
		}
		seen[name] = true
	}
}

// svgTexts returns all texts of an SVG.
func svgTexts(t *testing.T, svg string) (texts []string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		} else if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			texts = append(texts, string(data))
		}
	}
}
