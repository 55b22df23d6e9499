//go:build cgo

package main

import (
	"math"

	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
)

// A validJob makes the tables of the valid pixels of an image.
type validJob struct {
	job
	mask, counts view // there is no mask if it has no element size
	nan          bool // NaN is invalid
}

// valid makes the tables of the valid pixels of an image. Its arguments are the
// image, a mask of uint8 or None, whether to skip NaN, arrays for the sums, the
// squares or None and the counts, workers, whether to subtract an offset; see
// [integral], and the number of a device.
func valid(a arguments) any {
	var second *array
	if a.has(4) {
		squares := a.array(4)
		second = &squares
	}
	j := &validJob{job: *newJob(a.array(0), a.array(3), second, uprightTable, a.int(6)), nan: a.int(2) != 0}
	if a.has(1) {
		j.mask = a.array(1).mustView(2)
		if j.mask.element != u8 {
			must(wrongTypes("mask has type %v, want uint8 or bool", j.mask.element))
		}
	}
	j.shift, j.device = a.int(7) != 0, a.device(8)
	counts := a.array(5)
	j.counts.setTable(&counts, "the counts of out", 2, &j.image)
	if j.counts.element != u32 {
		must(wrongTypes("counts have type %v, want uint32", j.counts.element))
	}
	var e engine.ValidJob
	j.start(&e.Job)
	e.Count.Array, e.NaN = j.counts.table(raster.U32, false), j.nan
	if j.mask.bytes != 0 {
		e.Mask = j.mask.pixels(raster.U8, false)
	}
	must(e.Check())
	must(e.Run())
	return int(math.Float32bits(e.Sums.Offset))
}
