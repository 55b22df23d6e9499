// Code generated from plane_pass.go. DO NOT EDIT.
#ifndef JOBS_PLANE_PASS_H
#define JOBS_PLANE_PASS_H

// A PlanePass is the job of a one-pass kernel, including those of small images.
typedef struct {
	alignas(64) u8 map[128]; // a tensor map of the pixels, for chips that support them
	const char* in; // the first pixel
	char* out; // entry (0, 0) of the table
	char* squares; // of the table of squares
	uint4* status; // the statuses of tiles
	i64 squaresStatus; // where the statuses of squares begin, in 16-byte words
	u32* tickets;
	i64 inStride, inBatch; // in bytes
	i64 outStride, outBatch;
	i64 squaresStride, squaresBatch;
	f64 offset;
	i32 width, height, count; // Width counts values: pixels times channels
	i32 tilesX, tilesY;
	i32 strip; // tiles of a row that are processed together, row by row; 0: all, along diagonals
	i32 lag; // along diagonals, log2 of the number of tiles that a row is ahead of the next
	i32 ahead; // distance of the tile to prefetch, in tickets; 0: none
	i32 turn; // number of interleaved images, at least 1
	u32 epoch, base; // Epoch is a multiple of 4
	i32 inAligned, outAligned;
	i32 squaresAligned;
	i32 carry; // row 0 of the table is an input
	i32 tileCount; // of the list
	const int4* tileList; // the tiles to process, see listedPlace; null means all
} PlanePass;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(PlanePass) == 320, "Go has another layout");
#endif

// A PlaneShape is the content of the variable shape_NAME that a module has for each kernel.
typedef struct {
	i32 width, height; // of a tile, in values
	i32 threads;
	i32 shared; // in bytes
	i32 sumWords; // 16-byte words that a tile publishes
	i32 squareWords;
	i32 jobBytes;
	i32 strip; // as in PlanePass; 0: along diagonals
	i32 lag; // the maximum
	i32 ahead;
} PlaneShape;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(PlaneShape) == 40, "Go has another layout");
#endif

#endif
