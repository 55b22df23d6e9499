// Code generated from histogram_pass.go. DO NOT EDIT.
#ifndef JOBS_HISTOGRAM_PASS_H
#define JOBS_HISTOGRAM_PASS_H

// A HistogramPass is the job of the kernels that compute integral histograms in two launches. Bins
// are in groups of up to 32, one to a lane; a part is a group of a channel. If a group has 16 bins
// or fewer, a column has as many slots as the next power of two, and a warp processes several
// columns at a time.
typedef struct {
	u64 in, out, limits;
	u64 table; // for bytes: the bin of every value
	u64 plane; // for other pixels, per image, channel and row: the bin of every pixel, in whole tiles
	u64 left; // per image, row, tile, part and slot: the count to the left of the tile
	u64 written; // per cohort and batch of rows: number of strips that have written it
	i64 inStride, inDistance; // in bytes
	i64 outStride, outDistance;
	i32 width, height, channels;
	i32 count;
	i32 bins, limitCount;
	i32 groupBins, groups; // bins of a group; groups of a channel
	i32 slots;
	i32 tiles, strips; // number in a row
	i32 carry; // row 0 of the table is an input
	i32 quadsIn; // four pixels can be read at once
	i32 cohort; // blocks that write and wait for each other
	i32 batches; // of all cohorts
	i32 padding;
} HistogramPass;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(HistogramPass) == 152, "Go has another layout");
#endif

#endif
