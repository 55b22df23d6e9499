// Code generated from portable.go. DO NOT EDIT.
#ifndef JOBS_PORTABLE_H
#define JOBS_PORTABLE_H

// A Job is the job of the portable kernels: positions and sizes, in bytes.
typedef struct {
	i64 inStart, inStride, inDistance;
	i64 outStart, outStride, outDistance;
	i64 squaresStart, squaresStride, squaresDistance;
	i64 columnsStart, rowsStart, squareColumnsStart, squareRowsStart; // of the carries
	i32 width, height, channels;
	i32 tileChannels, channelGroups; // tiles that share their pixels
	i32 tilePixels, tileRows, tilesAcross, tilesDown;
	i32 carry; // row 0 of the table is an input
	f32 offset;
	i32 tileChannelsInverse; // 2^16 / TileChannels, rounded up
} Job;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Job) == 152, "Go has another layout");
#endif

// A Carry is an array of carries: steps of Length values, image after image. Groups is the number
// of all work-groups, GroupsAcross that of one image.
typedef struct {
	i64 start; // in bytes
	i64 length;
	i32 steps, padding;
	u32 groups, groupsAcross;
} Carry;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Carry) == 32, "Go has another layout");
#endif

// A Climb is the row carries of a table, to be accumulated over the rows of tiles.
typedef struct {
	i64 start; // in bytes
	i32 height, channels, tilesAcross, padding;
} Climb;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Climb) == 24, "Go has another layout");
#endif

// Boxes is the position of a table, in bytes, and the number of boxes.
typedef struct {
	i64 start, stride;
	i64 channels, count;
} Boxes;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Boxes) == 32, "Go has another layout");
#endif

#endif
