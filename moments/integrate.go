package moments

import (
	"fmt"
	"math"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/kernel"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Integrate makes the table of an image, in one pass over its pixels (and one
// more for floats, to find the largest).
func Integrate[P boxsum.Pixel](img boxsum.Image[P], opt *Options) (*Table, error) {
	src := sourceOf(&img)
	set, err := src.check(opt)
	if err != nil {
		return nil, err
	}
	t, err := newTable(src.of, img.Width, img.Height, img.Channels)
	if err == nil {
		err = fill(t, set, &src)
	}
	return grid.OrNil(t, err)
}

// IntegrateInto makes the table of an image in dst, which must come from [NewTable]
// or [Integrate] for an image of this size and with pixels as wide: the tables
// of 8- and 16-bit pixels are of one kind, and the others of another. It
// allocates next to nothing once an image of the same type has been integrated.
func IntegrateInto[P boxsum.Pixel](dst *Table, img boxsum.Image[P], opt *Options) error {
	src := sourceOf(&img)
	set, err := src.check(opt)
	if err != nil {
		return err
	}
	return fill(dst, set, &src)
}

// A source is an image, of pixels whose type is data: only what reads a row is compiled for each.
type source struct {
	of     pairs.Type
	memory []byte
	grid.Extent
}

func sourceOf[P boxsum.Pixel](img *boxsum.Image[P]) source {
	return source{pairs.TypeOf[P](), kernel.Bytes(img.Pix), grid.Plane(img.Width, img.Height, img.Channels, img.Stride)}
}

// check is all that can be wrong with options and image.
func (s *source) check(opt *Options) (engine.Settings, error) {
	set, err := engineOptions(opt).Check()
	if err == nil {
		err = s.Pixels(len(s.memory) / s.of.Bytes())
	}
	return set, err
}

// row is pixels [x, x+n) of a row.
func row[P boxsum.Pixel](s *source, x, y, n int) []P {
	return kernel.Of[P](s.memory)[y*s.Stride+x*s.Channels:][:n*s.Channels]
}

func fill(dst *Table, set engine.Settings, src *source) (err error) {
	if dst == nil || dst.words == nil {
		return grid.NoTable()
	}
	e := grid.Plane(dst.Width, dst.Height, dst.Channels, 0)
	if err := e.Same(&src.Extent); err != nil {
		return err
	}
	if dst.wide != isWide(src.of) {
		return grid.Types("this table was not made for pixels of %v", src.of)
	}
	if dst.peak, dst.unit, err = scale(src, set); err != nil {
		return err
	}
	run := engine.Take[engine.Run[layer]]()
	run.Layer.table, run.Layer.src = dst, *src
	p := engine.Work{
		Rows: src.Height, N: src.Width * src.Channels, Channels: src.Channels,
		PixelBytes: src.of.Bytes(), SumBytes: dst.perEntry() * 8, Workers: set.Workers(),
	}.PlanEntries(0)
	return run.Fill(set, p, &run.Layer)
}

// scale is the unit in which the pixels are whole numbers, and their largest
// magnitude in it.
func scale(img *source, set engine.Settings) (peak, unit float64, err error) {
	if img.of.Float() {
		return floatScale(img, set)
	}
	peak = math.Ldexp(1, 8*img.of.Bytes()) - 1
	if img.of.Signed() {
		peak = math.Ldexp(1, 8*img.of.Bytes()-1)
	}
	if !representable(peak, img.Width, img.Height) {
		return 0, 0, grid.Invalid("the moments of an image of %d×%d do not fit 128 bits: use parts of it", img.Width, img.Height)
	}
	return peak, 1, nil
}

// representable reports whether the moments of any box of such an image, about any
// of its pixels, fit 128 bits.
func representable(peak float64, width, height int) bool {
	return largest(peak, 0, width, 0, height) < 0x1p127
}

// floatScale chooses the unit so that the largest pixel takes 62 bits, or as
// many as leave room for the moments of the whole image.
func floatScale(img *source, set engine.Settings) (peak, unit float64, err error) {
	var most float64
	if img.of == pairs.F32 {
		most, err = largestPixel[float32](*img, set)
	} else {
		most, err = largestPixel[float64](*img, set)
	}
	if err != nil || most == 0 {
		return 1, 1, err
	}
	_, exponent := math.Frexp(most) // most ≤ 2^exponent
	bits := 62
	for bits > 0 && !representable(math.Ldexp(1, bits), img.Width, img.Height) {
		bits--
	}
	// A unit below the smallest float would not divide.
	unit = math.Ldexp(1, max(exponent-bits, -1074))
	return math.Ldexp(1, bits), unit, nil
}

// partRows is how many rows are looked through at a time.
const partRows = 64

// largestPixel is the largest magnitude, and an error if a pixel has none.
func largestPixel[P float32 | float64](img source, set engine.Settings) (float64, error) {
	parts := engine.DivUp(img.Height, partRows)
	most, errs := make([]float64, parts+1), make([]error, parts)
	err := set.Quiet().Each(parts, set.Workers(), func(_, part int) {
		for y := part * partRows; y < min((part+1)*partRows, img.Height); y++ {
			for i, p := range row[P](&img, 0, y, img.Width) {
				v := math.Abs(float64(p))
				if !(v <= math.MaxFloat64) {
					errs[part] = fmt.Errorf("boxsum: the pixel at (%d, %d) is %v: it has no moments", i/img.Channels, y, p)
					return
				}
				most[part] = max(most[part], v)
			}
		}
	})
	for _, e := range errs {
		if e != nil {
			return 0, e
		}
	}
	return slices.Max(most), err
}
