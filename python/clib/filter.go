//go:build cgo

package main

import (
	"image"
	"maps"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/histogram"
)

// A filtering is one call of package filter.
type filtering struct {
	image, out view
	other      view // the guide, the radii or the second result; it has no element size if there is none
	window     filter.Window
	options    filter.Options
	number     float64 // the smallest deviation to divide by, or epsilon
	sigma      filter.Sigma
	factors    image.Point
	bins       histogram.Bins
}

// filters holds the filters for one type of pixels, by name.
type filters map[string]func(*filtering)

var filtersOf = map[element]filters{u8: newFilters[uint8](), u16: newFilters[uint16](), f32: newFilters[float32](), f64: newFilters[float64]()}

func newFilters[P filter.Pixel]() filters {
	return filters{
		"box": func(f *filtering) {
			f.sameType()
			must(filter.BoxInto(imageOf[P](&f.out), imageOf[P](&f.image), f.window, &f.options))
		},
		"median": func(f *filtering) {
			f.sameType()
			if f.image.kind == 'f' {
				f.room(12)
			}
			must(filter.MedianInto(imageOf[P](&f.out), imageOf[P](&f.image), f.window, &f.options))
		},
		"gaussian": func(f *filtering) {
			f.sameType()
			f.room(f.image.bytes)
			must(filter.GaussianInto(imageOf[P](&f.out), imageOf[P](&f.image), f.sigma, &f.options))
		},
		"downsample": func(f *filtering) {
			f.sameType()
			must(filter.DownsampleInto(imageOf[P](&f.out), imageOf[P](&f.image), f.factors.X, f.factors.Y, &f.options))
		},
		"guided": func(f *filtering) {
			f.sameType()
			f.room(f.image.bytes)
			switch f.other.element {
			case f.image.element:
				guided[P, P](f)
			case f64:
				guided[P, float64](f)
			default:
				must(wrongTypes("guide has type %v, want %v like the image, or float64", f.other.element, f.image.element))
			}
		},
		"radii": func(f *filtering) {
			f.sameType()
			f.room(8)
			known(map[element]func(*filtering){u8: byRadii[P, uint8], u16: byRadii[P, uint16], u32: byRadii[P, uint32]}, f.other.element, "radii of %v")(f)
		},
		"sum":       to("sums", map[element]func(*filtering){u32: sum[uint32, P], f32: sum[float32, P], f64: sum[float64, P]}),
		"mean":      to("means", floats(mean[float32, P], mean[float64, P])),
		"variance":  to("variances", floats(variance[float32, P], variance[float64, P])),
		"std":       to("deviations", floats(deviation[float32, P], deviation[float64, P])),
		"mean_std":  to("means and deviations", floats(meanDeviation[float32, P], meanDeviation[float64, P])),
		"normalize": to("contrasts", floats(contrast[float32, P], contrast[float64, P])),
		"entropy":   to("entropies", floats(entropy[float32, P], entropy[float64, P])),
	}
}

func floats(single, double func(*filtering)) map[element]func(*filtering) {
	return map[element]func(*filtering){f32: single, f64: double}
}

// to returns the filter that selects its instance by the type of the result.
func to(name string, forms map[element]func(*filtering)) func(*filtering) {
	return func(f *filtering) { known(forms, f.out.element, name+" of %v")(f) }
}

func sum[D uint32 | float32 | float64, P filter.Pixel](f *filtering) {
	must(filter.SumInto(imageOf[D](&f.out), imageOf[P](&f.image), f.window, &f.options))
}

func mean[D filter.Float, P filter.Pixel](f *filtering) {
	must(filter.MeanInto(imageOf[D](&f.out), imageOf[P](&f.image), f.window, &f.options))
}

func variance[D filter.Float, P filter.Pixel](f *filtering) {
	must(filter.VarianceInto(imageOf[D](&f.out), imageOf[P](&f.image), f.window, &f.options))
}

func deviation[D filter.Float, P filter.Pixel](f *filtering) {
	must(filter.StdDevInto(imageOf[D](&f.out), imageOf[P](&f.image), f.window, &f.options))
}

func meanDeviation[D filter.Float, P filter.Pixel](f *filtering) {
	if f.other.element != f.out.element {
		must(wrongTypes("means have type %v and deviations %v, want the same type", f.out.element, f.other.element))
	}
	must(filter.MeanStdDevInto(imageOf[D](&f.out), imageOf[D](&f.other), imageOf[P](&f.image), f.window, &f.options))
}

func contrast[D filter.Float, P filter.Pixel](f *filtering) {
	must(filter.NormalizeInto(imageOf[D](&f.out), imageOf[P](&f.image), f.window, f.number, &f.options))
}

func entropy[D filter.Float, P filter.Pixel](f *filtering) {
	f.room(4)
	must(filter.EntropyInto(imageOf[D](&f.out), imageOf[P](&f.image), f.window, f.bins, &f.options))
}

func guided[P, G filter.Pixel](f *filtering) {
	must(filter.GuidedInto(imageOf[P](&f.out), imageOf[P](&f.image), imageOf[G](&f.other), f.window, f.number, &f.options))
}

func byRadii[P filter.Pixel, R filter.Distance](f *filtering) {
	must(filter.BoxRadiiInto(imageOf[P](&f.out), imageOf[P](&f.image), imageOf[R](&f.other), &f.options))
}

// sameType ends the call if the result has another type than the image.
func (f *filtering) sameType() {
	if f.out.element != f.image.element {
		must(wrongTypes("out has type %v, want %v like the image", f.out.element, f.image.element))
	}
}

// room ends the call if there is not enough memory for the given number of bytes per value.
func (f *filtering) room(bytes int) { must(room(float64(f.image.length) * float64(bytes))) }

// setResult views an array as an image to write to.
func (v *view) setResult(a array, name string) {
	a.mustWrite(name)
	if err := v.set(&a, 2); err != nil {
		must(invalid("%s has an unsupported memory layout, want C order and native byte order (use numpy.ascontiguousarray)", name))
	}
}

// filterImage filters an image. Its arguments are the filter's name, the image, out, the guide, radii
// or second result or None, the width, height and shift of the window, the border and its value,
// workers, another number (see newFilters), a mask or None, and whether to skip NaN.
func filterImage(a arguments) any {
	f := newFiltering(a, 1, 8)
	f.window = filter.Window{Width: a.int(4), Height: a.int(5), Shift: image.Pt(a.int(6), a.int(7))}
	f.number = a.float(11)
	name := a.text(0)
	if a.has(3) {
		if name == "mean_std" {
			f.other.setResult(a.array(3), "the second of out")
		} else {
			f.other = a.array(3).mustView(2)
		}
	}
	f.options.Valid.SkipNaN = a.int(13) != 0
	if a.has(12) {
		mask := a.array(12).mustView(2)
		if mask.element != u8 {
			must(wrongTypes("mask has type %v, want uint8 or bool", mask.element))
		}
		f.options.Valid.Mask = imageOf[uint8](&mask)
	}
	return f.run(name)
}

// newFiltering reads the image and out from argument images on, and the border, its value and workers
// from argument options on.
func newFiltering(a arguments, images, options int) *filtering {
	f := &filtering{image: a.array(images).mustView(2)}
	f.out.setResult(a.array(images+1), "out")
	f.options = filter.Options{Border: got(filter.ParseBorder(a.text(options))), Value: a.float(options + 1), Workers: a.int(options + 2)}
	return f
}

func (f *filtering) run(name string) any {
	all, ok := filtersOf[f.image.element]
	if !ok {
		must(wrongTypes("pixels of %v cannot be filtered, want %s", f.image.element, names(filtersOf)))
	}
	run := all[name]
	if run == nil {
		must(invalid("unknown filter %q, want one of %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", ")))
	}
	run(f)
	return nil
}

// gaussian blurs an image. Its arguments are the image, out, two standard deviations, passes, the
// border and its value, and workers.
func gaussian(a arguments) any {
	f := newFiltering(a, 0, 5)
	f.sigma = filter.Sigma{X: a.float(2), Y: a.float(3), Passes: a.int(4)}
	return f.run("gaussian")
}

// downsample reduces an image. Its arguments are the image, out, two factors, and those of newFiltering.
func downsample(a arguments) any {
	f := newFiltering(a, 0, 4)
	f.factors = image.Pt(a.int(2), a.int(3))
	return f.run("downsample")
}

// entropies computes local entropies. Its arguments are the image, out, the width and height of the
// window, the number of bins, their low and high end, 1 to clamp, the border and its value, and workers.
func entropies(a arguments) any {
	f := newFiltering(a, 0, 8)
	f.window = filter.Window{Width: a.int(2), Height: a.int(3)}
	f.bins = histogram.Bins{N: a.int(4), Low: a.float(5), High: a.float(6), Clamp: a.int(7) != 0}
	return f.run("entropy")
}

// brightest writes the best windows of an image to arrays of boxes and means, and returns their number.
// Its arguments are the image, both arrays, width and height, 1 for the darkest, and workers.
func brightest(a arguments) any {
	v := a.array(0).mustView(2)
	boxes := list[image.Rectangle](a.toWrite(1), i64, "boxes", -1, 4)
	means := list[float64](a.toWrite(2), f64, "means", len(boxes))
	find := known(map[element]func(*view, int, int, int, bool, int) []filter.Found{
		u8: best[uint8], u16: best[uint16], f32: best[float32], f64: best[float64],
	}, v.element, "pixels of %v cannot be filtered")
	found := find(&v, a.int(3), a.int(4), len(boxes), a.int(5) != 0, a.int(6))
	for i, w := range found {
		boxes[i], means[i] = w.Box, w.Mean
	}
	return len(found)
}

func best[P filter.Pixel](v *view, width, height, k int, dark bool, workers int) []filter.Found {
	opt := &filter.Options{Workers: workers}
	if dark {
		return got(filter.Darkest(imageOf[P](v), width, height, k, opt))
	}
	return got(filter.Brightest(imageOf[P](v), width, height, k, opt))
}
