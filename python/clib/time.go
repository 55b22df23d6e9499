package main

// #include "array.h"
import "C"

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/boxsum/boxsum/gpu"
)

// boxsum_time makes a table many times and says how many nanoseconds the fastest
// took: the same call without Python.
//
//export boxsum_time
func boxsum_time(image, sum, squares *C.boxsum_array, runs C.int64_t, nanoseconds *C.int64_t) *C.char {
	return guard(func() error {
		best := time.Duration(1 << 62)
		for range runs {
			start := time.Now()
			j, m, err := newJob(image, sum, squares, 2, 0)
			if err == nil {
				err = m.upright(j)
			}
			if err != nil {
				return err
			}
			best = min(best, time.Since(start))
		}
		*nanoseconds = C.int64_t(best)
		return nil
	})
}

// boxsum_collect gives the memory of what is no longer used back to the system, so
// that one can see what still is.
//
//export boxsum_collect
func boxsum_collect() *C.char {
	return guard(func() error {
		runtime.GC() // what is kept for reuse goes in the second round
		debug.FreeOSMemory()
		return nil
	})
}

// boxsum_time_device is how many nanoseconds a device takes for a uint32 table of
// 8-bit pixels, the median of many, by package gpu alone. With no runs, it is how
// long the caller waits for one.
//
//export boxsum_time_device
func boxsum_time_device(width, height, device, runs C.int64_t, nanoseconds *C.int64_t) *C.char {
	return guard(func() (err error) {
		d, err := deviceOf(int(device))
		if err != nil || d == nil {
			return fmt.Errorf("boxsum: no device to time: %w", err)
		}
		im, err := gpu.NewImage[uint8](d, int(width), int(height), 1, 1)
		if err != nil {
			return err
		}
		defer im.Close()
		t, err := gpu.NewTable[uint32](d, int(width), int(height), 1, 1)
		if err != nil {
			return err
		}
		defer t.Close()
		var times []time.Duration
		if runs > 0 {
			times, err = d.Time(int(runs), func() error { return gpu.IntegrateInto(t, im, nil) })
		}
		for i := 0; i < 20 && runs == 0 && err == nil; i++ {
			start := time.Now()
			if err = gpu.IntegrateInto(t, im, nil); err == nil {
				err = d.Wait()
			}
			times = append(times, time.Since(start))
		}
		if err != nil {
			return err
		}
		slices.Sort(times)
		*nanoseconds = C.int64_t(times[len(times)/2])
		return nil
	})
}
