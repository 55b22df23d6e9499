//go:build cgo

package main

import (
	"image"
	"math"
	"unsafe"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/stats"
	"github.com/boxsum/boxsum/internal/typed"
	"github.com/boxsum/boxsum/volume"
)

// boxesPerWorker is the number of boxes that justifies another worker.
const boxesPerWorker = 4096

// Queries for boxes.
const (
	boxSum = iota
	boxMean
	boxVariance
	boxDeviation
)

type query struct {
	table, squares view
	counts         view // number of valid pixels, if not all are valid
	boxes, out     array
	what, workers  int
	about
}

// about describes the pixels of a table, in addition to its type.
type about struct {
	bound   uint64  // largest magnitude of a summed pixel, or 0 if unknown
	signed  bool    // some pixels are negative; determined by the type if bound is 0
	offset  float32 // subtracted from every pixel
	squared uint64  // bound of the squares
	modulo  view    // squares of integers modulo 2^64, if those of the table are rounded
}

// boxes answers a query for every box: sums of the type of the table, or float64. Its arguments are
// a table, its squares or None, boxes, out, the query and workers, optionally followed by the table
// of counts or None and a description of the pixels; see [about]. Boxes are int64, four numbers
// each for a table of an image and six for that of a volume; out has a row per box with one number
// per channel.
func boxes(a arguments) any {
	q := &query{boxes: a.array(2), out: a.toWrite(3), what: a.int(4), workers: a.int(5)}
	if len(q.boxes.shape) != 2 {
		must(invalid("boxes have shape %v, want (N, 4), or (N, 6) in a volume", q.boxes.shape))
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
		q.squares = q.companion(a.array(1), axes, "squares")
	}
	if len(a) > 6 && a.has(6) {
		if q.counts = q.companion(a.array(6), axes, "counts"); q.counts.element != u32 || axes == 3 {
			must(wrongTypes("counts have type %v, want uint32 counts of an image", q.counts.element))
		}
	}
	if len(a) > 7 && q.what != boxSum {
		q.setRange(a[7:])
		q.offset, q.squared = float32(a.float(9)), uint64(a.int(10))
		if a.has(11) {
			if q.modulo = q.companion(a.array(11), axes, "squares"); q.modulo.element != u64 {
				must(wrongTypes("squares modulo 2^64 have type %v, want uint64", q.modulo.element))
			}
		}
	}
	if q.what >= boxVariance && q.squares.element != u64 && q.squares.element != i64 && q.squares.element != f64 {
		must(wrongTypes("squares have type %v, want uint64, int64 or float64", q.squares.element))
	}
	switch q.boxes.shape[1] {
	case 4:
		t := got(typed.NewUpright(q.sums(false), q.tableOf(&q.squares, false), q.tableOf(&q.counts, false)))
		boxes := list[image.Rectangle](q.boxes, i64, "boxes", -1, 4)
		if q.modulo.bytes != 0 {
			squares, modulo := got(typed.NewUpright(q.tableOf(&q.squares, false), nil, nil)), got(typed.NewUpright(q.tableOf(&q.modulo, false), nil, nil))
			askWide(q, boxes, t, squares, modulo, t.Area)
			return nil
		}
		ask(q, boxes, t)
	case 6:
		t := got(typed.NewVolume(q.sums(true), q.tableOf(&q.squares, true)))
		boxes := list[volume.Box](q.boxes, i64, "boxes", -1, 6)
		if q.modulo.bytes != 0 {
			all := volume.NewBox(0, 0, 0, q.table.width-1, q.table.height-1, q.table.depth-1)
			squares, modulo := got(typed.NewVolume(q.tableOf(&q.squares, true), nil)), got(typed.NewVolume(q.tableOf(&q.modulo, true), nil))
			askWide(q, boxes, t, squares, modulo, func(box volume.Box, _ int) int { return box.Intersect(all).Voxels() })
			return nil
		}
		ask(q, boxes, t)
	default:
		must(invalid("boxes have %d numbers, want 4 for an image or 6 for a volume", q.boxes.shape[1]))
	}
	return nil
}

// companion returns a table that must have the same size.
func (q *query) companion(other array, axes int, name string) view {
	v := other.mustView(axes)
	if a, b := v.layout, q.table.layout; a.width != b.width || a.height != b.height || a.depth != b.depth || a.channels != b.channels {
		must(invalid("table of %s has shape %v, want %v like the sums", name, v.shape, q.table.shape))
	}
	return v
}

// setRange sets the largest magnitude of a pixel, and whether some are negative. This also determines
// the type of integers, because signed and unsigned sums have the same bits.
func (q *query) setRange(a arguments) {
	q.bound, q.signed = uint64(a.int(0)), a.int(1) != 0
	if e := &q.table.element; q.bound != 0 && e.kind != 'f' {
		switch {
		case e.bytes == 4: // sums of unsigned pixels
			*e = u32
		case q.signed:
			*e = i64
		default:
			*e = u64
		}
	}
}

var errNoBorder = invalid("table is empty, want at least one row and one column of zeros")

// sums returns the table of the sums, with the description of the pixels.
func (q *query) sums(volume bool) *engine.Table {
	t := q.tableOf(&q.table, volume)
	switch q.table.element {
	case i32: // sums of bytes, with the same bits as uint32
		t.Known = stats.Pixels{Bound: math.MaxUint8, Signed: true}
	default:
		t.Known = knownOf(t.Type, q.bound, false)
	}
	return t
}

// tableOf returns an array as a table, or nil if the array was not given.
func (q *query) tableOf(v *view, volume bool) *engine.Table {
	if v.bytes == 0 || v == &q.squares && q.what < boxVariance {
		return nil
	}
	t := v.element.sums("table has type %v")
	if v == &q.squares && t == raster.I64 {
		t = raster.U64 // the same bits
	}
	made := &engine.Table{Array: v.table(t, volume)}
	if v == &q.table || v == &q.squares {
		made.Offset = q.offset
	}
	if v == &q.squares {
		made.Known = knownOf(t, q.squared, true)
	}
	return made
}

// knownOf returns the properties of pixels with a bound, or of their squares. If bound is 0, they are
// those of the usual pixels for such sums.
func knownOf(sum raster.Type, bound uint64, squares bool) stats.Pixels {
	if bound == 0 {
		return stats.Assumed(sum, squares)
	}
	return stats.Bounded(bound, squares)
}

// askWide answers queries for variances and deviations from integer sums and two forms of the
// squares; see [typed.WideVariances]. The result is NaN for boxes without valid pixels.
func askWide[B any](q *query, boxes []B, sums, squares, modulo typed.Table[B], area func(box B, channel int) int) {
	const some = 256
	n, c := len(boxes), q.table.channels
	out := list[float64](q.out, f64, "out", n, c)
	parallel(n, q.workers, boxesPerWorker, func(from, to int) {
		for ; from < to; from += some {
			part := boxes[from:min(from+some, to)]
			results := out[from*c:][:len(part)*c]
			must(typed.WideVariances(results, part, sums, squares, modulo, area))
			for i := range results {
				if q.counts.bytes != 0 && area(part[i/c], i%c) == 0 {
					results[i] = math.NaN()
				}
				if q.what == boxDeviation {
					results[i] = math.Sqrt(results[i])
				}
			}
		}
	})
}

// ask divides boxes among workers. Sums are written to an array of their type, other results to one
// of float64.
func ask[B any](q *query, boxes []B, t typed.Table[B]) {
	n, c := len(boxes), t.Channels()
	if q.what == boxSum {
		out, size := memory(q.out, q.table.element, "out", n, c), c*q.table.bytes
		parallel(n, q.workers, boxesPerWorker, func(from, to int) { must(t.SumBoxes(out[from*size:to*size], boxes[from:to])) })
		return
	}
	out := list[float64](q.out, f64, "out", n, c)
	parallel(n, q.workers, boxesPerWorker, func(from, to int) {
		results, boxes := out[from*c:to*c], boxes[from:to]
		switch q.what {
		case boxMean:
			must(t.MeanBoxes(results, boxes))
		case boxVariance:
			must(t.VarianceBoxes(results, boxes))
		default:
			must(t.StdDevBoxes(results, boxes))
		}
	})
}

// windows sums windows from a table without the zero row and column, as in scikit-image, of any number
// of axes. Its arguments are a table, starts, ends, out and workers. Starts and ends are int64, a row
// per window, with rows first; ends are inclusive. Sums are float64 and computed in scikit-image's
// order.
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
			must(invalid("window %d covers [%d, %d] along axis %d, want indices of the table from 0 to %d", i/axes, start[i], e, i%axes, t.shape[i%axes]-1))
		}
	}
	known(windowSums, t.element, "table has type %v")(t, start, end, out, a.int(4))
	return nil
}

var windowSums = map[element]func(t array, start, end []int, out []float64, workers int){
	i32: sumWindows[int32], u32: sumWindows[uint32], i64: sumWindows[int64], u64: sumWindows[uint64], f32: sumWindows[float32], f64: sumWindows[float64],
}

// number is the constraint for entries of tables, including those of other libraries.
type number interface {
	int32 | uint32 | int64 | uint64 | float32 | float64
}

// sumWindows sums windows, which have been checked, of a table of T.
func sumWindows[T number](t array, start, end []int, out []float64, workers int) {
	axes := len(t.shape)
	each(len(out), workers, boxesPerWorker, func(w int) {
		first, last := start[w*axes:][:axes], end[w*axes:][:axes]
		sum := 0.0
	corners: // bit axes-1-a of a corner is set if the corner is before the window along axis a
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
