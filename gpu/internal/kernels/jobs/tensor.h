// Code generated from tensor.go. DO NOT EDIT.
#ifndef JOBS_TENSOR_H
#define JOBS_TENSOR_H

// A Tensor is the job of the kernels of batches of float planes, see tensor.h. Sizes and strides
// are those of one plane. Out is the address of the first sum or, for a table, of the zero before
// it.
typedef struct {
	const char* in;
	char* out;
	i64 inStride, inBatch;
	i64 outStride, outBatch;
	i32 width, height, count;
	i32 inAligned, outAligned;
	i32 gap; // the sector after each row of a table, except a plane's last, may be overwritten
	i32 bands, bandRow; // of rows
} Tensor;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Tensor) == 80, "Go has another layout");
#endif

// A TensorWindow is the job of the kernels that sum windows of float planes.
typedef struct {
	const char* in;
	char* out;
	i64 inStride, inBatch;
	i64 outStride, outBatch;
	f64 factor;
	i32 width, height; // of the planes
	i32 columns, rows; // of the results
	i32 across, down; // of a window
	i32 left, top; // how far before its pixel a window begins
	i32 count;
	i32 strips, results; // strips of columns, and the number of results in each
	i32 bands, bandRow;
	i32 aligned; // four pixels can be read at once
	i32 clip; // divide each sum by the number of the window's pixels inside the plane, and ignore Factor
} TensorWindow;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(TensorWindow) == 120, "Go has another layout");
#endif

#endif
