// Code generated from filter_strip.go. DO NOT EDIT.
#ifndef JOBS_FILTER_STRIP_H
#define JOBS_FILTER_STRIP_H

// A FilterStrip is the job of the CUDA kernels that filter byte images in strips.
typedef struct {
	u64 in, out, edge;
	i64 inStride, inDistance;
	i64 outStride, outDistance;
	i64 edgeStride, edgeDistance;
	f64 k, inverseR; // of Sauvola's method
	i32 width, height;
	i32 left, right, up, down;
	i32 border, count;
	i32 strips, bands, bandRows;
	i32 skip; // lanes at the start of a strip that have no results
	i32 edgeLeft; // chunks to the left of the image
	i32 area; // of an unclipped window
	u32 half, multiplier, place; // rounding of means: Place is the byte of the product that holds the quotient
	f32 inverse, bias; // rounding of means of small windows
	f32 n; // the area
	f32 alpha, gamma, margin; // of thresholding in float32: Alpha is divided by the area, Gamma multiplied by it
} FilterStrip;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(FilterStrip) == 184, "Go has another layout");
#endif

#endif
