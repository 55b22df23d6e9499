// Code generated from filter_tensor.go. DO NOT EDIT.
#ifndef JOBS_FILTER_TENSOR_H
#define JOBS_FILTER_TENSOR_H

// A FilterTensor is images of bytes, the windows round their pixels, and where results go, for
// the kernels of CUDA that sum windows on tensor cores.
typedef struct {
	u64 in, out, edge;
	i64 inStride, inDistance;
	i64 outStride, outDistance;
	i64 edgeStride, edgeDistance;
	f64 k, inverseR; // of Sauvola
	i32 width, height;
	i32 left, right, up, down;
	i32 border, count;
	i32 strips, bands, bandRows;
	i32 shift; // how many columns before the first window chunks begin
	i32 edgeLeft; // chunks before the image
	i32 area; // of a whole window
	f32 n, inverse, bias;
	f32 alpha, gamma, margin; // of decisions in float32: by the area, and times it
} FilterTensor;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(FilterTensor) == 168, "Go has another layout");
#endif

#endif
