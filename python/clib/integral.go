package main

// #include "array.h"
import "C"

import (
	"fmt"
	"sync"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu"
	"github.com/boxsum/boxsum/tilted"
	"github.com/boxsum/boxsum/volume"
)

// A job is one table, or that of squares too, to make of an image or a volume.
type job struct {
	image, sum, squares array
	from, to, squaresTo grid
	workers             int
	device              *gpu.Device // for arrays of the host to go through, nil for none; or with arrays on it
	kind                int         // of the table, on a device
}

// newJob is jobOf for the arrays of a call.
func newJob(image, sum, squares *C.boxsum_array, axes, workers int) (*job, *maker, error) {
	pixels, err := arrayOf(image)
	if err != nil {
		return nil, nil, err
	}
	sums, err := arrayOf(sum)
	if err != nil {
		return nil, nil, err
	}
	if squares == nil {
		return jobOf(pixels, sums, nil, axes, workers)
	}
	squared, err := arrayOf(squares)
	if err != nil {
		return nil, nil, err
	}
	return jobOf(pixels, sums, &squared, axes, workers)
}

// jobOf sees arrays as an image, or a volume, and tables.
func jobOf(image, sum array, squares *array, axes, workers int) (*job, *maker, error) {
	j := &job{image: image, sum: sum, workers: workers}
	var err error
	if j.from, err = image.grid(axes); err != nil {
		return nil, nil, err
	}
	if j.to, err = sum.table("out", axes, image, j.from); err != nil {
		return nil, nil, err
	}
	t := types{pixel: image.element, sum: sum.element}
	if squares != nil {
		j.squares = *squares
		if j.squaresTo, err = squares.table("the squares of out", axes, image, j.from); err != nil {
			return nil, nil, err
		}
		t.square = squares.element
	}
	m, err := find(t)
	return j, m, err
}

// table sees an array as the table of an image or volume.
func (a array) table(name string, axes int, image array, from grid) (grid, error) {
	if err := a.toWrite(name); err != nil {
		return grid{}, err
	}
	g, err := a.grid(axes)
	if err != nil {
		return g, fmt.Errorf("boxsum: %w: %s is laid out in another way: the elements of its rows must lie side by side, its rows in order, with native bytes", boxsum.ErrInvalid, name)
	}
	if g.width != from.width+1 || g.height != from.height+1 || axes == 3 && g.depth != from.depth+1 || g.channels != from.channels || len(a.shape) != len(image.shape) {
		return g, fmt.Errorf("boxsum: %w: %s has shape %v, which is not one more along the axes of an image of shape %v", boxsum.ErrInvalid, name, a.shape, image.shape)
	}
	return g, nil
}

func imageOf[P boxsum.Pixel](a array, g grid) boxsum.Image[P] {
	return boxsum.Image[P]{Pix: values[P](a, g), Stride: g.stride, Width: g.width, Height: g.height, Channels: g.channels}
}

// over lays a table over an array.
func over[S boxsum.Sum](t *boxsum.Table[S], a array, g grid) {
	t.Sums, t.Stride, t.Width, t.Height, t.Channels = values[S](a, g), g.stride, g.width-1, g.height-1, g.channels
}

// upright is boxsum.IntegrateInto with tables that are kept for what they know:
// the memory that it takes to work.
func upright[S boxsum.Sum, P boxsum.Pixel]() func(*job) error {
	spare := sync.Pool{New: func() any { return new(boxsum.Table[S]) }}
	return func(j *job) error {
		t := spare.Get().(*boxsum.Table[S])
		over(t, j.sum, j.to)
		var err error
		if j.device != nil {
			err = gpu.IntegrateHostInto(j.device, t, imageOf[P](j.image, j.from), nil)
		} else {
			err = boxsum.IntegrateInto(t, imageOf[P](j.image, j.from), &boxsum.Options{Workers: j.workers})
		}
		t.Sums = nil
		spare.Put(t)
		return err
	}
}

func uprightSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel]() func(*job) error {
	spare := sync.Pool{New: func() any {
		return &boxsum.SquaredTable[S, Q]{Sum: new(boxsum.Table[S]), Squares: new(boxsum.Table[Q])}
	}}
	return func(j *job) error {
		t := spare.Get().(*boxsum.SquaredTable[S, Q])
		over(t.Sum, j.sum, j.to)
		over(t.Squares, j.squares, j.squaresTo)
		var err error
		if j.device != nil {
			err = gpu.IntegrateSquaresHostInto(j.device, t, imageOf[P](j.image, j.from), nil)
		} else {
			err = boxsum.IntegrateSquaresInto(t, imageOf[P](j.image, j.from), &boxsum.Options{Workers: j.workers})
		}
		t.Sum.Sums, t.Squares.Sums = nil, nil
		spare.Put(t)
		return err
	}
}

func leaning[S boxsum.Sum, P boxsum.Pixel]() func(*job) error {
	spare := sync.Pool{New: func() any { return new(tilted.Table[S]) }}
	return func(j *job) error {
		t := spare.Get().(*tilted.Table[S])
		t.Sums, t.Stride, t.Width, t.Height, t.Channels = values[S](j.sum, j.to), j.to.stride, j.from.width, j.from.height, j.from.channels
		var err error
		if j.device != nil {
			err = gpu.IntegrateTiltedHostInto(j.device, t, imageOf[P](j.image, j.from), nil)
		} else {
			err = tilted.IntegrateInto(t, imageOf[P](j.image, j.from), &boxsum.Options{Workers: j.workers})
		}
		t.Sums = nil
		spare.Put(t)
		return err
	}
}

func volumeOf[P boxsum.Pixel](a array, g grid) volume.Volume[P] {
	return volume.Volume[P]{Pix: values[P](a, g), Stride: g.stride, SliceStride: g.sliceStride, Width: g.width, Height: g.height, Depth: g.depth, Channels: g.channels}
}

func overSolid[S boxsum.Sum](t *volume.Table[S], a array, g grid) {
	t.Sums, t.Stride, t.SliceStride = values[S](a, g), g.stride, g.sliceStride
	t.Width, t.Height, t.Depth, t.Channels = g.width-1, g.height-1, g.depth-1, g.channels
}

func solid[S boxsum.Sum, P boxsum.Pixel]() func(*job) error {
	spare := sync.Pool{New: func() any { return new(volume.Table[S]) }}
	return func(j *job) error {
		t := spare.Get().(*volume.Table[S])
		overSolid(t, j.sum, j.to)
		err := volume.IntegrateInto(t, volumeOf[P](j.image, j.from), &boxsum.Options{Workers: j.workers})
		t.Sums = nil
		spare.Put(t)
		return err
	}
}

func solidSquares[S boxsum.Sum, Q boxsum.Square, P boxsum.Pixel]() func(*job) error {
	spare := sync.Pool{New: func() any {
		return &volume.SquaredTable[S, Q]{Sum: new(volume.Table[S]), Squares: new(volume.Table[Q])}
	}}
	return func(j *job) error {
		t := spare.Get().(*volume.SquaredTable[S, Q])
		overSolid(t.Sum, j.sum, j.to)
		overSolid(t.Squares, j.squares, j.squaresTo)
		err := volume.IntegrateSquaresInto(t, volumeOf[P](j.image, j.from), &boxsum.Options{Workers: j.workers})
		t.Sum.Sums, t.Squares.Sums = nil, nil
		spare.Put(t)
		return err
	}
}

// The kinds of tables that boxsum_integral makes.
const (
	uprightTable = iota
	tiltedTable
	volumeTable
)

// boxsum_integral makes a table of the image or volume in sum, and that of the
// squares in squares unless that is nil. A device is a number of boxsum_device,
// or -1.
//
//export boxsum_integral
func boxsum_integral(image, sum, squares *C.boxsum_array, kind, workers, device C.int64_t) *C.char {
	return guard(func() error {
		axes := 2
		if kind == volumeTable {
			axes = 3
		}
		j, m, err := newJob(image, sum, squares, axes, int(workers))
		if err != nil {
			return err
		}
		if j.device, err = deviceOf(int(device)); err != nil {
			return err
		}
		f := m.upright
		switch kind {
		case tiltedTable:
			f = m.tilted
		case volumeTable:
			f = m.volume
		}
		if f == nil {
			return fmt.Errorf("boxsum: %w: there are no such squares", boxsum.ErrTypes)
		}
		return f(j)
	})
}
