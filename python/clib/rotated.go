package main

// #include "array.h"
import "C"

import (
	"fmt"
	"runtime/cgo"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/haar"
	"github.com/boxsum/boxsum/rotated"
)

// A lattice is a rotated table of any type.
type lattice interface {
	plane() *rotated.Lattice
	sums(out array, boxes []rotated.Box, workers int) error
	means(out []float64, boxes []rotated.Box, workers int) error
	features(q *features) error
}

type latticeOf[S boxsum.Sum] struct{ table *rotated.Table[S] }

// turned makes the rotated table of an image.
func turned[S boxsum.Sum, P boxsum.Pixel](j *job, rot rotated.Rotation) (lattice, error) {
	img := imageOf[P](j.image, j.from)
	if err := room(rotatedBytes(j.from, elementBytes[S](), rot)); err != nil {
		return nil, err
	}
	var t *rotated.Table[S]
	var err error
	if j.device != nil {
		t, err = gpu.IntegrateRotatedHost[S](j.device, img, rot, nil)
	} else {
		t, err = rotated.Integrate[S](img, rot, &boxsum.Options{Workers: j.workers})
	}
	if err != nil {
		return nil, err
	}
	return latticeOf[S]{t}, nil
}

// rotatedBytes is about what the table of a grid takes: a sum for every pixel,
// and above 3/4 for the empty cells between them.
func rotatedBytes(g grid, sum int, rot rotated.Rotation) float64 {
	small, large := float64(max(rot.A, -rot.A)), float64(max(rot.B, -rot.B))
	if small > large {
		small, large = large, small
	}
	bytes := float64(g.width+64) * float64(g.height+1) * float64(g.channels) * float64(sum)
	if t := small / max(large, 1); t > 0.75 {
		bytes *= 1 + t*t
	}
	return bytes
}

func (l latticeOf[S]) plane() *rotated.Lattice { return l.table.Lattice }

func (l latticeOf[S]) sums(to array, boxes []rotated.Box, workers int) error {
	c := l.table.Channels()
	out, err := list[S](to, to.element, "out", len(boxes), c)
	if err != nil {
		return err
	}
	if to.bytes != elementBytes[S]() {
		return fmt.Errorf("boxsum: %w: out is of %v", boxsum.ErrTypes, to.element)
	}
	return parallel(len(boxes), workers, boxesPerWorker/8, func(from, to int) error {
		for i := from; i < to; i++ {
			l.table.SumChannels(out[i*c:i*c:(i+1)*c], boxes[i])
		}
		return nil
	})
}

func (l latticeOf[S]) means(out []float64, boxes []rotated.Box, workers int) error {
	c := l.table.Channels()
	return parallel(len(boxes), workers, boxesPerWorker/8, func(from, to int) error {
		for i := from; i < to; i++ {
			for channel := range c {
				out[i*c+channel] = l.table.Mean(boxes[i], channel)
			}
		}
		return nil
	})
}

func (l latticeOf[S]) features(q *features) error {
	if q.corrected || q.out.element == f64 {
		p, err := haar.Rotated[float64](l.table, q.channel)
		if err != nil {
			return err
		}
		return evaluate(p, q)
	}
	p, err := haar.Rotated[int64](l.table, q.channel)
	if err != nil {
		return err
	}
	return evaluate(p, q)
}

// boxsum_rotated makes the table of an image along a/b with sums of the given
// type, and a handle for it.
//
//export boxsum_rotated
func boxsum_rotated(image *C.boxsum_array, kind C.char, bytes, a, b, workers, device C.int64_t, handle *C.uintptr_t) *C.char {
	return guard(func() error {
		j := &job{workers: int(workers)}
		var err error
		if j.image, err = arrayOf(image); err != nil {
			return err
		}
		if j.from, err = j.image.grid(2); err != nil {
			return err
		}
		m, err := find(types{pixel: j.image.element, sum: element{byte(kind), int(bytes)}})
		if err != nil {
			return err
		}
		if j.device, err = deviceOf(int(device)); err != nil {
			return err
		}
		l, err := m.rotated(j, rotated.Rotation{A: int(a), B: int(b)})
		if err == nil {
			*handle = C.uintptr_t(cgo.NewHandle(l))
		}
		return err
	})
}

// latticeAt is the table of a handle.
func latticeAt(handle C.uintptr_t) (lattice, error) {
	if l, ok := cgo.Handle(handle).Value().(lattice); ok {
		return l, nil
	}
	return nil, fmt.Errorf("boxsum: %w: not a rotated table", boxsum.ErrTypes)
}

// boxsum_release frees what a handle is for.
//
//export boxsum_release
func boxsum_release(handle C.uintptr_t) *C.char {
	return guard(func() error {
		cgo.Handle(handle).Delete()
		return nil
	})
}

// boxArea is, beside boxSum and boxMean, what boxsum_rotated_boxes can say.
const boxArea = 4

// boxsum_rotated_boxes answers boxes of four int64, c0 r0 c1 r1.
//
//export boxsum_rotated_boxes
func boxsum_rotated_boxes(handle C.uintptr_t, boxes, out *C.boxsum_array, what, workers C.int64_t) *C.char {
	return guard(func() error {
		l, err := latticeAt(handle)
		if err != nil {
			return err
		}
		from, err := arrayOf(boxes)
		if err != nil {
			return err
		}
		to, err := arrayOf(out)
		if err != nil {
			return err
		}
		numbers, err := list[[4]int](from, i64, "boxes", -1, 4)
		if err != nil {
			return err
		}
		turned := make([]rotated.Box, from.shape[0])
		for i := range turned {
			b := numbers[i]
			turned[i] = rotated.Box{C0: b[0], R0: b[1], C1: b[2], R1: b[3]}
		}
		switch what {
		case boxSum:
			return l.sums(to, turned, int(workers))
		case boxMean:
			channels := 0
			if len(to.shape) == 2 {
				channels = to.shape[1]
			}
			means, err := list[float64](to, f64, "out", len(turned), channels)
			if err != nil {
				return err
			}
			return l.means(means, turned, int(workers))
		}
		areas, err := list[int64](to, i64, "out", len(turned))
		if err != nil {
			return err
		}
		return parallel(len(turned), int(workers), boxesPerWorker/8, func(from, to int) error {
			for i := from; i < to; i++ {
				areas[i] = l.plane().Area(turned[i])
			}
			return nil
		})
	})
}

// boxsum_rotated_cells writes the cell of every pixel: c and r for x and y.
//
//export boxsum_rotated_cells
func boxsum_rotated_cells(handle C.uintptr_t, points, out *C.boxsum_array) *C.char {
	return guard(func() error {
		return translate(handle, points, i64, 2, out, 2, func(l *rotated.Lattice, p, cell []int) error {
			cell[0], cell[1] = l.Cell(p[0], p[1])
			return nil
		})
	})
}

// boxsum_rotated_nearest writes the box nearest to every rectangle of five
// float64: x and y of its centre, width, height and degrees.
//
//export boxsum_rotated_nearest
func boxsum_rotated_nearest(handle C.uintptr_t, rectangles, out *C.boxsum_array) *C.char {
	return guard(func() error {
		return translate(handle, rectangles, f64, 5, out, 4, func(l *rotated.Lattice, r []float64, box []int) error {
			b, err := l.FromRectangle(rotated.Rectangle{X: r[0], Y: r[1], Width: r[2], Height: r[3], Degrees: r[4]})
			box[0], box[1], box[2], box[3] = b.C0, b.R0, b.C1, b.R1
			return err
		})
	})
}

// boxsum_rotated_bounds writes the smallest box with all pixels.
//
//export boxsum_rotated_bounds
func boxsum_rotated_bounds(handle C.uintptr_t, out *C.boxsum_array) *C.char {
	return guard(func() error {
		l, err := latticeAt(handle)
		if err != nil {
			return err
		}
		to, err := arrayOf(out)
		if err != nil {
			return err
		}
		box, err := list[int](to, i64, "out", 4)
		if err != nil {
			return err
		}
		b := l.plane().Bounds()
		box[0], box[1], box[2], box[3] = b.C0, b.R0, b.C1, b.R1
		return nil
	})
}

// translate calls f with every row of one array and that of another.
func translate[T any](handle C.uintptr_t, in *C.boxsum_array, e element, columns int, out *C.boxsum_array, outColumns int, f func(*rotated.Lattice, []T, []int) error) error {
	l, err := latticeAt(handle)
	if err != nil {
		return err
	}
	from, err := arrayOf(in)
	if err != nil {
		return err
	}
	to, err := arrayOf(out)
	if err != nil {
		return err
	}
	rows, err := list[T](from, e, "the array", -1, columns)
	if err != nil {
		return err
	}
	results, err := list[int](to, i64, "out", from.shape[0], outColumns)
	if err != nil {
		return err
	}
	for i := range from.shape[0] {
		if err := f(l.plane(), rows[i*columns:][:columns], results[i*outColumns:][:outColumns]); err != nil {
			return err
		}
	}
	return nil
}
