//go:build cgo

package main

import (
	"image"
	"runtime/cgo"
	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/moment"
	"github.com/boxsum/boxsum/moments"
)

// momentsTable makes the table of an image's moments and returns a handle for it. Its arguments are the
// image and workers.
func momentsTable(a arguments) any {
	v := a.array(0).mustView(2)
	pixel := v.element.pixels("pixels of %v have no moments")
	must(room(float64(got(moment.Bytes(pixel, v.width, v.height, v.channels)))))
	return int(cgo.NewHandle(got(moment.Integrate(v.pixels(pixel, false), engine.Options{Workers: a.int(1)}))))
}

// momentsOf lists the queries of momentsBoxes.
var momentsOf = []struct {
	columns int
	write   func(dst []float64, m *moments.Moments)
}{
	{24, func(dst []float64, m *moments.Moments) {
		copy(dst, unsafe.Slice(&m.M00, unsafe.Sizeof(*m)/unsafe.Sizeof(m.M00))) // the struct has only float64 fields
	}},
	{2, func(dst []float64, m *moments.Moments) { dst[0], dst[1] = m.Centroid() }},
	{3, func(dst []float64, m *moments.Moments) { dst[0], dst[1], dst[2] = m.Ellipse() }},
	{7, func(dst []float64, m *moments.Moments) { h := m.Hu(); copy(dst, h[:]) }},
}

// momentsBoxes writes a row of numbers for every box and channel. Its arguments are a handle, boxes, out,
// the query and workers.
func momentsBoxes(a arguments) any {
	t, ok := cgo.Handle(a.int(0)).Value().(*moment.Table)
	if !ok {
		panic("not a table of moments")
	}
	boxes := list[image.Rectangle](a.array(1), i64, "boxes", -1, 4)
	of, c := momentsOf[a.int(3)], t.Channels
	results := list[float64](a.toWrite(2), f64, "out", len(boxes), c, of.columns)
	each(len(boxes), a.int(4), boxesPerWorker/32, func(i int) {
		for channel := range c {
			m := moments.Moments(t.Moments(boxes[i], channel))
			of.write(results[(i*c+channel)*of.columns:][:of.columns], &m)
		}
	})
	return nil
}
