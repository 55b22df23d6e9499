package main

// #cgo CFLAGS: -O3
// #include "array.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// boxsum_to_float makes float64 of the uint64 in a table, in its own memory.
//
//export boxsum_to_float
func boxsum_to_float(table *C.boxsum_array, workers C.int64_t) *C.char {
	return guard(func() error {
		a, err := arrayOf(table)
		if err != nil {
			return err
		}
		g, err := a.grid(2)
		if err != nil {
			return err
		}
		if a.element != u64 {
			return fmt.Errorf("boxsum: %w: %v is not uint64", boxsum.ErrTypes, a.element)
		}
		sums, row := values[uint64](a, g), g.width*g.channels
		return parallel(g.height, int(workers), max(1, 1<<16/max(1, row)), func(from, to int) error {
			for y := from; y < to; y++ {
				line := sums[y*g.stride:][:row]
				for i, s := range line {
					f := float64(int64(s)) // one instruction, where unsigned numbers take several
					if int64(s) < 0 {
						f = float64(s)
					}
					line[i] = math.Float64bits(f)
				}
			}
			return nil
		})
	})
}

// boxsum_square writes the squares of 8-bit pixels to an image of 16-bit ones.
//
//export boxsum_square
func boxsum_square(image, squares *C.boxsum_array, workers C.int64_t) *C.char {
	return guard(func() error {
		a, err := arrayOf(image)
		if err != nil {
			return err
		}
		from, err := a.grid(2)
		if err != nil {
			return err
		}
		b, err := arrayOf(squares)
		if err != nil {
			return err
		}
		to, err := b.grid(2)
		if err != nil {
			return err
		}
		if a.element != u8 || b.element != u16 || from.width != to.width || from.height != to.height || from.channels != to.channels {
			return fmt.Errorf("boxsum: %w: squares of %v with shape %v for pixels of %v with shape %v", boxsum.ErrTypes, b.element, b.shape, a.element, a.shape)
		}
		row := from.width * from.channels
		if row == 0 {
			return nil
		}
		return parallel(from.height, int(workers), max(1, 1<<17/row), func(y, end int) error {
			pixels, squared := unsafe.Add(a.data, y*from.stride), unsafe.Add(b.data, 2*y*to.stride)
			C.boxsum_square_rows((*C.uint8_t)(pixels), C.size_t(from.stride), (*C.uint16_t)(squared), C.size_t(to.stride), C.size_t(row), C.size_t(end-y))
			return nil
		})
	})
}
