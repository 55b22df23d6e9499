// Code generated from filter.go. DO NOT EDIT.
#ifndef JOBS_FILTER_H
#define JOBS_FILTER_H

// A Filter is the job of the portable filter kernels: images, windows and results, in bytes. Column
// sums of some rows are stored between the two launches.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 devStart, devStride, devDistance; // of deviations
	i64 squaresStart; // of the column sums of squares, which follow those of pixels
	i32 width, height, channels;
	i32 left, right, up, down; // reach of a window on each side of its pixel
	i32 border, value; // see filter.h
	i32 firstRow, rows; // rows whose columns are summed
	i32 bands, bandRows; // partition of these rows
	i32 segments, segmentPixels; // partition of a row of results
	i32 images, wantSquares, wantMean, padding; // which results to compute
} Filter;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Filter) == 160, "Go has another layout");
#endif

#endif
