package products

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/boxsum/boxsum/internal/kernel/windows"
	"github.com/boxsum/boxsum/internal/raster"
)

// multipliers holds, by the type of the pixels, the type that holds any of their products
// and the function that multiplies rows.
var multipliers = [raster.NumTypes]struct {
	product  raster.Type
	multiply func(level processor.Level, dst, a, b []byte)
}{
	raster.U8:  {raster.U16, multiplyBytes},
	raster.U16: {raster.U32, multiply[uint32, uint16]},
	raster.I16: {raster.I32, multiply[int32, int16]},
	raster.F32: {raster.F64, multiply[float64, float32]},
	raster.F64: {raster.F64, multiply[float64, float64]},
}

func multiplyBytes(level processor.Level, dst, a, b []byte) {
	windows.Products(level, raster.Elems[uint16](dst), a, b)
}

func multiply[T, P raster.Number](_ processor.Level, dst, a, b []byte) {
	first, second := raster.Elems[P](a), raster.Elems[P](b)
	for i, p := range first {
		raster.Elems[T](dst)[i] = T(p) * T(second[i])
	}
}

// A job is the work of making a table.
type job struct {
	a, b raster.Array
	sum  raster.Type
	set  engine.Settings
}

// check returns an error if the options, the types or the images are invalid. It sets the
// defaults of the extents.
func (j *job) check(opt engine.Options) (err error) {
	if j.set, err = opt.Check(); err != nil {
		return err
	}
	pixel := j.a.Type
	product := multipliers[pixel].product
	if product == 0 {
		return raster.Unsupported("products of %v pixels are not supported, want uint8, uint16, int16, float32 or float64", pixel)
	}
	if !raster.SumPairs.Has(product, j.sum) {
		return raster.Unsupported("a table of %v cannot be made from products of %v pixels, which are %v: %s", j.sum, pixel, product, raster.SumPairs.Choices(product))
	}
	for _, img := range [...]*raster.Array{&j.a, &j.b} {
		if err := img.Check(); err != nil {
			return err
		}
	}
	return j.b.Like(&j.a.Extent, "the second image")
}

// runs keeps the engines and scratch memory of the layer for later calls.
var runs engine.Runs[layer]

// fill makes the table of a checked job, after checking its memory. It sets the defaults
// of its extent and the properties of the products.
func (j *job) fill(dst *engine.Table) error {
	if err := dst.AcceptNumbers(multipliers[j.a.Type].product, &j.a, &j.b); err != nil {
		return err
	}
	product := multipliers[j.a.Type].product
	if j.set.On() != nil {
		return engine.FillOnDevice(&layer{job: *j}, product, dst, &j.set)
	}
	r := runs.Take()
	l := &r.Layer
	l.job, l.Source = *j, l
	p := l.Start(product, dst, &j.set)
	return r.Fill(&j.set, &p, l)
}

// layer makes a table from the products of rows.
type layer struct {
	engine.Computed
	job
}

// Numbers implements [engine.Numbers].
func (l *layer) Numbers(dst []byte, x, y int) {
	pixel := l.a.Type
	n := len(dst) / multipliers[pixel].product.Bytes() * pixel.Bytes()
	multipliers[pixel].multiply(l.set.Level, dst, l.a.From(y*l.a.Stride + x)[:n], l.b.From(y*l.b.Stride + x)[:n])
}

// Release implements [engine.Layer].
func (l *layer) Release() int {
	l.job = job{}
	return l.Computed.Release()
}
