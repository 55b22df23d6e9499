//go:build cgo

package main

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/boxsum/boxsum/gpu"
)

// timeHost makes a table many times and is how many nanoseconds the fastest took:
// the same call without Python. It takes an image, a table, its squares or None,
// and how often.
func timeHost(a arguments) (any, error) {
	best := time.Duration(1 << 62)
	for range a.int(3) {
		start := time.Now()
		j, p, err := hostJob(a, uprightTable, 0)
		if err == nil {
			err = j.run(p)
		}
		if err != nil {
			return nil, err
		}
		best = min(best, time.Since(start))
	}
	return int(best), nil
}

// collect gives the memory of what is no longer used back to the system, so that
// one can see what still is.
func collect(arguments) (any, error) {
	runtime.GC() // what is kept for reuse goes in the second round
	debug.FreeOSMemory()
	return nil, nil
}

// timeDevice is how many nanoseconds a device takes for a uint32 table of 8-bit
// pixels, the median of many, by package gpu alone. It takes width, height, the
// device's number and how often. With no runs, it is how long the caller waits for
// one.
func timeDevice(a arguments) (any, error) {
	width, height, d, runs := a.int(0), a.int(1), a.mustDevice(2), a.int(3)
	im, err := gpu.NewImage[uint8](d, width, height, 1, 1)
	if err != nil {
		return nil, err
	}
	defer im.Close()
	t, err := gpu.NewTable[uint32](d, width, height, 1, 1)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	var times []time.Duration
	if runs > 0 {
		times, err = d.Time(runs, func() error { return gpu.IntegrateInto(t, im, nil) })
	}
	for i := 0; i < 20 && runs == 0 && err == nil; i++ {
		start := time.Now()
		if err = gpu.IntegrateInto(t, im, nil); err == nil {
			err = d.Wait()
		}
		times = append(times, time.Since(start))
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(times)
	return int(times[len(times)/2]), nil
}
