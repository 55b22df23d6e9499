package main

// #include "array.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/boxsum/boxsum"
)

// boxsum_windows sums windows from a table without a row and column of zeros, of
// any number of axes: those of scikit-image. Starts and ends are int64, a row for
// each window, rows first; ends are inside of the window. Sums are float64 and
// taken in scikit-image's order.
//
//export boxsum_windows
func boxsum_windows(table, starts, ends, out *C.boxsum_array, workers C.int64_t) *C.char {
	return guard(func() error {
		t, err := arrayOf(table)
		if err != nil {
			return err
		}
		from, err := arrayOf(starts)
		if err != nil {
			return err
		}
		to, err := arrayOf(ends)
		if err != nil {
			return err
		}
		at, err := arrayOf(out)
		if err != nil {
			return err
		}
		axes := len(t.shape)
		if axes == 0 || axes > 8 || t.flags&aligned == 0 || t.flags&notSwapped == 0 {
			return errLayout
		}
		start, err := list[int](from, i64, "start", -1, axes)
		if err != nil {
			return err
		}
		n := from.shape[0]
		end, err := list[int](to, i64, "end", n, axes)
		if err != nil {
			return err
		}
		sums, err := list[float64](at, f64, "out", n)
		if err != nil {
			return err
		}
		for i, e := range end {
			if e < 0 || e >= t.shape[i%axes] || start[i] > e {
				return fmt.Errorf("boxsum: %w: window %d ends outside of the table", boxsum.ErrInvalid, i/axes)
			}
		}
		switch t.element {
		case i32:
			return windows[int32](t, start, end, sums, int(workers))
		case u32:
			return windows[uint32](t, start, end, sums, int(workers))
		case i64:
			return windows[int64](t, start, end, sums, int(workers))
		case u64:
			return windows[uint64](t, start, end, sums, int(workers))
		case f32:
			return windows[float32](t, start, end, sums, int(workers))
		case f64:
			return windows[float64](t, start, end, sums, int(workers))
		}
		return fmt.Errorf("boxsum: %w: a table of %v", boxsum.ErrTypes, t.element)
	})
}

// number is what tables hold, those of other libraries too.
type number interface {
	int32 | uint32 | int64 | uint64 | float32 | float64
}

// windows sums checked windows of a table of T.
func windows[T number](t array, start, end []int, out []float64, workers int) error {
	axes := len(t.shape)
	return parallel(len(out), workers, boxesPerWorker, func(from, to int) error {
		for w := from; w < to; w++ {
			first, last := start[w*axes:][:axes], end[w*axes:][:axes]
			sum := 0.0
		corners: // bit axes-1-a of a corner says that it is before the window along axis a
			for corner := range 1 << axes {
				offset, sign := 0, 1.0
				for a, stride := range t.strides {
					x := last[a]
					if corner>>(axes-1-a)&1 != 0 {
						if x = first[a] - 1; x < 0 {
							continue corners
						}
						sign = -sign
					}
					offset += x * stride
				}
				sum += sign * float64(*(*T)(unsafe.Add(t.data, offset)))
			}
			out[w] = sum
		}
		return nil
	})
}
