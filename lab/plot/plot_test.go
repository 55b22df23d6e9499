package plot

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func sample() *Chart {
	line := func(name string, style Style, factor, power float64) Series {
		s := Series{Name: name, Style: style}
		for _, n := range []float64{256, 512, 1024, 2048, 4096} {
			s.Points = append(s.Points, Point{X: n * n, Y: factor * math.Pow(n/256, power)})
		}
		return s
	}
	c := &Chart{
		Title: "Time by size <& more>",
		X:     Axis{Label: "image size (pixels)", Log: true, Ticks: []Tick{{256 * 256, "256²"}, {512 * 512, "512²"}, {1 << 20, "1024²"}, {1 << 22, "2048²"}, {1 << 24, "4096²"}}},
		Y:     Axis{Label: "time (ms)", Log: true},
		Series: []Series{
			line("sequential", Style{Hue: 0}, 0.1, 2), line("published", Style{Hue: 0, Hollow: true, Dash: 1}, 0.3, 2.1),
			line("scan and transposes", Style{Hue: 1}, 0.05, 1.7), line("thread per row", Style{Hue: 2}, 0.2, 1.4),
			line("float4", Style{Hue: 3, Dash: 2}, 0.045, 1.7), line("stream", Style{Hue: 4}, 0.5, 1.9),
			line("boxsum", Style{Hue: 5, Heavy: true}, 0.01, 1.6), line("copy", Style{Hue: Gray, Dash: 3, Bare: true}, 0.008, 1.6),
		},
	}
	for i := range c.Series[5].Points {
		p := &c.Series[5].Points[i]
		p.Low, p.High = p.Y*0.8, p.Y*1.5
	}
	return c
}

func sampleBars() *Bars {
	return &Bars{Title: "4096×4096, float", Label: "time (ms)", Rows: []Bar{
		{Name: "intimg GPUv1", Value: 21, Hue: 0, Pale: true}, {Name: "thread per row", Value: 3.4, Hue: 0},
		{Name: "boxsum", Value: 0.05, Hue: 4}, {Name: "nothing", Value: 0, Hue: 2}}}
}

// TestDrawn writes the samples to the folder in BOXSUM_PLOTS, if set, for inspection.
func TestDrawn(t *testing.T) {
	for name, f := range map[string]Figure{"chart": sample(), "bars": sampleBars()} {
		var svg, pixels bytes.Buffer
		if err := SVG(&svg, f); err != nil {
			t.Fatal(err)
		}
		texts := wellFormed(t, svg.String())
		for _, want := range []string{f.title(), "4096"} {
			if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, want) }) {
				t.Errorf("%s has no text %q: %q", name, want, texts)
			}
		}
		if testing.Short() {
			continue // drawing takes long
		}
		if err := PNG(&pixels, f); err != nil {
			t.Fatal(err)
		}
		if dir := os.Getenv("BOXSUM_PLOTS"); dir != "" {
			_ = os.WriteFile(dir+"/"+name+".svg", svg.Bytes(), 0o666)
			_ = os.WriteFile(dir+"/"+name+".png", pixels.Bytes(), 0o666)
		}
		img, err := png.Decode(&pixels)
		if err != nil {
			t.Fatal(err)
		}
		if w, h := f.Size(); img.Bounds().Dx() != int(2*w) || img.Bounds().Dy() != int(2*h) {
			t.Errorf("%s is %v, not twice %v×%v", name, img.Bounds(), w, h)
		}
	}
}

// wellFormed returns all texts of an SVG.
func wellFormed(t *testing.T, svg string) (texts []string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if data, ok := token.(xml.CharData); ok {
			texts = append(texts, string(data))
		}
	}
}

// TestInside tests that, for any data, lines and markers stay inside the frame and names do not
// overlap.
func TestInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &Chart{X: Axis{Log: rapid.Bool().Draw(t, "log x")}, Y: Axis{Log: rapid.Bool().Draw(t, "log y"), Zero: rapid.Bool().Draw(t, "zero")}}
		for range rapid.IntRange(1, 9).Draw(t, "series") {
			s := Series{Name: "a name"}
			for range rapid.IntRange(1, 5).Draw(t, "points") {
				s.Points = append(s.Points, Point{X: rapid.Float64Range(1e-6, 1e9).Draw(t, "x"), Y: rapid.Float64Range(1e-6, 1e9).Draw(t, "y")})
			}
			c.Series = append(c.Series, s)
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		f := c.frame()
		for _, s := range c.Series {
			for _, p := range s.Points {
				at := f.place(p)
				if !(at.x >= f.x0-1e-6 && at.x <= f.x1+1e-6 && at.y >= f.y0-1e-6 && at.y <= f.y1+1e-6) {
					t.Fatalf("%v lies at %v, outside of %+v", p, at, f)
				}
			}
		}
		labeled, _ := f.y.ticks(c.Y)
		if len(labeled) < 1 || len(labeled) > 12 {
			t.Fatalf("%d labels on %+v", len(labeled), f.y)
		}
		if err := SVG(io.Discard, c); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wants := rapid.SliceOfN(rapid.Float64Range(-50, 450), 1, 12).Draw(t, "wants")
		slices.Sort(wants)
		got := spread(wants, 20, 0, 400)
		for i, y := range got {
			if y < -1e-6 || y > 400+1e-6 || i > 0 && y-got[i-1] < 20-1e-6 {
				t.Fatalf("%v became %v", wants, got)
			}
		}
	})
	if got := spread([]float64{30, 100, 300}, 20, 0, 400); !slices.Equal(got, []float64{30, 100, 300}) {
		t.Errorf("what is apart was moved to %v", got)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []interface{ Check() error }{
		&Chart{}, &Bars{}, &Bars{Rows: []Bar{{Value: math.NaN()}}},
		&Chart{Y: Axis{Log: true}, Series: []Series{{Points: []Point{{1, 0, 0, 0}}}}},
		&Chart{Series: []Series{{Points: []Point{{1, math.Inf(1), 0, 0}}}}},
		&Chart{Y: Axis{Log: true}, Series: []Series{{Points: []Point{{1, 1e300, 0, 0}}}}}, &Bars{Rows: []Bar{{Value: 1e200}}},
		&Chart{Y: Axis{Log: true}, Series: []Series{{Points: []Point{{1, 1e-300, 0, 0}}}}},
	} {
		if err := c.Check(); err == nil {
			t.Errorf("%+v can be drawn", c)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", math.Copysign(0, -1): "0", 0.001: "0.001", 1000: "1000", 12345: "12,345", 1e6: "1,000,000", 2.5: "2.5", -12345: "-12,345", 0.1 + 0.2: "0.3", 1e-7: "0.0000001"} {
		if got := Number(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
