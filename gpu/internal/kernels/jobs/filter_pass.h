// Code generated from filter_pass.go. DO NOT EDIT.
#ifndef JOBS_FILTER_PASS_H
#define JOBS_FILTER_PASS_H

// A FilterPass is images of bytes, the windows round their pixels, and where results go, for
// the kernels of CUDA that do it in one launch. Out or Dev may be 0.
typedef struct {
	u64 in, out, dev;
	i64 inStride, inDistance;
	i64 outStride, outDistance;
	i64 devStride, devDistance;
	f64 k, inverseR; // of Sauvola
	i32 width, height;
	i32 left, right, up, down;
	i32 border, count;
	i32 strips, bands, bandRows, skip;
	i32 area; // of a whole window
	u32 half, multiplier, place; // of rounded means: their byte of the product
	f32 inverse, inverse2;
	f32 alpha, gamma, margin; // of decisions in float32
} FilterPass;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(FilterPass) == 176, "Go has another layout");
#endif

#endif
