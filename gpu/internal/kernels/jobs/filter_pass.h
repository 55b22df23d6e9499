// Code generated from filter_pass.go. DO NOT EDIT.
#ifndef JOBS_FILTER_PASS_H
#define JOBS_FILTER_PASS_H

// A FilterPass is the job of the CUDA kernels that filter byte images in one launch. Out or Dev may
// be 0.
typedef struct {
	u64 in, out, dev;
	i64 inStride, inDistance;
	i64 outStride, outDistance;
	i64 devStride, devDistance;
	f64 k, inverseR; // of Sauvola's method
	i32 width, height;
	i32 left, right, up, down;
	i32 border, count;
	i32 strips, bands, bandRows, skip;
	i32 area; // of an unclipped window
	u32 half, multiplier, place; // rounding of means: Place is the byte of the product that holds the quotient
	f32 inverse, inverse2;
	f32 alpha, gamma, margin; // of thresholding in float32
} FilterPass;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(FilterPass) == 176, "Go has another layout");
#endif

#endif
