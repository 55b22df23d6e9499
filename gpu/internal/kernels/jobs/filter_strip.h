// Code generated from filter_strip.go. DO NOT EDIT.
#ifndef JOBS_FILTER_STRIP_H
#define JOBS_FILTER_STRIP_H

// A FilterStrip is images of bytes, the windows round their pixels, and where results go, for
// the kernels of CUDA that work by strips.
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
	i32 skip; // lanes at the start of a strip without results
	i32 edgeLeft; // chunks before the image
	i32 area; // of a whole window
	u32 half, multiplier, place; // of rounded means: their byte of the product
	f32 inverse, bias; // of those of small windows
	f32 n; // the area
	f32 alpha, gamma, margin; // of decisions in float32: by the area, and times it
} FilterStrip;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(FilterStrip) == 184, "Go has another layout");
#endif

#endif
