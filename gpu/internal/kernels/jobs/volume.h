// Code generated from volume.go. DO NOT EDIT.
#ifndef JOBS_VOLUME_H
#define JOBS_VOLUME_H

// Slices is what the kernels of volumes need in addition to the Job of a slice. Images of the Job
// are slices of the volume, and its tables are those of the volume's table, including the one
// before the first slice. Carry is 1 if that one is an input; otherwise it is zero.
typedef struct {
	i32 depth, padding;
} Slices;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Slices) == 8, "Go has another layout");
#endif

// Blocks is the position and size of a volume's table, in bytes, and the number of boxes.
typedef struct {
	i64 start, stride, slice;
	i64 channels, count;
} Blocks;
#ifndef __OPENCL_VERSION__
static_assert(sizeof(Blocks) == 40, "Go has another layout");
#endif

#endif
