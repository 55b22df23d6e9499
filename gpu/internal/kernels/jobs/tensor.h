// Code generated from tensor.go. DO NOT EDIT.
#ifndef JOBS_TENSOR_H
#define JOBS_TENSOR_H

// A Tensor is planes of floats and where their sums go, for the kernels of batches, see tensor.h. Sizes and strides are
// those of one plane; the address of sums is that of the first one, after the zeros of a table.
typedef struct {
	const char* in;
	char* out;
	i64 inStride, inBatch;
	i64 outStride, outBatch;
	i32 width, height, count;
	i32 inAligned, outAligned;
	i32 border; // there are zeros before each row and above the first
} Tensor;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Tensor) == 72, "Go has another layout");
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
	i32 strips, bands, bandRow;
} TensorWindow;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(TensorWindow) == 104, "Go has another layout");
#endif

#endif
