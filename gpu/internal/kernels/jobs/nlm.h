// Code generated from nlm.go. DO NOT EDIT.
#ifndef JOBS_NLM_H
#define JOBS_NLM_H

// An NLM is the job of the kernels of non-local means. Frames are first extended on all sides; the frames of an image
// follow each other.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 stride, distance; // of the extended frames
	i32 width, height, channels, images;
	i32 pixelBytes, margin; // Margin is what a patch and the search reach beyond a pixel
	i32 frames, index; // of an image, and the one that is denoised
	i32 patch, search; // how far they reach from their middle
	i32 absolute, shift, last; // Last is the last entry of the table of weights
	i32 strips, bands;
} NLM;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(NLM) == 128, "Go has another layout");
#endif

#endif
