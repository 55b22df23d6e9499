// Code generated from tensor.go. DO NOT EDIT.
#ifndef JOBS_TENSOR_H
#define JOBS_TENSOR_H

// A Tensor is planes of floats and where their sums go, for the kernels of batches, see tensor.h. Sizes and strides are
// those of one plane; the address of sums is that of the first one, and of a table that of the zero before it.
typedef struct {
	const char* in;
	char* out;
	i64 inStride, inBatch;
	i64 outStride, outBatch;
	i32 width, height, count;
	i32 inAligned, outAligned;
	i32 gap; // a sector after each row of a table may be written, but for the last of a plane
	i32 bands, bandRow; // of rows
} Tensor;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Tensor) == 80, "Go has another layout");
#endif

// A TensorWindow is planes of floats, the windows whose sums are wanted, and where these go.
typedef struct {
	const char* in;
	char* out;
	i64 inStride, inBatch;
	i64 outStride, outBatch;
	f64 factor;
	i32 width, height; // of the planes
	i32 columns, rows; // of the results
	i32 across, down; // of a window
	i32 left, top; // how far before its pixel it begins
	i32 count;
	i32 strips, results; // strips of columns, and how many results each has
	i32 bands, bandRow;
	i32 aligned; // four pixels can be read at once
	i32 clip; // sums are divided by the pixels of the window that are in the plane, whatever the factor
} TensorWindow;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(TensorWindow) == 120, "Go has another layout");
#endif

#endif
