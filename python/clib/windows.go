//go:build cgo

package main

import "unsafe"

// windows sums windows from a table without a row and column of zeros, of any
// number of axes: those of scikit-image. It takes a table, starts, ends, out and
// workers. Starts and ends are int64, a row for each window, rows first; ends are
// inside of the window. Sums are float64 and taken in scikit-image's order.
func windows(a arguments) any {
	t, from := a.array(0), a.array(1)
	axes := len(t.shape)
	if axes == 0 || axes > 8 || !t.native() {
		must(errLayout)
	}
	start := list[int](from, i64, "start", -1, axes)
	n := from.shape[0]
	end := list[int](a.array(2), i64, "end", n, axes)
	out := list[float64](a.toWrite(3), f64, "out", n)
	for i, e := range end {
		if e < 0 || e >= t.shape[i%axes] || start[i] > e {
			must(invalid("window %d ends outside of the table", i/axes))
		}
	}
	known(windowSums, t.element, "a table of %v")(t, start, end, out, a.int(4))
	return nil
}

var windowSums = map[element]func(t array, start, end []int, out []float64, workers int){
	i32: sumWindows[int32], u32: sumWindows[uint32], i64: sumWindows[int64], u64: sumWindows[uint64], f32: sumWindows[float32], f64: sumWindows[float64],
}

// number is what tables hold, those of other libraries too.
type number interface {
	int32 | uint32 | int64 | uint64 | float32 | float64
}

// sumWindows sums checked windows of a table of T.
func sumWindows[T number](t array, start, end []int, out []float64, workers int) {
	axes := len(t.shape)
	each(len(out), workers, boxesPerWorker, func(w int) {
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
	})
}
