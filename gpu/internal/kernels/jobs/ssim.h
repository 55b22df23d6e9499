// Code generated from ssim.go. DO NOT EDIT.
#ifndef JOBS_SSIM_H
#define JOBS_SSIM_H

// An SSIM is the job of the kernels that compare two images, for the windows of some rows. Their sums of scores by
// blocks are stored one image and channel after the other.
typedef struct {
	i64 aStart, aStride, aDistance; // of row 0 of the whole image
	i64 bStart, bStride, bDistance;
	i64 mapStart, mapStride, mapDistance;
	i64 sumsStart; // in bytes
	f64 c1, c2, factor; // constants times the square of a window's pixels; see package quality
	i32 width, height, channels, images; // of the whole images
	i32 from, to; // rows, the first of which is a multiple of the rows of a block
	i32 radius, pixels; // of a window
	i32 strips, stripItems, skip; // work-items with results in a strip, and before the first
	i32 bands, bandRows;
	i32 mapBytes; // of a score; 0 for no map
	i32 aligned, mapAligned; // rows of images start at multiples of 8 bytes; those of the map, of 16
} SSIM;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(SSIM) == 168, "Go has another layout");
#endif

// An SSIMTotal is the job of the kernel that adds sums of blocks, some at a time.
typedef struct {
	i64 inStart, outStart; // in bytes
	i64 lists;
	i32 count, sums; // of a list, before and after
} SSIMTotal;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(SSIMTotal) == 32, "Go has another layout");
#endif

#endif
