// Code generated from clahe.go. DO NOT EDIT.
#ifndef JOBS_CLAHE_H
#define JOBS_CLAHE_H

// A CLAHE is the job of the kernels that equalize the contrast of tiles; see package enhance. The counts of the levels of
// tiles, and then their tables, are stored one image, channel and tile after the other.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 tablesStart; // in bytes
	i32 width, height, channels, images;
	i32 across, down; // tiles
	i32 tileWidth, tileHeight;
	i32 levels, shift, limit; // of a table, low bits that are ignored, limit of a bin
	i32 parts, partRows; // of a tile, which work-groups count
	i32 histograms; // of a tile, to be added
	i32 strips, bands; // of a cell: the pixels between four tiles
	f32 scale, inverseWidth, inverseHeight;
	i32 inAligned, outAligned; // rows start at multiples of 16 bytes
} CLAHE;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(CLAHE) == 144, "Go has another layout");
#endif

#endif
