//go:build cgo

package main

import (
	"math"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// Kinds of tables of a job.
const (
	uprightTable = iota
	tiltedTable
	volumeTable

	planesOf = 8 // flag: the first axis is that of a batch
)

// A job makes one table of an image or a volume, and optionally that of the squares.
type job struct {
	types               [3]raster.Type // of pixels, sums and squares; 0 for no squares
	image, sum, squares view
	kind, workers       int
	planes              bool        // a batch of images on a device
	device              *gpu.Device // device that processes arrays in host memory; nil for none
	resident            bool        // the arrays are on the device
	shift               bool        // subtract an offset from floats that lie far from zero
	batch               int         // number of images in the batch
	offset              float32     // the subtracted offset
}

// newJob returns a job that views arrays as an image or a volume and its tables. squares may be nil.
func newJob(image, sum array, squares *array, kind, workers int) *job {
	return new(job).set(&image, &sum, squares, kind, workers)
}

// set resets a job and views arrays as its image and tables.
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
	j.types[0] = image.pixels("pixels of %v cannot be summed")
	j.types[1], j.types[2] = sum.sumsOf(j.types[0]), 0
	sumTypes.check(j.types[0], j.types[1], "%v pixels cannot be summed in %v, want %s", sum)
	if squares == nil {
		return j
	}
	j.setTable(&j.squares, squares, "the squares of out", axes)
	if j.types[2] = squares.typ(); j.types[2] == raster.I64 {
		j.types[2] = raster.U64 // the same bits
	}
	squareTypes.check(j.types[0], j.types[2], "squares of %v pixels cannot be summed in %v, want %s", squares)
	if kind == tiltedTable {
		must(wrongTypes("squares are not supported for tilted tables"))
	}
	return j
}

func (j *job) setTable(v *view, a *array, name string, axes int) {
	if !j.planes {
		v.setTable(a, name, axes, &j.image)
		return
	}
	must(v.set(a, axes))
	if v.width != j.image.width+1 || v.height != j.image.height+1 || v.depth != j.image.depth || v.channels != j.image.channels {
		must(invalid("%s has shape %v, want one more along each axis than the images of shape %v", name, a.shape, j.image.shape))
	}
}

// setTable views an array as the table of an image or volume.
func (v *view) setTable(a *array, name string, axes int, image *view) {
	a.mustWrite(name)
	if err := v.set(a, axes); err != nil {
		must(invalid("%s has an unsupported memory layout, want C order and native byte order (use numpy.ascontiguousarray)", name))
	}
	if v.width != image.width+1 || v.height != image.height+1 || axes == 3 && v.depth != image.depth+1 || v.channels != image.channels || len(a.shape) != len(image.shape) {
		must(invalid("%s has shape %v, want one more along each axis than the image of shape %v", name, a.shape, image.shape))
	}
}

// integral makes a table of an image or volume. Its arguments are the image, an array for the table, and
// one for the squares or None, optionally followed by the kind, workers, the number of a device, whether
// to subtract an offset from floats that lie far from zero, in which case it returns the bits of the
// offset, and the number of images in the batch.
func integral(a arguments) any {
	if len(a) == 3 { // the most common call
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

// usual makes upright tables with as many workers as are useful.
func usual(a arguments) {
	j, _ := jobs.Get().(*job)
	if j == nil {
		j = new(job)
	}
	hostJob(j, a, uprightTable, 0).run()
	jobs.Put(j)
}

// jobs holds finished jobs for reuse: small tables take less time than allocating a job.
var jobs sync.Pool

func hostJob(j *job, a arguments, kind, workers int) *job {
	image, sum := a.array(0), a.array(1)
	if !a.has(2) {
		return j.set(&image, &sum, nil, kind, workers)
	}
	second := a.array(2)
	return j.set(&image, &sum, &second, kind, workers)
}

// kinds and deviceKinds translate kinds of tables for the engine and for devices.
var (
	kinds       = [...]engine.Kind{uprightTable: engine.Upright, tiltedTable: engine.Tilted, volumeTable: engine.Volume}
	deviceKinds = [...]string{uprightTable: "upright", tiltedTable: "tilted", volumeTable: "volume"}
)

func (j *job) run() {
	if j.resident {
		j.queue()
		return
	}
	var e engine.Job
	j.start(&e)
	must(e.Check())
	must(e.Run())
	j.offset = e.Sums.Offset
}

// start fills in the engine's job.
func (j *job) start(e *engine.Job) {
	volume := j.kind == volumeTable
	e.Kind = kinds[j.kind]
	e.Src, e.Sums.Array = j.image.pixels(j.types[0], volume), j.sum.table(j.types[1], volume)
	if j.types[2] != 0 {
		e.Squares.Array = j.squares.table(j.types[2], volume)
	}
	e.Plain = !j.shift
	e.Options.Workers, e.Options.Batch = j.workers, j.batch
	if j.device != nil {
		e.Options.On = j.device
	}
}

// imageOf returns a view as an image that shares its memory.
func imageOf[P boxsum.Pixel](v *view) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: values[P](v), Stride: v.stride, Width: v.width, Height: v.height, Channels: v.channels}
}
