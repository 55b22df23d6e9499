//go:build cgo

package main

import (
	"image"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/volume"
)

// boxesPerWorker is how many boxes make a worker worth waking.
const boxesPerWorker = 4096

// What boxes says of a box.
const (
	boxSum = iota
	boxMean
	boxVariance
	boxDeviation
)

type query struct {
	table, squares view
	boxes, out     array
	what, workers  int
}

// boxes writes what there is to say of every box: sums of the type of the table, or
// float64. It takes a table, its squares or None, boxes, out, the question and
// workers. Boxes are int64, four numbers each for a table of an image and six for
// one of a volume; out has a row of as many numbers as there are channels for each.
func boxes(a arguments) any {
	q := &query{boxes: a.array(2), out: a.toWrite(3), what: a.int(4), workers: a.int(5)}
	if len(q.boxes.shape) != 2 {
		must(invalid("boxes of shape %v", q.boxes.shape))
	}
	axes := 2
	if q.boxes.shape[1] == 6 {
		axes = 3
	}
	q.table = a.array(0).mustView(axes)
	if q.table.width == 0 || q.table.height == 0 || q.table.depth == 0 {
		must(errNoBorder)
	}
	if a.has(1) {
		q.squares = a.array(1).mustView(axes)
		if a, b := q.squares.layout, q.table.layout; a.width != b.width || a.height != b.height || a.depth != b.depth || a.channels != b.channels {
			must(invalid("tables of sums and squares have shapes %v and %v", q.table.shape, q.squares.shape))
		}
	}
	known(bySum, q.table.element, "a table of %v").answer(q)
	return nil
}

var errNoBorder = invalid("a table has a row and a column of zeros at least")

// An asker writes the sums of some boxes, of all channels.
type asker[S boxsum.Sum] func(dst []S, from, to int)

// newAsker asks the package that knows tables of this kind.
func newAsker[S boxsum.Sum](q *query, v *view) asker[S] {
	switch q.boxes.shape[1] {
	case 4:
		boxes := list[image.Rectangle](q.boxes, i64, "boxes", -1, 4)
		t := tableOver[S](v)
		return func(dst []S, from, to int) { must(t.SumBoxes(dst, boxes[from:to])) }
	case 6:
		boxes := list[volume.Box](q.boxes, i64, "boxes", -1, 6)
		t := volumeOver[S](v)
		return func(dst []S, from, to int) { must(t.SumBoxes(dst, boxes[from:to])) }
	}
	must(invalid("boxes have 4 numbers, or 6 in a volume, not %d", q.boxes.shape[1]))
	return nil
}

// answer answers a query of a table of S; int32 is answered as uint32, which has
// the same bits.
func answer[S boxsum.Sum](q *query) {
	n, c, sums := q.boxes.shape[0], q.table.channels, newAsker[S](q, &q.table)
	if q.what == boxSum {
		out := list[S](q.out, q.table.element, "out", n, c)
		parallel(n, q.workers, boxesPerWorker, func(from, to int) { sums(out[from*c:to*c], from, to) })
		return
	}
	switch {
	case q.what == boxMean:
		describe[S, uint64](q, sums, nil)
	case q.squares.element == u64 || q.squares.element == i64:
		describe(q, sums, newAsker[uint64](q, &q.squares))
	case q.squares.element == f64:
		describe(q, sums, newAsker[float64](q, &q.squares))
	default:
		must(wrongTypes("squares of %v: they are of uint64, int64 or float64", q.squares.element))
	}
}

// chunk is how many boxes are asked about at a time where sums are not the answer.
const chunk = 512

// describe writes means, or variances and deviations where there are squares.
func describe[S boxsum.Sum, Q boxsum.Square](q *query, sums asker[S], squares asker[Q]) {
	n, c := q.boxes.shape[0], q.table.channels
	out := list[float64](q.out, f64, "out", n, c)
	parallel(n, q.workers, boxesPerWorker, func(from, end int) {
		room, squared := make([]S, chunk*c), make([]Q, chunk*c)
		for ; from < end; from += chunk {
			to := min(from+chunk, end)
			sums(room, from, to)
			if squares != nil {
				squares(squared, from, to)
			}
			for i := range to - from {
				area := q.area(from + i)
				for channel, sum := range room[i*c:][:c] {
					at, squares := &out[(from+i)*c+channel], squared[i*c+channel]
					switch {
					case q.what == boxMean && q.table.element == i32:
						*at = exact.Mean(area, int64(int32(sum)))
					case q.what == boxMean:
						*at = exact.Mean(area, sum)
					case q.table.element == i32:
						*at = variance(area, int64(int32(sum)), squares)
					default:
						*at = variance(area, sum, squares)
					}
					if q.what == boxDeviation {
						*at = math.Sqrt(*at)
					}
				}
			}
		}
	})
}

// variance is exact.Variance for squares that may be whole numbers in float64:
// with sums of integers they are taken as such, unless they were rounded to what
// cannot be.
func variance[S boxsum.Sum, Q boxsum.Square](area int, sum S, squares Q) float64 {
	f, ok := any(squares).(float64)
	if ok && f >= 0 && f < 1<<64 && f == math.Trunc(f) {
		if v := exact.Variance(area, sum, uint64(f)); v >= 0 {
			return v
		}
	}
	return exact.Variance(area, sum, squares)
}

// area is how many pixels of the image box i has.
func (q *query) area(i int) int {
	n := q.boxes.shape[1]
	box := unsafe.Slice((*int)(unsafe.Add(q.boxes.data, i*n*8)), n)
	lengths := [3]int{q.table.width, q.table.height, q.table.depth}
	area := 1
	for axis, length := range lengths[:n/2] {
		from, to := max(box[axis], 0), min(box[n/2+axis], length-1)
		if from >= to {
			return 0
		}
		area *= to - from
	}
	return area
}

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
