//go:build cgo

package main

import (
	"image"
	"maps"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/internal/bins"
	"github.com/boxsum/boxsum/internal/filters"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// A filtering is one call of package filters.
type filtering struct {
	image, out view
	other      view // the guide, the radii or the second result; it has no element size if there is none
	number     float64
	job        filters.Job
}

// A form is a filter of package filters with the types of its results.
type form struct {
	kind  filters.Kind
	types []element // of the results, if they may differ from those of the pixels
	bytes int       // memory that it needs for each value
}

var floats = []element{f32, f64}

// forms holds the filters by name.
var forms = map[string]form{
	"box":        {kind: filters.Mean},
	"median":     {kind: filters.Median},
	"gaussian":   {kind: filters.Gaussian},
	"downsample": {kind: filters.Downsampled},
	"guided":     {kind: filters.Guided},
	"radii":      {kind: filters.BoxRadii, bytes: 8},
	"sum":        {kind: filters.Sum, types: []element{u32, f32, f64}},
	"mean":       {kind: filters.Mean, types: floats},
	"variance":   {kind: filters.Variance, types: floats},
	"std":        {kind: filters.Deviation, types: floats},
	"mean_std":   {kind: filters.MeanDeviation, types: floats},
	"normalize":  {kind: filters.Normalized, types: floats},
	"entropy":    {kind: filters.Entropy, types: floats, bytes: 4},
}

// filterable are the types of pixels that can be filtered.
var filterable = []element{u8, u16, f32, f64}

// run runs a filter by its name.
func (f *filtering) run(name string) any {
	f.image.mustBe(filterable, "pixels of %v cannot be filtered, want %s")
	form, ok := forms[name]
	if !ok {
		must(invalid("unknown filter %q, want one of %s", name, strings.Join(slices.Sorted(maps.Keys(forms)), ", ")))
	}
	if form.types != nil {
		f.out.mustBe(form.types, "out has type %v, want %s")
	} else if f.out.element != f.image.element {
		must(wrongTypes("out has type %v, want %v like the image", f.out.element, f.image.element))
	}
	j := &f.job
	switch j.Kind = form.kind; {
	case j.Kind == filters.Median && f.image.kind == 'f':
		form.bytes = 12
	case j.Kind == filters.Gaussian, j.Kind == filters.Guided:
		form.bytes = f.image.bytes
	}
	must(room(float64(f.image.length) * float64(form.bytes)))
	j.Src, j.Dst = f.image.plane(), f.out.plane()
	switch j.Kind {
	case filters.Guided:
		if f.other.element != f.image.element && f.other.element != f64 {
			must(wrongTypes("guide has type %v, want %v like the image, or float64", f.other.element, f.image.element))
		}
		j.Guide, j.Epsilon = f.other.plane(), f.number
	case filters.BoxRadii:
		f.other.mustBe([]element{u16, u32, u8}, "radii have type %v, want %s")
		j.Radii = f.other.plane()
	case filters.MeanDeviation:
		if f.other.element != f.out.element {
			must(wrongTypes("means have type %v and deviations %v, want the same type", f.out.element, f.other.element))
		}
		j.Second = f.other.plane()
	case filters.Normalized:
		j.Floor = f.number
	}
	must(j.Check())
	must(j.Run())
	return nil
}

// mustBe ends the call with an error if an array has none of these types.
func (v *view) mustBe(types []element, format string) {
	if !slices.Contains(types, v.element) {
		must(wrongTypes(format, v.element, listOf(types)))
	}
}

// plane returns an image whose elements have one of the types of package raster.
func (v *view) plane() raster.Array { return v.pixels(v.typ(), false) }

// setResult views an array as an image to write to.
func (v *view) setResult(a array, name string) {
	a.mustWrite(name)
	if err := v.set(&a, 2); err != nil {
		must(invalid("%s has an unsupported memory layout, want C order and native byte order (use numpy.ascontiguousarray)", name))
	}
}

// filterImage filters an image. Its arguments are the filter's name, the image, out, the guide, radii
// or second result or None, the width, height and shift of the window, the border and its value,
// workers, another number (the smallest deviation to divide by, or epsilon), a mask or None, and whether to
// skip NaN.
func filterImage(a arguments) any {
	f := newFiltering(a, 1, 8)
	f.job.Window = filters.Window{Width: a.int(4), Height: a.int(5), Shift: image.Pt(a.int(6), a.int(7))}
	f.number = a.float(11)
	name := a.text(0)
	if a.has(3) {
		if name == "mean_std" {
			f.other.setResult(a.array(3), "the second of out")
		} else {
			f.other = a.array(3).mustView(2)
		}
	}
	f.job.Options.SkipNaN = a.int(13) != 0
	f.job.Options.Mask = a.mask(12)
	return f.run(name)
}

// mask returns the argument i as a mask, which has no type if it is None.
func (a arguments) mask(i int) (m raster.Array) {
	if !a.has(i) {
		return m
	}
	v := a.array(i).mustView(2)
	if v.element != u8 {
		must(wrongTypes("mask has type %v, want uint8 or bool", v.element))
	}
	return v.plane()
}

// newFiltering reads the image and out from argument images on, and the border, its value and workers
// from argument options on.
func newFiltering(a arguments, images, options int) *filtering {
	f := &filtering{image: a.array(images).mustView(2)}
	f.out.setResult(a.array(images+1), "out")
	o := &f.job.Options
	o.Border, o.Value, o.Workers = got(window.ParseBorder(a.text(options))), a.float(options+1), a.int(options+2)
	return f
}

// gaussian blurs an image. Its arguments are the image, out, two standard deviations, passes, the
// border and its value, and workers.
func gaussian(a arguments) any {
	f := newFiltering(a, 0, 5)
	f.job.Sigma = filters.Sigma{X: a.float(2), Y: a.float(3), Passes: a.int(4)}
	return f.run("gaussian")
}

// downsample reduces an image. Its arguments are the image, out, two factors, and those of newFiltering.
func downsample(a arguments) any {
	f := newFiltering(a, 0, 4)
	f.job.FactorX, f.job.FactorY = a.int(2), a.int(3)
	return f.run("downsample")
}

// entropies computes local entropies. Its arguments are the image, out, the width and height of the
// window, the number of bins, their low and high end, 1 to clamp, the border and its value, and workers.
func entropies(a arguments) any {
	f := newFiltering(a, 0, 8)
	f.job.Window = filters.Window{Width: a.int(2), Height: a.int(3)}
	f.job.Bins = bins.Range{N: a.int(4), Low: a.float(5), High: a.float(6), Clamp: a.int(7) != 0}
	return f.run("entropy")
}

// brightest writes the best windows of an image to arrays of boxes and means, and returns their number.
// Its arguments are the image, both arrays, width and height, 1 for the darkest, and workers.
func brightest(a arguments) any {
	v := a.array(0).mustView(2)
	boxes := list[image.Rectangle](a.toWrite(1), i64, "boxes", -1, 4)
	means := list[float64](a.toWrite(2), f64, "means", len(boxes))
	v.mustBe(filterable, "pixels of %v cannot be filtered, want %s")
	var opt filters.Options
	opt.Workers = a.int(6)
	found := got(filters.Best(v.plane(), a.int(3), a.int(4), len(boxes), a.int(5) != 0, &opt))
	for i, w := range found {
		boxes[i], means[i] = w.Box, w.Mean
	}
	return len(found)
}
