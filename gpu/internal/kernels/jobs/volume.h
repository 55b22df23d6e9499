// Code generated from volume.go. DO NOT EDIT.
#ifndef JOBS_VOLUME_H
#define JOBS_VOLUME_H

// Slices is what the kernels of volumes have beside the Job of a slice. Images of the
// Job are slices of the volume, and its tables those of the volume's table from the
// one before the first slice on. Its carry is 1 where that one is an input; otherwise
// it is zero.
typedef struct {
	i32 depth, padding;
} Slices;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Slices) == 8, "Go has another layout");
#endif

// Blocks is how large a volume's table is, in bytes, and how many boxes there are.
typedef struct {
	i64 start, stride, slice;
	i64 channels, count;
} Blocks;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Blocks) == 40, "Go has another layout");
#endif

#endif
