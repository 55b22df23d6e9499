package main

// #include "array.h"
import "C"

import (
	"fmt"
	"math"

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
				for i, s := range sums[y*g.stride:][:row] {
					sums[y*g.stride+i] = math.Float64bits(float64(s))
				}
			}
			return nil
		})
	})
}
