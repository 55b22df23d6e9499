package explore

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/pixels"
)

// screenCases lists filters and thresholds, and whether their pixels are computed from tables.
var screenCases = []struct {
	request map[string]any
	tables  bool
}{
	{map[string]any{"do": "filter", "method": "box", "radius": 7}, true},
	{map[string]any{"do": "filter", "method": "box", "radius": 300}, true},
	{map[string]any{"do": "filter", "method": "mean", "radius": 3}, true},
	{map[string]any{"do": "filter", "method": "std", "radius": 5}, true},
	{map[string]any{"do": "filter", "method": "normalize", "radius": 20}, true},
	{map[string]any{"do": "filter", "method": "median", "radius": 2}, false},
	{map[string]any{"do": "filter", "method": "gaussian", "sigma": 3}, false},
	{map[string]any{"do": "filter", "method": "guided", "radius": 4, "epsilon": 400}, false},
	{map[string]any{"do": "filter", "method": "entropy", "radius": 4}, false},
	{map[string]any{"do": "filter", "method": "percentile", "radius": 4, "percent": 90}, false},
	{map[string]any{"do": "filter", "method": "equalize", "radius": 9}, false},
	{map[string]any{"do": "filter", "method": "clahe", "clip": 3}, false},
	{map[string]any{"do": "filter", "method": "denoise", "strength": 20}, false},
	{map[string]any{"do": "threshold", "method": "sauvola", "window": 31, "k": 0.3}, true},
	{map[string]any{"do": "threshold", "method": "niblack", "window": 15}, true},
	{map[string]any{"do": "threshold", "method": "nick", "window": 15}, true},
	{map[string]any{"do": "threshold", "method": "trsingh", "window": 15}, true},
	{map[string]any{"do": "threshold", "method": "phansalkar", "window": 15}, true},
	{map[string]any{"do": "threshold", "method": "bradley", "window": 41}, true},
	{map[string]any{"do": "threshold", "method": "meanc", "window": 41, "k": 4}, true},
	{map[string]any{"do": "threshold", "method": "wolf", "window": 31}, false},
	{map[string]any{"do": "threshold", "method": "su", "window": 15}, false},
	{map[string]any{"do": "threshold", "method": "otsu", "window": 75}, false},
}

// TestScreen compares the pixels that the page shows with the corresponding pixels of the whole image, including at
// edges, in gray, in color and for other pixel types.
func TestScreen(t *testing.T) {
	s := NewSession(nil, Usual)
	rnd := rand.New(rand.NewPCG(5, 6))
	const w, h = 233, 151
	words := boxsum.Image[uint16]{Pix: make([]uint16, w*h), Stride: w, Width: w, Height: h, Channels: 1}
	reals := boxsum.Image[float32]{Pix: make([]float32, w*h), Stride: w, Width: w, Height: h, Channels: 1}
	for i := range words.Pix {
		words.Pix[i], reals.Pix[i] = uint16(rnd.IntN(5000)), rnd.Float32()
	}
	clear := boxsum.Image[uint8]{Pix: make([]uint8, 4*w*h), Stride: 4 * w, Width: w, Height: h, Channels: 4}
	for i := range clear.Pix {
		clear.Pix[i] = uint8(rnd.IntN(256))
	}
	for _, c := range []struct {
		name, format string
		img          any
		colors       int
	}{
		{"gray", "png", imgio.Demo(w, h), 1}, {"color", "png", imgio.DemoColor(w, h), 4}, {"clear", "png", clear, 4}, {"words", "png", words, 1}, {"reals", "npy", reals, 1},
	} {
		var b bytes.Buffer
		if err := imgio.Encode(&b, c.format, c.img); err != nil {
			t.Fatal(err)
		}
		doc, _ := ask(t, s, map[string]any{"do": "open", "name": c.name}, b.Bytes())
		if doc["error"] != nil {
			t.Fatal(doc)
		}
		for _, k := range screenCases {
			q := map[string]any{"doc": doc["id"]}
			for key, v := range k.request {
				q[key] = v
			}
			whole, want := ask(t, s, q, nil)
			colors := c.colors
			if q["do"] == "threshold" {
				colors = 1
			}
			if whole["error"] != nil {
				if c.name == "gray" || c.name == "color" {
					t.Errorf("%s, %v: %v", c.name, q, whole["error"])
				}
				continue // some methods, such as Su, are only for bytes
			}
			for _, view := range []image.Rectangle{image.Rect(0, 0, w, h), image.Rect(40, 30, 160, 120), image.Rect(-9, 100, 50, 900)} {
				in := view.Intersect(image.Rect(0, 0, w, h))
				for _, size := range []image.Point{in.Size(), {67, 31}, {4000, 3000}} {
					q["view"], q["width"], q["height"] = []int{view.Min.X, view.Min.Y, view.Max.X, view.Max.Y}, size.X, size.Y
					part, got := ask(t, s, q, nil)
					sw, sh := min(size.X, in.Dx()), min(size.Y, in.Dy())
					if part["error"] != nil || part["width"] != float64(sw) || part["height"] != float64(sh) || part["scale"] != 1.0 || len(got) != sw*sh*colors {
						t.Fatalf("%s, %v: %v, %d bytes", c.name, q, part, len(got))
					}
					// Deviations and sums of floats are rounded in another order, which may change the result by one level.
					rounded, off := c.name == "reals" || q["method"] == "std" || q["method"] == "normalize", 0
					for j := range sh {
						for i := range sw {
							x, y := in.Min.X+(2*i+1)*in.Dx()/(2*sw), in.Min.Y+(2*j+1)*in.Dy()/(2*sh)
							for ch := range colors {
								a, b := int(got[(j*sw+i)*colors+ch]), int(want[(y*w+x)*colors+ch])
								if a != b {
									off++
								}
								if a != b && !rounded || a-b > 1 || b-a > 1 {
									t.Fatalf("%s, %v: channel %d of %d, %d is %d, want %d", c.name, q, ch, x, y, a, b)
								}
							}
						}
					}
					if off > max(1, len(got)/200) {
						t.Errorf("%s, %v: %d of %d values differ by a level", c.name, q, off, len(got))
					}
				}
			}
			delete(q, "view")
			if q["save"] = true; c.name != "color" {
				continue
			}
			if _, file := ask(t, s, q, nil); true {
				m, err := png.Decode(bytes.NewReader(file))
				if err != nil || m.Bounds() != image.Rect(0, 0, w, h) {
					t.Fatalf("%v: the file is %v, %v", q, m.Bounds(), err)
				}
				r, g, _, _ := m.At(20, 10).RGBA()
				i := (10*w + 20) * colors
				if uint8(r>>8) != want[i] || colors > 1 && uint8(g>>8) != want[i+1] {
					t.Errorf("%v: the file has other pixels", q)
				}
			}
		}
	}
}

// TestScreenLarge shows a large image in a small view: results from tables take no more memory than the view, and others
// are computed from a reduced image.
func TestScreenLarge(t *testing.T) {
	img := imgio.Demo(3000, 2000)
	p, err := newPlane(context.Background(), pixels.Of(img))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range screenCases {
		q := &request{Do: k.request["do"].(string), Method: k.request["method"].(string), Radius: 9, Window: 31, Sigma: 9, Epsilon: 400, Percent: 90, Clip: 2, Strength: 10, View: []int{0, 0, 3000, 2000}, Width: 300, Height: 200, Quick: true}
		s, err := screenOf(q, 3000, 2000)
		if err != nil {
			t.Fatal(err)
		}
		var f *filtered
		if q.Do == "filter" {
			q.Window = 0
			f, err = p.filter(context.Background(), q, s, []int{0})
		} else {
			f, err = p.threshold(context.Background(), q, s, 0)
		}
		if err != nil {
			t.Fatalf("%s: %v", q.Method, err)
		}
		if exact := k.tables || q.Method == "otsu"; (f.scale == 1) != exact {
			t.Errorf("%s is made at 1:%d, from tables: %v", q.Method, f.scale, k.tables)
		}
	}
	for _, view := range [][]int{{1, 2, 3}, {5000, 0, 6000, 10}, {10, 10, 10, 20}, {0, 0, math.MaxInt, 1}} {
		if _, err := screenOf(&request{View: view, Width: 10, Height: 10}, 3000, 2000); err == nil {
			t.Errorf("the view %v is taken", view)
		}
	}
	for _, size := range [][2]int{{0, 10}, {10, -1}, {math.MaxInt, math.MaxInt}} {
		if _, err := screenOf(&request{View: []int{0, 0, 9, 9}, Width: size[0], Height: size[1]}, 3000, 2000); err == nil {
			t.Errorf("a screen of %v is taken", size)
		}
	}
}

// TestSliderMemory moves sliders on an image of 4096×4096 pixels. An answer that needed the whole image would allocate at
// least a byte for each of its pixels. Otsu's method has no slider.
func TestSliderMemory(t *testing.T) {
	const side = 4096
	p, err := newPlane(context.Background(), pixels.Of(imgio.Demo(side, side)))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range screenCases {
		q := &request{Do: k.request["do"].(string), Method: k.request["method"].(string), Epsilon: 400, Percent: 90, Clip: 2, Strength: 10, View: []int{0, 0, side, side}, Width: 900, Height: 900, Quick: true}
		if q.Method == "otsu" {
			continue
		}
		s, err := screenOf(q, side, side)
		if err != nil {
			t.Fatal(err)
		}
		for moved, size := range []int{7, 9} { // the first answer may prepare the image
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if q.Do == "filter" {
				q.Radius, q.Sigma = size, float64(size)
				_, err = p.filter(context.Background(), q, s, []int{0})
			} else {
				q.Window = 2*size + 1
				_, err = p.threshold(context.Background(), q, s, 0)
			}
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatalf("%s: %v", q.Method, err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; moved == 1 && n >= side*side {
				t.Errorf("%s allocates %d bytes when its slider moves, as for the whole image", q.Method, n)
			}
		}
	}
}

// TestTurnedHeat draws a table at an angle, and tests that its pixels are the entries that give the sum of a box.
func TestTurnedHeat(t *testing.T) {
	s := NewSession(&Library{Documents: []Document{Demo()}}, Usual)
	for _, degrees := range []float64{26.6, -26.6, 60, -45} {
		v, _ := ask(t, s, map[string]any{"do": "rotated", "rect": []float64{960, 540, 300, 200, degrees}}, nil)
		if v["error"] != nil {
			t.Fatal(v)
		}
		total, seen := 0.0, 0
		all, _ := ask(t, s, map[string]any{"do": "boxes", "boxes": [][]int{{0, 0, 1920, 1080}}}, nil)
		fmt.Sscan(all["boxes"].([]any)[0].(map[string]any)["sum"].(string), &total)
		var sum float64
		for _, e := range v["entries"].([]any) {
			e := e.(map[string]any)
			at := e["at"].([]any)
			var value float64
			fmt.Sscan(e["value"].(string), &value)
			if value < 0 {
				t.Errorf("%v°: the entry at %v is %v", degrees, at, value)
			}
			sum += e["sign"].(float64) * value
			x, y := int(at[0].(float64)), int(at[1].(float64))
			if x < 0 || x >= 1920 || y < 0 || y >= 1080 {
				continue
			}
			seen++
			tile, pix := ask(t, s, map[string]any{"do": "tile", "kind": "heat", "size": 512, "x": x / 512, "y": y / 512, "ratio": v["ratio"]}, nil)
			if got, want := float64(pix[y%512*int(tile["width"].(float64))+x%512]), 255*value/total; got < want-1.5 || got > want+1.5 {
				t.Errorf("%v°: the table at %v is drawn as %v, want %v", degrees, at, got, want)
			}
		}
		if fmt.Sprintf("%.0f", sum) != v["sum"] {
			t.Errorf("%v°: the entries give %v, want %v", degrees, sum, v["sum"])
		}
		if seen == 0 {
			t.Errorf("%v°: no entry was seen", degrees)
		}
	}
}

// TestBundled requests the report that the page shows if no other is open.
func TestBundled(t *testing.T) {
	v, _ := ask(t, NewSession(nil, Usual), map[string]any{"do": "bundled"}, nil)
	if results, _ := v["results"].([]any); len(results) < 100 {
		t.Errorf("%d results", len(results))
	}
}

// TestColorTables tests that the color tables of one picture replace those of another.
func TestColorTables(t *testing.T) {
	s := NewSession(nil, Usual)
	var b bytes.Buffer
	if err := imgio.Encode(&b, "png", imgio.DemoColor(90, 60)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		v, _ := ask(t, s, map[string]any{"do": "open", "name": "a"}, b.Bytes())
		if v, _ := ask(t, s, map[string]any{"do": "filter", "method": "std", "radius": 3, "doc": v["id"], "view": []int{0, 0, 90, 60}, "width": 9, "height": 6}, nil); v["error"] != nil {
			t.Fatal(v)
		}
		if colorTables.of == nil || colorTables.of.owner.info.ID != int(v["id"].(float64)) {
			t.Error("the tables are of another picture")
		}
	}
	ask(t, s, map[string]any{"do": "close", "doc": ownFirst + 1}, nil)
	if colorTables.of != nil {
		t.Error("a closed picture keeps its tables")
	}
}
