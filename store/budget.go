package store

import (
	"math"
	"runtime"
	"runtime/metrics"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/zarr"
)

// readingMemory returns the memory needed to read an array within a limit of memory bytes.
// keep is the size of its cache, at least one chunk; beside is the memory for decoding
// large chunks (see [zarr.Array.SetCache]); each is the memory that each worker needs for
// small chunks, for blocks of block bytes.
func readingMemory(a *zarr.Array, memory, block int64) (keep, beside, each int64) {
	const overhead = 200 // approximate memory of a cache entry in addition to its bytes
	largest := a.Footprint()
	keep = max(memory/4, largest+overhead)
	if largest > keep/8 {
		return keep, 2 * largest * max(1, keep/2/largest), 0
	}
	return keep, 0, 3 * max(0, largest-block)
}

// most returns the number of workers for which the memory suffices.
func (j *Job) most() (int, error) {
	area := int64(j.block) * int64(j.block) * int64(j.channels)
	each := area * int64(j.src.Type().Size()) * 2
	if pixelsOf(j.src.Type()) != j.src.Type() {
		each += area * int64(pixelsOf(j.src.Type()).Size())
	}
	var lines int64
	for _, l := range j.layers {
		each += area * int64(l.sum.Size()) // the table
		lines += 4 * (int64(j.width) + int64(j.columns)*int64(j.block)) * int64(l.bytes)
	}
	each += 2 * area * 8 // the output, raw and compressed
	if j.depth > 0 {
		each += area * 8 * int64(len(j.layers)) // the sums of columns
	}
	keep, beside, more := readingMemory(j.src, j.opt.Memory, area*int64(j.src.Type().Size()))
	each += more
	free := j.opt.Memory - keep - beside - lines - 32<<20
	n := free * 2 / 3 / each // the rest is for the garbage collector
	if n < 1 && j.opt.Memory < math.MaxInt64/2 {
		return 0, raster.OutOfMemory("blocks of %d×%d, of an image whose chunks take up to %d MiB, need about %d MiB, more than the limit of %d MiB (raise the limit, or use smaller blocks)", j.block, j.block,
			j.src.Footprint()>>20, max((each*3/2+beside+lines+32<<20)*4/3, each*3/2+beside+lines+32<<20+keep)>>20+1, j.opt.Memory>>20)
	}
	n = min(n, int64(j.opt.Workers))
	j.takes = n*each + keep + beside + lines
	return int(n), nil
}

// tidy runs the garbage collector when garbage exceeds a sixteenth of the live heap. Blocks
// leave little garbage, and the collector alone would wait until it equals the live heap,
// so large images would take more memory than small ones. If most of the heap belongs to
// others, tidy does nothing.
func (j *Job) tidy() {
	sizes := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(sizes)
	if all, live := int64(sizes[0].Value.Uint64()), int64(sizes[1].Value.Uint64()); all > live+live/16 && live < 2*j.takes {
		runtime.GC()
	}
}
