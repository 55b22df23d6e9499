package moments

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/engine"
)

// Integrate makes the table of an image, in one pass over its pixels (and one
// more for floats, to find the largest). Options are those of
// [boxsum.Integrate]; there is no Offset, and the level makes no difference.
func Integrate[P boxsum.Pixel](img boxsum.Image[P], opt *boxsum.Options) (*Table, error) {
	if err := checkOptions(opt); err != nil {
		return nil, err
	}
	img, err := checked(img)
	if err != nil {
		return nil, err
	}
	t, err := NewTable[P](img.Width, img.Height, img.Channels)
	if err != nil {
		return nil, err
	}
	if err := IntegrateInto(t, img, opt); err != nil {
		return nil, err
	}
	return t, nil
}

// IntegrateInto makes the table of an image in dst, which must come from [NewTable]
// or [Integrate] for an image of this size and with pixels as wide: the tables
// of 8- and 16-bit pixels are of one kind, and the others of another. It
// allocates next to nothing once an image of the same type has been through dst.
func IntegrateInto[P boxsum.Pixel](dst *Table, img boxsum.Image[P], opt *boxsum.Options) error {
	if err := checkOptions(opt); err != nil {
		return err
	}
	img, err := checked(img)
	if err != nil {
		return err
	}
	if dst == nil || dst.words == nil {
		return fmt.Errorf("moments: %w: no table", boxsum.ErrInvalid)
	}
	if dst.width != img.Width || dst.height != img.Height || dst.channels != img.Channels {
		return fmt.Errorf("moments: %w: a table for %d×%d with %d channels cannot take an image of %d×%d with %d",
			boxsum.ErrInvalid, dst.width, dst.height, dst.channels, img.Width, img.Height, img.Channels)
	}
	if dst.wide != isWide[P]() {
		return fmt.Errorf("moments: %w: this table was not made for pixels of %T", boxsum.ErrTypes, *new(P))
	}
	workers := runtime.GOMAXPROCS(0)
	if opt != nil && opt.Workers > 0 {
		workers = opt.Workers
	}
	peak, unit, err := scale(img, workers)
	if err != nil {
		return err
	}
	run, ok := dst.scratch.(*layer[P])
	if !ok || run.table != dst {
		run = &layer[P]{table: dst}
		run.engine.Layers = []engine.Layer{run}
		dst.scratch = run
	}
	dst.peak, dst.unit = peak, unit
	grid, workers := run.prepare(img, workers)
	run.engine.Run(grid, workers)
	run.img = boxsum.Image[P]{}
	return nil
}

// scale is the unit in which the pixels are whole numbers, and their largest
// magnitude in it.
func scale[P boxsum.Pixel](img boxsum.Image[P], workers int) (peak, unit float64, err error) {
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
		return floatScale(img, workers)
	}
	if !representable(peak, img.Width, img.Height) {
		return 0, 0, fmt.Errorf("moments: %w: the moments of an image of %d×%d do not fit 128 bits: use parts of it", boxsum.ErrInvalid, img.Width, img.Height)
	}
	return peak, unit, nil
}

// representable says whether the moments of any box of such an image, about any
// of its pixels, fit 128 bits.
func representable(peak float64, width, height int) bool {
	return largest(peak, 0, width, 0, height) < 0x1p127
}

// floatScale chooses the unit so that the largest pixel takes 62 bits, or as
// many as leave room for the moments of the whole image.
func floatScale[P boxsum.Pixel](img boxsum.Image[P], workers int) (peak, unit float64, err error) {
	most, err := largestPixel(img, workers)
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

// largestPixel is the largest magnitude, and an error if a pixel has none.
func largestPixel[P boxsum.Pixel](img boxsum.Image[P], workers int) (float64, error) {
	parts := max(1, min(workers, img.Height/16))
	most, errs := make([]float64, parts), make([]error, parts)
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() {
			for y := img.Height * part / parts; y < img.Height*(part+1)/parts; y++ {
				row := img.Pix[y*img.Stride:][:img.Width*img.Channels]
				for i, p := range row {
					v := math.Abs(float64(p))
					if !(v <= math.MaxFloat64) {
						errs[part] = fmt.Errorf("moments: the pixel at (%d, %d) is %v: it has no moments", i/img.Channels, y, p)
						return
					}
					most[part] = max(most[part], v)
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return slices.Max(most), nil
}

func checkOptions(opt *boxsum.Options) error {
	switch {
	case opt == nil:
		return nil
	case opt.Workers < 0:
		return fmt.Errorf("moments: %w: %d workers", boxsum.ErrInvalid, opt.Workers)
	case opt.Offset != 0:
		return fmt.Errorf("moments: %w: moments take no offset", boxsum.ErrTypes)
	case opt.Level != boxsum.Auto && !slices.Contains(boxsum.Levels(), opt.Level):
		return fmt.Errorf("moments: this machine has no %v: use one of %v", opt.Level, boxsum.Levels())
	}
	return nil
}

// checked fills in the defaults of an image and says what is wrong with the
// rest.
func checked[P boxsum.Pixel](img boxsum.Image[P]) (boxsum.Image[P], error) {
	if img.Channels == 0 {
		img.Channels = 1
	}
	if img.Width < 0 || img.Height < 0 || img.Channels < 0 || img.Stride < 0 {
		return img, fmt.Errorf("moments: %w: an image of %d×%d with %d channels and stride %d: none may be negative",
			boxsum.ErrInvalid, img.Width, img.Height, img.Channels, img.Stride)
	}
	if img.Width > 0 && img.Height > 0 && img.Row(img.Height-1) == nil {
		return img, fmt.Errorf("moments: %w: %d elements, rows %d apart, are too few for an image of %d×%d with %d channels",
			boxsum.ErrInvalid, len(img.Pix), img.Stride, img.Width, img.Height, img.Channels)
	}
	if img.Stride == 0 {
		img.Stride = img.Width * img.Channels
	}
	return img, nil
}
