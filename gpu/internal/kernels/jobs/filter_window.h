// Code generated from filter_window.go. DO NOT EDIT.
#ifndef JOBS_FILTER_WINDOW_H
#define JOBS_FILTER_WINDOW_H

// A FilterWindow is images of bytes, the windows round their pixels, and where results go, for
// the kernels of CUDA that sum windows on tensor cores.
typedef struct {
	u64 in, out;
	i64 inStride, inDistance;
	i64 outStride, outDistance;
	f64 k, inverseR; // of Sauvola
	i32 width, height;
	i32 left, right, up, down;
	i32 border, value;
	i32 strips, bands, bandRows;
	i32 edgeBands, edgeRows; // those of the first strip and the last
	i32 slots; // rows of the image that a strip has at once
	i32 area; // of a whole window
	u32 half, multiplier, place; // of rounded means: their byte of the product
	f32 inverse, bias; // of those of small windows
	f32 n, nBias, center, middle; // of variances in float32: 4n and more
	f32 alpha, gamma; // of thresholds, by 4n and 8n²
	u32 low, range; // bits of floats that decide nothing
} FilterWindow;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(FilterWindow) == 176, "Go has another layout");
#endif

#endif
