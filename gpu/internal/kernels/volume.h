// What the kernels of volumes have beside the Job of a slice, see job.h.
#ifndef VOLUME_H
#define VOLUME_H

// Images of the Job are slices of the volume, and its tables those of the volume's
// table from the one before the first slice on. Its carry says whether that is an
// input; otherwise it is zero.
typedef struct { i32 depth, padding; } Slices;

// How large a table is, in bytes, and how many boxes there are.
typedef struct {
	i64 start, stride, slice;
	i64 channels, count;
} Blocks;

// PoCL takes long to compile what is unrolled among barriers.
#ifdef __OPENCL_VERSION__
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif

#endif
