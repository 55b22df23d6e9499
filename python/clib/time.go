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
func timeHost(a arguments) any {
	best := time.Duration(1 << 62)
	for range a.int(3) {
		start := time.Now()
		hostJob(a, uprightTable, 0).run()
		best = min(best, time.Since(start))
	}
	return int(best)
}

// collect gives the memory of what is no longer used back to the system, so that
// one can see what still is.
func collect(arguments) any {
	runtime.GC() // what is kept for reuse goes in the second round
	debug.FreeOSMemory()
	return nil
}

// timeDevice is how many nanoseconds a device takes for a uint32 table of 8-bit
// pixels, the median of many, by package gpu alone. It takes width, height, the
// device's number and how often. With no runs, it is how long the caller waits for
// one.
func timeDevice(a arguments) any {
	width, height, d, runs := a.int(0), a.int(1), a.mustDevice(2), a.int(3)
	im := got(gpu.NewImage[uint8](d, width, height, 1, 1))
	defer im.Close()
	t := got(gpu.NewTable[uint32](d, width, height, 1, 1))
	defer t.Close()
	var times []time.Duration
	if runs > 0 {
		times = got(d.Time(runs, func() error { return gpu.IntegrateInto(t, im, nil) }))
	}
	for i := 0; i < 20 && runs == 0; i++ {
		start := time.Now()
		must(gpu.IntegrateInto(t, im, nil))
		must(d.Wait())
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return int(times[len(times)/2])
}
