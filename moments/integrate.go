package moments

import (
	"fmt"
	"math"
	"slices"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/grid"
	"github.com/boxsum/boxsum/internal/pairs"
)

// Integrate makes the table of an image, in one pass over its pixels (and one
// more for floats, to find the largest).
func Integrate[P boxsum.Pixel](img boxsum.Image[P], opt *Options) (*Table, error) {
	set, src, err := check(img, opt)
	if err != nil {
		return nil, err
	}
	t, err := NewTable[P](img.Width, img.Height, img.Channels)
	if err == nil {
		err = fillOnce(t, set, src)
	}
	return grid.OrNil(t, err)
}

// IntegrateInto makes the table of an image in dst, which must come from [NewTable]
// or [Integrate] for an image of this size and with pixels as wide: the tables
// of 8- and 16-bit pixels are of one kind, and the others of another. It
// allocates next to nothing once an image of the same type has been integrated.
func IntegrateInto[P boxsum.Pixel](dst *Table, img boxsum.Image[P], opt *Options) error {
	set, src, err := check(img, opt)
	if err != nil {
		return err
	}
	return fillOnce(dst, set, src)
}

func check[P boxsum.Pixel](img boxsum.Image[P], opt *Options) (set engine.Settings, src engine.Source[P], err error) {
	if set, err = engineOptions(opt).Check(); err != nil {
		return set, src, err
	}
	src = engine.Source[P]{Pix: img.Pix, Extent: grid.Plane(img.Width, img.Height, img.Channels, img.Stride)}
	return set, src, src.Pixels(len(img.Pix))
}

// fillOnce is fill, as this package has compiled it.
func fillOnce[P boxsum.Pixel](dst *Table, set engine.Settings, src engine.Source[P]) error {
	return fills[pairs.TypeOf[P]()].(func(*Table, engine.Settings, engine.Source[P]) error)(dst, set, src)
}

func fill[P boxsum.Pixel](dst *Table, set engine.Settings, src engine.Source[P]) (err error) {
	if dst == nil || dst.words == nil {
		return grid.NoTable()
	}
	e := grid.Plane(dst.Width, dst.Height, dst.Channels, 0)
	if err := e.Same(&src.Extent); err != nil {
		return err
	}
	if dst.wide != isWide[P]() {
		return grid.Types("this table was not made for pixels of %T", *new(P))
	}
	if dst.peak, dst.unit, err = scale(src, set); err != nil {
		return err
	}
	run := engine.Take[engine.Run[layer[P]]]()
	run.Layer.table, run.Layer.src = dst, src
	p := engine.WorkOf[P](&src.Extent, dst.perEntry()*8, set.Workers()).PlanEntries(0)
	return run.Fill(set, p, &run.Layer)
}

// scale is the unit in which the pixels are whole numbers, and their largest
// magnitude in it.
func scale[P boxsum.Pixel](img engine.Source[P], set engine.Settings) (peak, unit float64, err error) {
	peak, unit = 0, 1
	switch any(*new(P)).(type) {
	case uint8:
		peak = math.MaxUint8
	case uint16:
		peak = math.MaxUint16
	case int16:
		peak = -math.MinInt16
	case uint32:
		peak = math.MaxUint32
	case int32:
		peak = -math.MinInt32
	default:
		return floatScale(img, set)
	}
	if !representable(peak, img.Width, img.Height) {
		return 0, 0, grid.Invalid("the moments of an image of %d×%d do not fit 128 bits: use parts of it", img.Width, img.Height)
	}
	return peak, unit, nil
}

// representable reports whether the moments of any box of such an image, about any
// of its pixels, fit 128 bits.
func representable(peak float64, width, height int) bool {
	return largest(peak, 0, width, 0, height) < 0x1p127
}

// floatScale chooses the unit so that the largest pixel takes 62 bits, or as
// many as leave room for the moments of the whole image.
func floatScale[P boxsum.Pixel](img engine.Source[P], set engine.Settings) (peak, unit float64, err error) {
	most, err := largestPixel(img, set)
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
func largestPixel[P boxsum.Pixel](img engine.Source[P], set engine.Settings) (float64, error) {
	parts := engine.DivUp(img.Height, partRows)
	most, errs := make([]float64, parts+1), make([]error, parts)
	err := set.Quiet().Each(parts, set.Workers(), func(_, part int) {
		for y := part * partRows; y < min((part+1)*partRows, img.Height); y++ {
			for i, p := range img.Pix[y*img.Stride:][:img.Width*img.Channels] {
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
