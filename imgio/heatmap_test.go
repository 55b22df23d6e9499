package imgio

import (
	"image"
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
)

func view[S boxsum.Sum](w, h, c int, f func(x, y, c int) S) boxsum.View[S] {
	v := boxsum.View[S]{Stride: w*c + 3, Width: w, Height: h, Channels: c, Sums: make([]S, h*(w*c+3))}
	for y := range h {
		for x := range w {
			for i := range c {
				v.Sums[y*v.Stride+x*c+i] = f(x, y, i)
			}
		}
	}
	return v
}

func TestHeatMapSizes(t *testing.T) {
	for _, c := range []struct{ w, h, channels, wantW, wantH int }{
		{1, 1, 1, 1, 1}, {3, 2, 1, 3, 2}, {100, 60, 3, 316, 60}, {4096, 8, 1, 2048, 4}, {9, 5000, 1, 3, 2048},
		{2049, 1, 1, 2048, 1}, {1500, 10, 2, 2048, 6}, {3, 3, 40, 168, 3}, {0, 5, 1, 0, 0}, {5, 0, 1, 0, 0},
	} {
		m := HeatMap(view(c.w, c.h, c.channels, func(x, y, i int) uint64 { return uint64(x * y) }))
		if m.Bounds() != image.Rect(0, 0, c.wantW, c.wantH) {
			t.Errorf("%d×%d×%d gives %v, want %d×%d", c.w, c.h, c.channels, m.Bounds(), c.wantW, c.wantH)
		}
	}
}

func brightness(c color.Color) int {
	r, g, b, _ := c.RGBA()
	return int(2*r + 5*g + b)
}

func TestHeatMapClimbs(t *testing.T) {
	ramp := heatColors()
	for i := range ramp[8:] {
		if brightness(ramp[i+8]) <= brightness(ramp[i]) {
			t.Errorf("the color map does not climb at %d of %d", i, len(ramp))
		}
	}
	check := func(name string, m image.Image) {
		t.Helper()
		b := m.Bounds()
		if m.At(0, 0) != ramp[0] || m.At(b.Max.X-1, b.Max.Y-1) != ramp[len(ramp)-1] {
			t.Errorf("%s: ends are %v and %v", name, m.At(0, 0), m.At(b.Max.X-1, b.Max.Y-1))
		}
	}
	check("uint32", HeatMap(view(30, 20, 1, func(x, y, _ int) uint32 { return uint32(x*y) << 22 })))
	check("int64", HeatMap(view(30, 20, 1, func(x, y, _ int) int64 { return math.MinInt64 + int64(x*y)*(math.MaxInt64/300) })))
	check("float64", HeatMap(view(30, 20, 1, func(x, y, _ int) float64 { return (float64(x*y)/551*2 - 1) * math.MaxFloat64 })))
	check("float32", HeatMap(view(3000, 300, 1, func(x, y, _ int) float32 { return float32(x + y) })))
}

func TestHeatMapOddValues(t *testing.T) {
	ramp := heatColors()
	nan := HeatMap(view(4, 1, 1, func(x, _, _ int) float64 { return []float64{math.NaN(), math.Inf(-1), 7, math.Inf(1)}[x] }))
	if got := nan.At(0, 0); got != (color.RGBA{128, 128, 128, 255}) {
		t.Errorf("NaN is %v", got)
	}
	mixed := HeatMap(view(5, 1, 1, func(x, _, _ int) float64 { return []float64{math.NaN(), math.Inf(-1), 1, 2, math.Inf(1)}[x] }))
	for x, want := range []color.RGBA{{128, 128, 128, 255}, ramp[0], ramp[0], ramp[1023], ramp[1023]} {
		if got := mixed.At(x, 0); got != want {
			t.Errorf("entry %d is %v, want %v", x, got, want)
		}
	}
	flat := HeatMap(view(60, 60, 1, func(x, y, _ int) float32 { return 5 }))
	if got := flat.At(30, 30); got != ramp[0] {
		t.Errorf("a flat table is %v", got)
	}
	HeatMap(view(60, 60, 1, func(x, y, _ int) float32 { return float32(math.NaN()) }))
}

// TestHeatMapContours tests that contours lie where a level is crossed, and nowhere else.
func TestHeatMapContours(t *testing.T) {
	m := HeatMap(view(1601, 60, 1, func(x, _, _ int) float64 { return float64(x) }))
	ramp := heatColors()
	for x := 1; x < 1600; x++ {
		plain := m.At(x, 30) == ramp[int(float64(x)/1600*1023+0.5)]
		distance := x % 100
		distance = min(distance, 100-distance)
		if x < 50 || x > 1550 {
			distance = 50
		}
		if distance > 1 && !plain || distance == 0 && plain {
			t.Errorf("column %d, %d from a level: plain is %v", x, distance, plain)
		}
	}
}

func TestDemo(t *testing.T) {
	a, b := Demo(320, 200), Demo(320, 200)
	if !slices.Equal(a.Pix, b.Pix) || a.Width != 320 || a.Height != 200 || a.Channels != 1 || len(a.Pix) != 64000 {
		t.Error("not the same picture twice")
	}
	if low, high := slices.Min(a.Pix), slices.Max(a.Pix); low > 60 || high < 240 {
		t.Errorf("the range is %d…%d", low, high)
	}
	// A checksum of the picture: every machine must draw the same.
	sum := uint64(0)
	for i, v := range a.Pix {
		sum += uint64(v) * uint64(i%8191+1)
	}
	if want := uint64(28980346950); sum != want {
		t.Errorf("the picture has become another: %d, want %d", sum, want)
	}
	for _, size := range [][2]int{{0, 5}, {5, 0}, {-1, 3}} {
		if im := Demo(size[0], size[1]); len(im.Pix) != 0 || im.Width != 0 || im.Height != 0 {
			t.Errorf("%v gives %v", size, im)
		}
	}
	for _, size := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {1 << 20, 1}, {3, 2000}} {
		if im := Demo(size[0], size[1]); len(im.Pix) != size[0]*size[1] {
			t.Errorf("%v gives %d pixels", size, len(im.Pix))
		}
	}
}
