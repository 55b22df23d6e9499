// Code generated from filter.go. DO NOT EDIT.
#ifndef JOBS_FILTER_H
#define JOBS_FILTER_H

// A Filter is images, the windows round their pixels, and where results go, in bytes, for
// the portable kernels of filters. The sums of columns of some rows lie between the two.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 devStart, devStride, devDistance; // of deviations
	i64 squaresStart; // of the sums of columns, after those of pixels
	i32 width, height, channels;
	i32 left, right, up, down; // how far a window reaches
	i32 border, value; // see filter.h
	i32 firstRow, rows; // whose columns are summed
	i32 bands, bandRows; // that they are cut into
	i32 segments, segmentPixels; // that a row of results is cut into
	i32 images, wantSquares, wantMean, padding; // what is wanted
} Filter;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Filter) == 160, "Go has another layout");
#endif

#endif
