// Code generated from plane_pass.go. DO NOT EDIT.
#ifndef JOBS_PLANE_PASS_H
#define JOBS_PLANE_PASS_H

// A PlanePass is the job of a one-pass kernel, and of one of small images.
typedef struct {
	alignas(64) u8 map[128]; // a tensor map of the pixels, for chips that take them
	const char* in; // the first pixel
	char* out; // entry (0, 0) of the table
	char* squares; // of the table of squares
	uint4* status; // what tiles publish
	i64 squaresStatus; // where that of the squares begins, in words of 16 bytes
	u32* tickets;
	i64 inStride, inBatch; // bytes
	i64 outStride, outBatch;
	i64 squaresStride, squaresBatch;
	f64 offset;
	i32 width, height, count; // width in values: pixels times channels
	i32 tilesX, tilesY;
	i32 strip; // tiles of a row that are worked on together, row by row; 0: all, along diagonals
	i32 lag; // the logarithm of how many tiles a row is ahead of the next, along diagonals
	i32 ahead; // how many tiles later comes the one to prefetch; 0: none
	i32 turn; // images that take turns, at least 1
	u32 epoch, base; // epoch is a multiple of 4
	i32 inAligned, outAligned;
	i32 squaresAligned;
	i32 carry; // row 0 of the table is an input
	i32 tileCount; // of the list
	const int4* tileList; // the tiles to work on, see listedPlace, or null: all of them
} PlanePass;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(PlanePass) == 320, "Go has another layout");
#endif

// A PlaneShape is what a module has of a kernel in the variable shape_ and its name.
typedef struct {
	i32 width, height; // of a tile, in values
	i32 threads;
	i32 shared; // bytes
	i32 sumWords; // of 16 bytes, which a tile publishes
	i32 squareWords;
	i32 jobBytes;
	i32 strip; // as in the job; 0: along diagonals
	i32 lag; // the most that suits
	i32 ahead;
} PlaneShape;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(PlaneShape) == 40, "Go has another layout");
#endif

#endif
