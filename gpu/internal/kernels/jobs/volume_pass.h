// Code generated from volume_pass.go. DO NOT EDIT.
#ifndef JOBS_VOLUME_PASS_H
#define JOBS_VOLUME_PASS_H

// A VolumePass is the job of a one-pass kernel of volumes.
typedef struct {
	const char* in; // the first voxel
	char* out; // entry (0, 0, 0) of the table
	uint4* edges; // the edges that tiles publish
	u32* tickets;
	char* planes; // the sums of each slab along z, in whole tiles, if there are several slabs
	i64 inStride, inSlice; // in bytes
	i64 outStride, outSlice;
	f64 offset;
	i32 width, height, depth;
	i32 tilesX, tilesY;
	u32 epoch, base;
	i32 carry; // slice 0 of the table is an input
	i32 columnBytes; // bytes up to the end of an entry (0, y, z) that may be set to zero: its own, or 32
	i32 slabDepth; // slices of a slab; slabs are processed concurrently
} VolumePass;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(VolumePass) == 120, "Go has another layout");
#endif

// A VolumeShape is the content of the variable shape_NAME that a module has for each kernel.
typedef struct {
	i32 width, height; // of a tile
	i32 threads;
	i32 shared; // in bytes
	i32 words; // 16-byte words that a tile publishes per slice
	i32 jobBytes;
} VolumeShape;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(VolumeShape) == 24, "Go has another layout");
#endif

#endif
