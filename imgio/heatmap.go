package imgio

import (
	"image"
	"image/color"
	"math"
	"sync"

	"github.com/boxsum/boxsum"
)

const (
	heatSide   = 2048 // the longest side of a heat map, in pixels
	heatGap    = 8    // between panels
	heatPanels = 16   // channels beyond these are not drawn

	// heatLines is the number of contour lines across the range. Below
	// minLineSide, entries are as wide as the lines would be.
	heatLines   = 16
	minLineSide = 48
)

// HeatMap draws a table: dark where its entries are smallest and bright where
// they are largest, with contour lines at every sixteenth of the range. Each
// channel has its own panel and range; NaN is gray. Tables of more than 2048
// entries a side are sampled evenly, including the first and the last entry.
// Only the first 16 channels are drawn.
func HeatMap[S boxsum.Sum](v boxsum.View[S]) image.Image {
	panels := min(v.Channels, heatPanels)
	if v.Width <= 0 || v.Height <= 0 || panels <= 0 {
		return image.NewRGBA(image.Rectangle{})
	}
	room := (heatSide - heatGap*(panels-1)) / panels
	scale := min(1, float64(room)/float64(v.Width), heatSide/float64(v.Height))
	w := max(1, int(float64(v.Width)*scale))
	h := max(1, int(float64(v.Height)*scale))
	img := image.NewRGBA(image.Rect(0, 0, panels*(w+heatGap)-heatGap, h))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for c := range panels {
		left := c * (w + heatGap)
		drawPanel(img.SubImage(image.Rect(left, 0, left+w, h)).(*image.RGBA), sampled(v, c, w, h))
	}
	return img
}

// sampled returns w×h entries of one channel as fractions of its range.
func sampled[S boxsum.Sum](v boxsum.View[S], channel, w, h int) []float64 {
	t := make([]float64, 0, w*h)
	low, high := math.Inf(1), math.Inf(-1)
	for y := range h {
		row := v.Row(spread(y, h, v.Height))
		for x := range w {
			f := float64(row[spread(x, w, v.Width)*v.Channels+channel])
			t = append(t, f)
			if !math.IsNaN(f) && !math.IsInf(f, 0) {
				low, high = min(low, f), max(high, f)
			}
		}
	}
	// Halves keep the range finite even for the largest floats.
	span := high/2 - low/2
	for i, f := range t {
		switch {
		case span > 0:
			t[i] = min(max((f/2-low/2)/span, 0), 1) // keeps NaN
		case !math.IsNaN(f):
			t[i] = 0
		}
	}
	return t
}

// spread returns which of n entries pixel i of size shows. The first and the
// last entry are always shown.
func spread(i, size, n int) int {
	if size == 1 {
		return n - 1
	}
	return int(int64(i) * int64(n-1) / int64(size-1))
}

func drawPanel(dst *image.RGBA, t []float64) {
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	lines := w >= minLineSide && h >= minLineSide
	ramp := heatColors()
	for y := range h {
		for x := range w {
			i := y*w + x
			c := color.RGBA{128, 128, 128, 255}
			if !math.IsNaN(t[i]) {
				c = ramp[int(t[i]*float64(len(ramp)-1)+0.5)]
				if lines {
					c = inked(c, contour(t, w, h, x, y))
				}
			}
			dst.SetRGBA(dst.Rect.Min.X+x, dst.Rect.Min.Y+y, c)
		}
	}
}

// contour returns how much of a pixel a contour line covers, 0 to 1. The
// distance to the line in pixels is the distance to the nearest level over the
// slope.
func contour(t []float64, w, h, x, y int) float64 {
	at := func(x, y int) float64 { return t[min(max(y, 0), h-1)*w+min(max(x, 0), w-1)] }
	dx := (at(x+1, y) - at(x-1, y)) / 2
	dy := (at(x, y+1) - at(x, y-1)) / 2
	slope := math.Hypot(dx, dy) * heatLines
	level := at(x, y) * heatLines
	nearest := math.Round(level)
	if !(slope > 0) || nearest < 1 || nearest > heatLines-1 {
		return 0
	}
	// Fade lines that are only a few pixels apart, which would merge into a
	// blot.
	fade := min(max((0.35-slope)/0.2, 0), 1)
	return fade * min(max(1.1-math.Abs(level-nearest)/slope, 0), 1)
}

// inked draws a line over a color: light on dark and dark on light.
func inked(c color.RGBA, cover float64) color.RGBA {
	ink := 255.0
	if 2*int(c.R)+5*int(c.G)+int(c.B) > 8*140 {
		ink = 0
	}
	mix := func(v uint8) uint8 { return uint8(float64(v) + (ink-float64(v))*cover*0.45 + 0.5) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

// heatStops are the stops of the color map as lightness, chroma and hue (in
// degrees) in OKLab. Lightness rises evenly, so that equal steps of a table
// look equal, while the hue changes from night blue over violet and red to
// straw.
var heatStops = [][3]float64{
	{0.14, 0.040, 275},
	{0.29, 0.110, 285},
	{0.44, 0.155, 325},
	{0.58, 0.170, 378},
	{0.71, 0.150, 415},
	{0.84, 0.135, 445},
	{0.97, 0.060, 465},
}

// heatColors returns the color map in 1024 steps.
var heatColors = sync.OnceValue(func() []color.RGBA {
	ramp := make([]color.RGBA, 1024)
	for i := range ramp {
		at := float64(i) / float64(len(ramp)-1) * float64(len(heatStops)-1)
		k := min(int(at), len(heatStops)-2)
		f := at - float64(k)
		var lch [3]float64
		for j := range lch {
			lch[j] = heatStops[k][j]*(1-f) + heatStops[k+1][j]*f
		}
		sin, cos := math.Sincos(lch[2] * math.Pi / 180)
		ramp[i] = oklab(lch[0], lch[1]*cos, lch[1]*sin)
	}
	return ramp
})

// oklab converts a color from OKLab to sRGB, clipped to the displayable range.
func oklab(lightness, a, b float64) color.RGBA {
	cube := func(v float64) float64 { return v * v * v }
	l := cube(lightness + 0.3963377774*a + 0.2158037573*b)
	m := cube(lightness - 0.1055613458*a - 0.0638541728*b)
	s := cube(lightness - 0.0894841775*a - 1.2914855480*b)
	gamma := func(v float64) uint8 {
		v = min(max(v, 0), 1)
		if v <= 0.0031308 {
			v *= 12.92
		} else {
			v = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
		return uint8(v*255 + 0.5)
	}
	return color.RGBA{
		R: gamma(+4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
		G: gamma(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		B: gamma(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
		A: 255,
	}
}
