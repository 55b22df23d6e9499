// Code generated from filter_window.go. DO NOT EDIT.
#ifndef JOBS_FILTER_WINDOW_H
#define JOBS_FILTER_WINDOW_H

// A FilterWindow is the job of the CUDA kernels that sum windows of byte images on tensor cores.
typedef struct {
	u64 in, out;
	i64 inStride, inDistance;
	i64 outStride, outDistance;
	f64 k, inverseR; // of Sauvola's method
	i32 width, height;
	i32 left, right, up, down;
	i32 border, value;
	i32 strips, bands, bandRows;
	i32 edgeBands, edgeRows; // of the first and the last strip
	i32 slots; // rows of the image that a strip holds at once
	i32 area; // of an unclipped window
	u32 half, multiplier, place; // rounding of means: Place is the byte of the product that holds the quotient
	f32 inverse, bias; // rounding of means of small windows
	f32 n, nBias, center, middle; // of variances in float32: 4n and terms derived from it
	f32 alpha, gamma; // of thresholds: by 4n and 8n²
	u32 low, range; // range of the float bits that leave a decision uncertain
} FilterWindow;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(FilterWindow) == 176, "Go has another layout");
#endif

#endif
