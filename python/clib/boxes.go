//go:build cgo

package main

import (
	"image"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
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
	counts         view // of valid pixels, where not all are
	boxes, out     array
	what, workers  int
	about
}

// about is what the caller knows of the pixels of a table, beyond what its type tells.
type about struct {
	bound   uint64  // the largest magnitude of a pixel in the sums, and 0 if it is not known
	signed  bool    // there are pixels below zero; taken from the type where bound is 0
	offset  float32 // taken away from every pixel
	squared uint64  // bound for the squares
	modulo  view    // squares of integers modulo 2^64, where those of the table are rounded
}

// boxes writes what there is to say of every box: sums of the type of the table, or
// float64. It takes a table, its squares or None, boxes, out, the question and
// workers. What may follow is the table of counts or None, and what is known of the
// pixels, see [about]. Boxes are int64, four numbers each for a table of an image and
// six for one of a volume; out has a row of as many numbers as there are channels for
// each.
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
		q.squares = q.beside(a.array(1), axes, "squares")
	}
	if len(a) > 6 && a.has(6) {
		if q.counts = q.beside(a.array(6), axes, "counts"); q.counts.element != u32 || axes == 3 {
			must(wrongTypes("counts of %v: they are of uint32, and of an image", q.counts.element))
		}
	}
	if len(a) > 7 && q.what != boxSum {
		q.know(a[7:])
		q.offset, q.squared = float32(a.float(9)), uint64(a.int(10))
		if a.has(11) {
			if q.modulo = q.beside(a.array(11), axes, "squares"); q.modulo.element != u64 {
				must(wrongTypes("squares of %v modulo 2^64: they are of uint64", q.modulo.element))
			}
		}
	}
	known(bySum, q.table.element, "a table of %v").answer(q)
	return nil
}

// beside is a table of the same size.
func (q *query) beside(other array, axes int, name string) view {
	v := other.mustView(axes)
	if a, b := v.layout, q.table.layout; a.width != b.width || a.height != b.height || a.depth != b.depth || a.channels != b.channels {
		must(invalid("tables of sums and %s have shapes %v and %v", name, q.table.shape, v.shape))
	}
	return v
}

// know takes the largest magnitude of a pixel, and whether there are some below zero.
// The type of integers is that of the pixels then: signed and unsigned sums have the
// same bits.
func (q *query) know(a arguments) {
	q.bound, q.signed = uint64(a.int(0)), a.int(1) != 0
	if e := &q.table.element; q.bound != 0 && e.kind != 'f' {
		switch {
		case e.bytes == 4: // those of unsigned pixels
			*e = u32
		case q.signed:
			*e = i64
		default:
			*e = u64
		}
	}
}

var errNoBorder = invalid("a table has a row and a column of zeros at least")

// answer answers a query of a table of S; int32 is answered as uint32, which has
// the same bits.
func answer[S boxsum.Sum](q *query) {
	switch {
	case q.what < boxVariance || q.squares.element == u64 || q.squares.element == i64:
		ask[S, uint64](q)
	case q.squares.element == f64:
		ask[S, float64](q)
	default:
		must(wrongTypes("squares of %v: they are of uint64, int64 or float64", q.squares.element))
	}
}

// pixelsOf is what is known of the pixels in sums of type S, or squares.
func pixelsOf[S boxsum.Sum](bound uint64, squares bool) stats.Pixels {
	if bound == 0 {
		return stats.Usual(raster.TypeOf[S](), squares)
	}
	return stats.Bounded(bound, squares)
}

// pixels is what is known of them, where sums of int32 are of bytes.
func (q *query) pixels(known stats.Pixels) stats.Pixels {
	if q.table.element == i32 {
		return stats.Pixels{Bound: math.MaxUint8, Signed: true}
	}
	return known
}

// ask asks the package that knows tables of this kind.
func ask[S boxsum.Sum, Q boxsum.Square](q *query) {
	pixels, squares := q.pixels(pixelsOf[S](q.bound, false)), pixelsOf[Q](q.squared, true)
	switch q.boxes.shape[1] {
	case 4:
		boxes := list[image.Rectangle](q.boxes, i64, "boxes", -1, 4)
		t := tableOver[S](&q.table)
		t.Offset = q.offset
		t.Bound, t.Signed = pixels.Bound, pixels.Signed
		both := &boxsum.SquaredTable[S, Q]{Sum: t}
		if q.what >= boxVariance {
			both.Squares = tableOver[Q](&q.squares)
			both.Squares.Offset = q.offset
			both.Squares.Bound = squares.Bound
		}
		some := &boxsum.ValidTable[S, Q]{Sum: t, Squares: both.Squares}
		if q.counts.bytes != 0 {
			some.Count = tableOver[uint32](&q.counts)
		}
		switch {
		case q.modulo.bytes != 0:
			modulo := tableOver[uint64](&q.modulo)
			askWide(q, boxes, t.SumBoxes, both.Squares.SumBoxes, modulo.SumBoxes, func(box image.Rectangle, channel int) int {
				if some.Count != nil {
					return some.Area(box, channel)
				}
				box = box.Intersect(t.Bounds())
				return box.Dx() * box.Dy()
			})
		case some.Count != nil:
			askBoxes(q, boxes, t.SumBoxes, some.MeanBoxes, some.VarianceBoxes, some.StdDevBoxes)
		default:
			askBoxes(q, boxes, t.SumBoxes, t.MeanBoxes, both.VarianceBoxes, both.StdDevBoxes)
		}
	case 6:
		boxes := list[volume.Box](q.boxes, i64, "boxes", -1, 6)
		t := volumeOver[S](&q.table)
		t.Offset = q.offset
		t.Bound, t.Signed = pixels.Bound, pixels.Signed
		both := &volume.SquaredTable[S, Q]{Sum: t}
		if q.what >= boxVariance {
			both.Squares = volumeOver[Q](&q.squares)
			both.Squares.Offset = q.offset
			both.Squares.Bound = squares.Bound
		}
		if q.modulo.bytes != 0 {
			modulo := volumeOver[uint64](&q.modulo)
			askWide(q, boxes, t.SumBoxes, both.Squares.SumBoxes, modulo.SumBoxes, func(box volume.Box, _ int) int { return box.Intersect(t.Bounds()).Voxels() })
			return
		}
		askBoxes(q, boxes, t.SumBoxes, t.MeanBoxes, both.VarianceBoxes, both.StdDevBoxes)
	default:
		must(invalid("boxes have 4 numbers, or 6 in a volume, not %d", q.boxes.shape[1]))
	}
}

// askWide answers variances and deviations from integer sums and two forms of the
// squares, see [stats.WideVariance]. Boxes of a table of valid pixels without any
// are NaN.
func askWide[S boxsum.Sum, Q boxsum.Square, Box any](q *query, boxes []Box, sums func([]S, []Box) error, squares func([]Q, []Box) error, modulo func([]uint64, []Box) error, area func(box Box, channel int) int) {
	const some = 256
	n, c := len(boxes), q.table.channels
	out := list[float64](q.out, f64, "out", n, c)
	parallel(n, q.workers, boxesPerWorker, func(from, to int) {
		s, r, m := make([]S, some*c), make([]Q, some*c), make([]uint64, some*c)
		for ; from < to; from += some {
			part := boxes[from:min(from+some, to)]
			must(sums(s, part))
			must(squares(r, part))
			must(modulo(m, part))
			for i, box := range part {
				for channel := range c {
					pixels, at := area(box, channel), i*c+channel
					v := stats.WideVariance(pixels, stats.SumOf(s[at]), float64(r[at]), m[at])
					if pixels == 0 && q.counts.bytes != 0 {
						v = math.NaN()
					}
					if q.what == boxDeviation {
						v = math.Sqrt(v)
					}
					out[from*c+at] = v
				}
			}
		}
	})
}

// askBoxes shares boxes among workers: sums go to an array of S, the rest to one of
// float64.
func askBoxes[S boxsum.Sum, Box any](q *query, boxes []Box, sums func([]S, []Box) error, others ...func([]float64, []Box) error) {
	n, c := len(boxes), q.table.channels
	if q.what == boxSum {
		out := list[S](q.out, q.table.element, "out", n, c)
		parallel(n, q.workers, boxesPerWorker, func(from, to int) { must(sums(out[from*c:to*c], boxes[from:to])) })
		return
	}
	out := list[float64](q.out, f64, "out", n, c)
	parallel(n, q.workers, boxesPerWorker, func(from, to int) { must(others[q.what-boxMean](out[from*c:to*c], boxes[from:to])) })
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
