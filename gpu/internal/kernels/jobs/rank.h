// Code generated from rank.go. DO NOT EDIT.
#ifndef JOBS_RANK_H
#define JOBS_RANK_H

// A Rank is the job of the kernels of rank filters. Windows end at the edges of the images.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i32 width, height, channels, images;
	i32 left, right, up, down; // reach of a window on each side of its pixel
	i32 strips, stripItems, skip; // means: work-items with results in a strip, and before the first
	i32 bands, bandRows;
	i32 inAligned, outAligned; // rows start at multiples of 8 bytes
	i32 area; // of a window that is not clipped
	f32 inverse;
} Rank;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Rank) == 120, "Go has another layout");
#endif

#endif
