package main

// #include "array.h"
import "C"

import (
	"fmt"
	"image"
	"runtime/cgo"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/moments"
)

var weighers = map[element]func(a array, g grid, workers int) (*moments.Table, error){
	u8: weigh[uint8], u16: weigh[uint16], u32: weigh[uint32], i16: weigh[int16], i32: weigh[int32], f32: weigh[float32], f64: weigh[float64],
}

// weigh makes the table of an image's moments.
func weigh[P boxsum.Pixel](a array, g grid, workers int) (*moments.Table, error) {
	bytes, err := moments.Bytes[P](g.width, g.height, g.channels)
	if err != nil {
		return nil, err
	}
	if err := room(float64(bytes)); err != nil {
		return nil, err
	}
	return moments.Integrate(imageOf[P](a, g), &boxsum.Options{Workers: workers})
}

// boxsum_moments makes the table of an image's moments, and a handle for it.
//
//export boxsum_moments
func boxsum_moments(image *C.boxsum_array, workers C.int64_t, handle *C.uintptr_t) *C.char {
	return guard(func() error {
		a, err := arrayOf(image)
		if err != nil {
			return err
		}
		g, err := a.grid(2)
		if err != nil {
			return err
		}
		f, ok := weighers[a.element]
		if !ok {
			return fmt.Errorf("boxsum: %w: pixels of %v have no moments", boxsum.ErrTypes, a.element)
		}
		t, err := f(a, g, int(workers))
		if err == nil {
			*handle = C.uintptr_t(cgo.NewHandle(t))
		}
		return err
	})
}

// momentsOf is what boxsum_moments_boxes can say of a box, by its number.
var momentsOf = []struct {
	columns int
	write   func(dst []float64, m *moments.Moments)
}{
	{24, func(dst []float64, m *moments.Moments) {
		copy(dst, unsafe.Slice(&m.M00, unsafe.Sizeof(*m)/unsafe.Sizeof(m.M00))) // floats only
	}},
	{2, func(dst []float64, m *moments.Moments) { dst[0], dst[1] = m.Centroid() }},
	{3, func(dst []float64, m *moments.Moments) { dst[0], dst[1], dst[2] = m.Ellipse() }},
	{7, func(dst []float64, m *moments.Moments) { h := m.Hu(); copy(dst, h[:]) }},
}

// boxsum_moments_boxes writes, for every box and channel, a row of numbers.
//
//export boxsum_moments_boxes
func boxsum_moments_boxes(handle C.uintptr_t, boxes, out *C.boxsum_array, what, workers C.int64_t) *C.char {
	return guard(func() error {
		t, ok := cgo.Handle(handle).Value().(*moments.Table)
		if !ok || what < 0 || int(what) >= len(momentsOf) {
			return fmt.Errorf("boxsum: %w: not a table of moments", boxsum.ErrTypes)
		}
		at, err := arrayOf(boxes)
		if err != nil {
			return err
		}
		to, err := arrayOf(out)
		if err != nil {
			return err
		}
		rectangles, err := list[image.Rectangle](at, i64, "boxes", -1, 4)
		if err != nil {
			return err
		}
		of, c := momentsOf[what], t.Channels()
		results, err := list[float64](to, f64, "out", len(rectangles), c, of.columns)
		if err != nil {
			return err
		}
		return parallel(len(rectangles), int(workers), boxesPerWorker/32, func(from, to int) error {
			for i := from; i < to; i++ {
				for channel := range c {
					m := t.Moments(rectangles[i], channel)
					of.write(results[(i*c+channel)*of.columns:][:of.columns], &m)
				}
			}
			return nil
		})
	})
}
