package moment

import (
	"fmt"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Integrate returns the table of an image.
func Integrate(src raster.Array, opt engine.Options) (*Table, error) {
	set, err := check(&src, opt)
	if err != nil {
		return nil, err
	}
	t, err := New(src.Type, src.Width, src.Height, src.Channels)
	if err == nil {
		err = t.fill(&src, set)
	}
	return raster.OrNil(t, err)
}

// Integrate makes the table of an image in t, which must come from [New] or [Integrate].
func (t *Table) Integrate(src raster.Array, opt engine.Options) error {
	set, err := check(&src, opt)
	if err != nil {
		return err
	}
	return t.fill(&src, set)
}

// check returns an error if the options or the image are invalid, and fills in defaults.
func check(src *raster.Array, opt engine.Options) (engine.Settings, error) {
	set, err := opt.Check()
	if err == nil && addRow[src.Type] == nil {
		err = noMoments(src.Type)
	}
	if err == nil {
		err = src.Pixels(src.Len())
	}
	return set, err
}

// idle keeps the engines and scratch memory of the layer for later calls.
var idle engine.Runs[layer]

func (t *Table) fill(src *raster.Array, set engine.Settings) (err error) {
	if t == nil || t.words == nil {
		return raster.NoTable()
	}
	e := raster.PlaneExtent(t.Width, t.Height, t.Channels, 0)
	if err := e.Same(&src.Extent); err != nil {
		return err
	}
	if t.wide != isWide(src.Type) {
		want := "8- or 16-bit integers"
		if t.wide {
			want = "32-bit integers or floats"
		}
		return raster.Unsupported("pixels have type %v, want %s, for which the table was made", src.Type, want)
	}
	if t.peak, t.unit, err = scale(src, &set); err != nil {
		return err
	}
	r := idle.Take()
	l := &r.Layer
	l.table, l.src = t, *src
	p := engine.Work{
		Rows: src.Height, N: src.Width * src.Channels, Channels: src.Channels,
		PixelBytes: src.Type.Bytes(), SumBytes: t.perEntry() * 8, Workers: set.Workers(),
	}.PlanEntries(0)
	return r.Fill(&set, &p, l)
}

// scale returns the largest magnitude of the pixels in units, and the unit, of which all pixels are integer
// multiples.
func scale(img *raster.Array, set *engine.Settings) (peak, unit float64, err error) {
	if img.Type.Float() {
		return floatScale(img, set)
	}
	peak = math.Ldexp(1, 8*img.Type.Bytes()) - 1
	if img.Type.Signed() {
		peak = math.Ldexp(1, 8*img.Type.Bytes()-1)
	}
	if !representable(peak, img.Width, img.Height) {
		return 0, 0, raster.Invalid("image is %d×%d, too large for moments in 128 bits (use parts of it)", img.Width, img.Height)
	}
	return peak, 1, nil
}

// representable reports whether the moments of any box of such an image, about any of its pixels, fit 128
// bits.
func representable(peak float64, width, height int) bool {
	return largest(peak, 0, width, 0, height) < 0x1p127
}

// floatScale chooses the unit such that the largest pixel has 62 bits, or fewer if the moments of the whole
// image need the room.
func floatScale(img *raster.Array, set *engine.Settings) (peak, unit float64, err error) {
	most, err := largestPixel(*img, set)
	if err != nil || most == 0 {
		return 1, 1, err
	}
	_, exponent := math.Frexp(most) // most ≤ 2^exponent
	bits := 62
	for bits > 0 && !representable(math.Ldexp(1, bits), img.Width, img.Height) {
		bits--
	}
	// Division by a unit below the smallest float would overflow.
	unit = math.Ldexp(1, max(exponent-bits, -1074))
	return math.Ldexp(1, bits), unit, nil
}

// partRows is the number of rows that are examined at a time.
const partRows = 64

// largestPixel returns the largest magnitude of float pixels, or an error if a pixel is not finite.
func largestPixel(img raster.Array, set *engine.Settings) (float64, error) {
	look := largestIn[float64]
	if img.Type == raster.F32 {
		look = largestIn[float32]
	}
	parts := engine.DivUp(img.Height, partRows)
	most, errs := make([]float64, parts+1), make([]error, parts)
	n := img.Width * img.Channels
	err := set.Quiet().Each(parts, set.Workers(), func(_, part int) {
		for y := part * partRows; y < min((part+1)*partRows, img.Height); y++ {
			largest, bad, value := look(img.From(y * img.Stride)[:n*img.Type.Bytes()])
			if bad >= 0 {
				errs[part] = fmt.Errorf("the pixel at (%d, %d) is %v, want a finite number", bad/img.Channels, y, value)
				return
			}
			most[part] = max(most[part], largest)
		}
	})
	for _, e := range errs {
		if e != nil {
			return 0, e
		}
	}
	return slices.Max(most), err
}

// largestIn returns the largest magnitude in a row, and the index and the value of the first pixel that is
// not finite; the index is −1 if there is none.
func largestIn[P raster.Number](row []byte) (most float64, bad int, value float64) {
	for i, p := range raster.Elems[P](row) {
		v := math.Abs(float64(p))
		if !(v <= math.MaxFloat64) {
			return 0, i, float64(p)
		}
		most = max(most, v)
	}
	return most, -1, 0
}
