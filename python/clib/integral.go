//go:build cgo

package main

import (
	"math"
	"sync"

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

	planesOf = 8 // and one of these: the first axis is that of a batch
)

// A job is one table, or that of squares too, to make of an image or a volume.
type job struct {
	pair                *pair
	image, sum, squares view
	kind, workers       int
	planes              bool        // of a device, one after the other
	kept                any         // the table, or both, that it last wrote, for the next one
	device              *gpu.Device // for arrays of the host to go through, nil for none
	resident            bool        // the arrays are on the device
	shift               bool        // floats that lie far from zero lose an offset
	batch               int         // images, of which this is one
	offset              float32     // what they lost
}

// newJob sees arrays as an image, or a volume, and tables. Squares may be nil.
func newJob(image, sum array, squares *array, kind, workers int) *job {
	return new(job).set(&image, &sum, squares, kind, workers)
}

// set makes a job one for arrays, whatever it was before.
func (j *job) set(image, sum, squares *array, kind, workers int) *job {
	axes := 2
	if j.planes = kind&planesOf != 0; j.planes || kind == volumeTable {
		axes = 3
	}
	kind &^= planesOf
	j.kind, j.workers, j.device, j.resident = kind, workers, nil, false
	j.squares.bytes = 0
	must(j.image.set(image, axes))
	j.setTable(&j.sum, sum, "out", axes)
	j.pair = find(image.element, sum.element)
	if squares == nil {
		return j
	}
	j.setTable(&j.squares, squares, "the squares of out", axes)
	if j.pair.squaresOf(j.squareType()) == nil || kind == tiltedTable {
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

func (j *job) setTable(v *view, a *array, name string, axes int) {
	if !j.planes {
		v.setTable(a, name, axes, &j.image)
		return
	}
	must(v.set(a, axes))
	if v.width != j.image.width+1 || v.height != j.image.height+1 || v.depth != j.image.depth || v.channels != j.image.channels {
		must(invalid("%s has shape %v, which is not one more along the axes of images of shape %v", name, a.shape, j.image.shape))
	}
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
// number of a device, whether to take an offset away from floats that lie far from
// zero, it is then the bits of that offset, and of how many images this is one.
func integral(a arguments) any {
	if len(a) == 3 { // the usual call
		usual(a)
		return nil
	}
	if a.array(0).element == f16 && a.int(3) == uprightTable {
		halves(a)
		return 0
	}
	j := hostJob(new(job), a, a.int(3), a.int(4))
	j.device = a.device(5)
	j.shift = len(a) > 6 && a.int(6) != 0
	if len(a) > 7 {
		j.batch = a.int(7)
	}
	j.run()
	return int(math.Float32bits(j.offset))
}

// usual makes upright tables by as many workers as help.
func usual(a arguments) {
	j, _ := jobs.Get().(*job)
	if j == nil {
		j = new(job)
	}
	hostJob(j, a, uprightTable, 0).run()
	jobs.Put(j)
}

// jobs holds some of those that are done: small tables take less time than the memory for a job.
var jobs sync.Pool

func hostJob(j *job, a arguments, kind, workers int) *job {
	image, sum := a.array(0), a.array(1)
	if !a.has(2) {
		return j.set(&image, &sum, nil, kind, workers)
	}
	second := a.array(2)
	return j.set(&image, &sum, &second, kind, workers)
}

func (j *job) run() {
	if j.squares.bytes != 0 {
		j.pair.squaresOf(j.squareType())(j)
	} else {
		j.pair.sums(j)
	}
}

// What lays images and tables over arrays is there once for a type. Inlined into what calls it, which is there for every pair, it was a part of the
// library's size that one can see.
//
//go:noinline
func imageOf[P boxsum.Pixel](v *view) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: values[P](v), Stride: v.stride, Width: v.width, Height: v.height, Channels: v.channels}
}

//go:noinline
func volumeOf[P boxsum.Pixel](v *view) volume.Volume[P] {
	return volume.Volume[P]{Pix: values[P](v), Stride: v.stride, SliceStride: v.sliceStride, Width: v.width, Height: v.height, Depth: v.depth, Channels: v.channels}
}

// tableOver lays a table over an array, and volumeOver one of a volume.
//
//go:noinline
func tableOver[S boxsum.Sum](v *view) *boxsum.Table[S] {
	t := new(boxsum.Table[S])
	lay(t, v)
	return t
}

//go:noinline
func lay[S boxsum.Sum](t *boxsum.Table[S], v *view) {
	*t = boxsum.Table[S]{Sums: values[S](v), Stride: v.stride, Width: v.width - 1, Height: v.height - 1, Channels: v.channels}
}

// keptBy is what a job kept of a type, or new.
func keptBy[T any](j *job) *T {
	t, ok := j.kept.(*T)
	if !ok {
		t = new(T)
		j.kept = t
	}
	return t
}

//go:noinline
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
		opt := &tilted.Options{Workers: j.workers}
		if j.device != nil {
			opt = &tilted.Options{On: j.device}
		}
		must(tilted.IntegrateInto(t, imageOf[P](&j.image), opt))
	case j.device != nil:
		must(boxsum.IntegrateInto(tableOver[S](&j.sum), imageOf[P](&j.image), &boxsum.Options{On: j.device}))
	default:
		t := keptBy[boxsum.Table[S]](j)
		lay(t, &j.sum)
		must(boxsum.IntegrateInto(t, imageOf[P](&j.image), j.options(&usualSums)))
		t.Sums = nil
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
	both := keptBy[struct {
		boxsum.SquaredTable[S, Q]
		sum     boxsum.Table[S]
		squares boxsum.Table[Q]
	}](j)
	lay(&both.sum, &j.sum)
	lay(&both.squares, &j.squares)
	t := &both.SquaredTable
	t.Sum, t.Squares = &both.sum, &both.squares
	if j.device != nil {
		must(boxsum.IntegrateSquaresInto(t, imageOf[P](&j.image), &boxsum.Options{On: j.device, Plain: !j.shift}))
	} else {
		usual := &usualSquares
		if j.shift {
			usual = &shiftedSquares
		}
		must(boxsum.IntegrateSquaresInto(t, imageOf[P](&j.image), j.options(usual)))
	}
	j.offset = t.Sum.Offset
	both.sum.Sums, both.squares.Sums = nil, nil
}

// The options of most calls, and of those that take an offset away.
var usualSums, usualSquares, shiftedSquares = boxsum.Options{}, boxsum.Options{Plain: true}, boxsum.Options{}

// options is the usual ones with the workers of a job.
func (j *job) options(usual *boxsum.Options) *boxsum.Options {
	if j.workers == 0 && j.batch == 0 {
		return usual
	}
	o := *usual
	o.Workers, o.Batch = j.workers, j.batch
	return &o
}
