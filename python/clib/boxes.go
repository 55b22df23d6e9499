package main

// #include "array.h"
import "C"

import (
	"errors"
	"fmt"
	"image"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/exact"
	"github.com/boxsum/boxsum/volume"
)

// boxesPerWorker is how many boxes make a worker worth waking.
const boxesPerWorker = 4096

// What boxsum_boxes says of a box.
const (
	boxSum = iota
	boxMean
	boxVariance
	boxDeviation
)

// A query is boxes to answer from a table.
type query struct {
	table, squares array
	grid, squaresG grid
	boxes, out     array
	what, workers  int
}

// boxsum_boxes writes what there is to say of every box: sums of the type of the
// table, or float64. Boxes are int64, four numbers each for a table of an image
// and six for one of a volume; out has a row of as many numbers as there are
// channels for each.
//
//export boxsum_boxes
func boxsum_boxes(table, squares, boxes, out *C.boxsum_array, what, workers C.int64_t) *C.char {
	return guard(func() error {
		q := query{what: int(what), workers: int(workers)}
		var err error
		if q.table, err = arrayOf(table); err != nil {
			return err
		}
		if q.boxes, err = arrayOf(boxes); err != nil {
			return err
		}
		if q.out, err = arrayOf(out); err != nil {
			return err
		}
		if err := q.out.toWrite("out"); err != nil {
			return err
		}
		if len(q.boxes.shape) != 2 {
			return fmt.Errorf("boxsum: %w: boxes of shape %v", boxsum.ErrInvalid, q.boxes.shape)
		}
		axes := 2
		if q.boxes.shape[1] == 6 {
			axes = 3
		}
		if q.grid, err = q.table.grid(axes); err != nil {
			return err
		}
		if q.grid.width == 0 || q.grid.height == 0 || q.grid.depth == 0 {
			return fmt.Errorf("boxsum: %w: a table has a row and a column of zeros at least", boxsum.ErrInvalid)
		}
		if squares != nil {
			if q.squares, err = arrayOf(squares); err != nil {
				return err
			}
			if q.squaresG, err = q.squares.grid(axes); err != nil {
				return err
			}
			if a, b := q.squaresG, q.grid; a.width != b.width || a.height != b.height || a.depth != b.depth || a.channels != b.channels {
				return fmt.Errorf("boxsum: %w: tables of sums and squares have shapes %v and %v", boxsum.ErrInvalid, q.table.shape, q.squares.shape)
			}
		}
		switch q.table.element {
		case u32, i32:
			return answer[uint32](&q)
		case i64:
			return answer[int64](&q)
		case u64:
			return answer[uint64](&q)
		case f32:
			return answer[float32](&q)
		case f64:
			return answer[float64](&q)
		}
		return fmt.Errorf("boxsum: %w: a table of %v", boxsum.ErrTypes, q.table.element)
	})
}

// An asker writes the sums of some boxes, of all channels.
type asker[S boxsum.Sum] func(dst []S, from, to int) error

// newAsker asks the package that knows tables of this kind.
func newAsker[S boxsum.Sum](q *query, a array, g grid) (asker[S], error) {
	switch q.boxes.shape[1] {
	case 4:
		boxes, err := list[image.Rectangle](q.boxes, i64, "boxes", -1, 4)
		t := new(boxsum.Table[S])
		over(t, a, g)
		return func(dst []S, from, to int) error { return t.SumBoxes(dst, boxes[from:to]) }, err
	case 6:
		boxes, err := list[volume.Box](q.boxes, i64, "boxes", -1, 6)
		t := new(volume.Table[S])
		overSolid(t, a, g)
		return func(dst []S, from, to int) error { return t.SumBoxes(dst, boxes[from:to]) }, err
	}
	return nil, fmt.Errorf("boxsum: %w: boxes have 4 numbers, or 6 in a volume, not %d", boxsum.ErrInvalid, q.boxes.shape[1])
}

// answer answers a query of a table of S; int32 is answered as uint32, which has
// the same bits.
func answer[S boxsum.Sum](q *query) error {
	n, c := q.boxes.shape[0], q.grid.channels
	sums, err := newAsker[S](q, q.table, q.grid)
	if err != nil {
		return err
	}
	if q.what == boxSum {
		out, err := list[S](q.out, q.table.element, "out", n, c)
		if err != nil {
			return err
		}
		return parallel(n, q.workers, boxesPerWorker, func(from, to int) error { return sums(out[from*c:to*c], from, to) })
	}
	out, err := list[float64](q.out, f64, "out", n, c)
	if err != nil {
		return err
	}
	switch {
	case q.what == boxMean:
		return means(q, sums, out)
	case q.squares.element == u64 || q.squares.element == i64:
		return spread[S, uint64](q, sums, out)
	case q.squares.element == f64:
		return spread[S, float64](q, sums, out)
	}
	return fmt.Errorf("boxsum: %w: squares of %v", boxsum.ErrTypes, q.squares.element)
}

// means writes the means of boxes.
func means[S boxsum.Sum](q *query, sums asker[S], out []float64) error {
	c := q.grid.channels
	return q.chunks(func() func(from, to int) error {
		room := make([]S, chunk*c)
		return func(from, to int) error {
			if err := sums(room, from, to); err != nil {
				return err
			}
			for i := range to - from {
				area := float64(max(q.area(from+i), 1)) // of an empty box the sum is 0
				for channel, sum := range room[i*c:][:c] {
					value := float64(sum)
					if q.table.element == i32 {
						value = float64(int32(sum))
					}
					out[(from+i)*c+channel] = value / area
				}
			}
			return nil
		}
	})
}

// spread writes variances or standard deviations.
func spread[S boxsum.Sum, Q boxsum.Square](q *query, sums asker[S], out []float64) error {
	squares, err := newAsker[Q](q, q.squares, q.squaresG)
	if err != nil {
		return err
	}
	c := q.grid.channels
	return q.chunks(func() func(from, to int) error {
		room, squared := make([]S, chunk*c), make([]Q, chunk*c)
		return func(from, to int) error {
			if err := errors.Join(sums(room, from, to), squares(squared, from, to)); err != nil {
				return err
			}
			for i := range to - from {
				area := q.area(from + i)
				for channel := range c {
					at := &out[(from+i)*c+channel]
					switch sum := room[i*c+channel]; {
					case area == 0:
						*at = 0
					case q.table.element == i32:
						*at = variance(area, int64(int32(sum)), squared[i*c+channel])
					default:
						*at = variance(area, sum, squared[i*c+channel])
					}
					if q.what == boxDeviation {
						*at = math.Sqrt(*at)
					}
				}
			}
			return nil
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

// chunk is how many boxes are asked about at a time where sums are not the answer.
const chunk = 512

// chunks calls what start makes for each worker with all boxes, so many at a time.
func (q *query) chunks(start func() func(from, to int) error) error {
	return parallel(q.boxes.shape[0], q.workers, boxesPerWorker, func(from, to int) error {
		f := start()
		for ; from < to; from += chunk {
			if err := f(from, min(from+chunk, to)); err != nil {
				return err
			}
		}
		return nil
	})
}

// area is how many pixels of the image box i has.
func (q *query) area(i int) int {
	n := q.boxes.shape[1]
	box := unsafe.Slice((*int)(unsafe.Add(q.boxes.data, i*n*8)), n)
	lengths := [3]int{q.grid.width, q.grid.height, q.grid.depth}
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
