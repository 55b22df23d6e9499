//go:build cgo

package main

import (
	"math"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// The kinds of tables of a job.
const (
	uprightTable = iota
	tiltedTable
	volumeTable
)

// A job is one table, or that of squares too, to make of an image or a volume.
type job struct {
	pair                *pair
	image, sum, squares view
	kind, workers       int
	device              *gpu.Device // for arrays of the host to go through, nil for none
	resident            bool        // the arrays are on the device
	shift               bool        // floats that lie far from zero lose an offset
	offset              float32     // what they lost
}

// newJob sees arrays as an image, or a volume, and tables. Squares may be nil.
func newJob(image, sum array, squares *array, kind, workers int) *job {
	axes := 2
	if kind == volumeTable {
		axes = 3
	}
	j := &job{kind: kind, workers: workers, image: image.mustView(axes)}
	j.sum.setTable(&sum, "out", axes, &j.image)
	j.pair = find(image.element, sum.element)
	if squares == nil {
		return j
	}
	j.squares.setTable(squares, "the squares of out", axes, &j.image)
	if j.pair.squares[j.squareType()] == nil || kind == tiltedTable {
		must(wrongTypes("pixels of %v have no squares of %v: they have %s", image.element, squares.element, names(j.pair.squares)))
	}
	return j
}

// squareType is the type of the squares, whose sign is all the same.
func (j *job) squareType() element {
	if j.squares.element == i64 {
		return u64
	}
	return j.squares.element
}

// setTable sees an array as the table of an image or volume.
func (v *view) setTable(a *array, name string, axes int, image *view) {
	a.mustWrite(name)
	if err := v.set(a, axes); err != nil {
		must(invalid("%s is laid out in another way: the elements of its rows must lie side by side, its rows in order, with native bytes", name))
	}
	if v.width != image.width+1 || v.height != image.height+1 || axes == 3 && v.depth != image.depth+1 || v.channels != image.channels || len(a.shape) != len(image.shape) {
		must(invalid("%s has shape %v, which is not one more along the axes of an image of shape %v", name, a.shape, image.shape))
	}
}

// integral makes a table of an image or volume. It takes the image, an array for the
// table, and one for the squares or None. What may follow is the kind, workers, the
// number of a device, and whether to take an offset away from floats that lie far from
// zero: it is then the bits of that offset.
func integral(a arguments) any {
	if len(a) == 3 { // the usual call
		hostJob(a, uprightTable, 0).run()
		return nil
	}
	j := hostJob(a, a.int(3), a.int(4))
	j.device = a.device(5)
	j.shift = len(a) > 6 && a.int(6) != 0
	j.run()
	return int(math.Float32bits(j.offset))
}

func hostJob(a arguments, kind, workers int) *job {
	if !a.has(2) {
		return newJob(a.array(0), a.array(1), nil, kind, workers)
	}
	second := a.array(2)
	return newJob(a.array(0), a.array(1), &second, kind, workers)
}

func (j *job) run() {
	if j.squares.bytes != 0 {
		j.pair.squares[j.squareType()](j)
	} else {
		j.pair.sums(j)
	}
}

func imageOf[P boxsum.Pixel](v *view) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: values[P](v), Stride: v.stride, Width: v.width, Height: v.height, Channels: v.channels}
}

func volumeOf[P boxsum.Pixel](v *view) volume.Volume[P] {
	return volume.Volume[P]{Pix: values[P](v), Stride: v.stride, SliceStride: v.sliceStride, Width: v.width, Height: v.height, Depth: v.depth, Channels: v.channels}
}

// tableOver lays a table over an array, and volumeOver one of a volume.
func tableOver[S boxsum.Sum](v *view) *boxsum.Table[S] {
	return &boxsum.Table[S]{Sums: values[S](v), Stride: v.stride, Width: v.width - 1, Height: v.height - 1, Channels: v.channels}
}

func volumeOver[S boxsum.Sum](v *view) *volume.Table[S] {
	return &volume.Table[S]{
		Sums: values[S](v), Stride: v.stride, SliceStride: v.sliceStride,
		Width: v.width - 1, Height: v.height - 1, Depth: v.depth - 1, Channels: v.channels,
	}
}

func sums[S boxsum.Sum, P boxsum.Pixel](j *job) {
	switch {
	case j.resident:
		sumsOnDevice[S, P](j)
	case j.kind == volumeTable:
		must(volume.IntegrateInto(volumeOver[S](&j.sum), volumeOf[P](&j.image), &volume.Options{Workers: j.workers}))
	case j.kind == tiltedTable:
		t := tiltedOver[S](&j.sum)
		if j.device != nil {
			must(gpu.IntegrateTiltedHostInto(j.device, t, imageOf[P](&j.image), nil))
		} else {
			must(tilted.IntegrateInto(t, imageOf[P](&j.image), &tilted.Options{Workers: j.workers}))
		}
	case j.device != nil:
		must(gpu.IntegrateHostInto(j.device, tableOver[S](&j.sum), imageOf[P](&j.image), nil))
	default:
		must(boxsum.IntegrateInto(tableOver[S](&j.sum), imageOf[P](&j.image), &boxsum.Options{Workers: j.workers}))
	}
}

func squares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel](j *job) {
	if j.resident {
		squaresOnDevice[S, Q, P](j)
		return
	}
	if j.kind == volumeTable {
		t := &volume.SquaredTable[S, Q]{Sum: volumeOver[S](&j.sum), Squares: volumeOver[Q](&j.squares)}
		must(volume.IntegrateSquaresInto(t, volumeOf[P](&j.image), &volume.Options{Workers: j.workers, Plain: !j.shift}))
		j.offset = t.Sum.Offset
		return
	}
	t := &boxsum.SquaredTable[S, Q]{Sum: tableOver[S](&j.sum), Squares: tableOver[Q](&j.squares)}
	if j.device != nil {
		must(gpu.IntegrateSquaresHostInto(j.device, t, imageOf[P](&j.image), &gpu.Options{Plain: !j.shift}))
	} else {
		must(boxsum.IntegrateSquaresInto(t, imageOf[P](&j.image), &boxsum.Options{Workers: j.workers, Plain: !j.shift}))
	}
	j.offset = t.Sum.Offset
}
