//go:build cgo

package main

// #include "boxsum.h"
import "C"

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// batch calls another function for every image of a batch. Its arguments are the name of that
// function, the number of leading axes of the batch, a bit set of the arguments that have these axes,
// the index of the argument with the number of workers, and the function's arguments. If there are at
// least as many images as workers, that many images are processed concurrently, each by one worker;
// otherwise they are processed in turn, each by all workers.
func batch(a arguments) any {
	f, lead, spread, at := batched[a.text(0)], a.int(1), a.int(2), a.int(3)
	given := a[4:]
	arrays := make([]array, len(given))
	count := -1
	var shape extent
	for i := range given {
		if spread>>i&1 == 0 || !given.has(i) {
			continue
		}
		arrays[i] = given.array(i)
		if len(arrays[i].shape) < lead {
			must(invalid("array of shape %v has fewer than %d leading axes", arrays[i].shape, lead))
		}
		leading := arrays[i].shape[:lead]
		if count < 0 {
			shape, count = leading, 1
			for _, n := range leading {
				count *= n
			}
		}
		for k, n := range leading {
			if n != shape[k] {
				must(invalid("batches have shapes %v and %v, want equal shapes", shape, leading))
			}
		}
	}
	workers := given.int(at)
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	each, together := workers, 1
	if count >= workers {
		each, together = 1, workers
	}
	var next atomic.Int64
	parallel(together, together, 1, func(int, int) {
		values, structs := make(arguments, len(given)), make([]C.boxsum_array, len(given))
		copy(values, given)
		if len(given) == 7 && a.text(0) == "integral" {
			values = append(values, C.boxsum_value{kind: C.boxsum_number, number: C.int64_t(count)})
		}
		values[at].number = C.int64_t(each)
		for {
			n := int(next.Add(1)) - 1
			if n >= count {
				return
			}
			for i := range arrays {
				if arrays[i].bytes == 0 {
					continue
				}
				s, rest := &structs[i], n
				*s = *(*C.boxsum_array)(given[i].pointer)
				for k := lead - 1; k >= 0; k-- {
					s.data = unsafe.Add(s.data, rest%shape[k]*arrays[i].strides[k])
					rest /= shape[k]
				}
				s.nd -= C.int(lead)
				s.shape = (*C.intptr_t)(unsafe.Add(unsafe.Pointer(s.shape), lead*8))
				s.strides = (*C.intptr_t)(unsafe.Add(unsafe.Pointer(s.strides), lead*8))
				values[i].pointer = unsafe.Pointer(s)
			}
			f(values)
		}
	})
	return nil
}

// batched lists the functions that batch can call.
var batched = map[string]func(arguments) any{
	"integral": integral, "suffix": suffix, "window": windowSum, "boxes": boxes, "tilted_boxes": tiltedBoxes,
	"histogram": histogramTable, "histogram_boxes": histogramBoxes,
	"filter": filterImage, "gaussian": gaussian, "downsample": downsample, "entropy": entropies,
}
